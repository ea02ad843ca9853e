/** What a check of `jev-host doctor` is and what it may look at. */
import type { HostConfig } from '../../config/schema.ts';

export type Verdict = 'ok' | 'warn' | 'fail' | 'skip';

export interface Finding {
  /** Stable: scripts may look for it. */
  id: string;
  verdict: Verdict;
  says: string;
  /** What to do, where something should be done. */
  next?: string;
}

/** Everything that checks look at, so that tests can set it. */
export interface Patient {
  config: HostConfig;
  configFile: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  now(): number;
  nodeVersion: string;
  /** Bytes that this user may still write on the disk of the directory. */
  freeBytes(directory: string): Promise<number>;
}

export type Check = (patient: Patient) => Promise<Finding[]> | Finding[];

export const ok = (id: string, says: string): Finding => ({ id, verdict: 'ok', says });
export const skip = (id: string, says: string): Finding => ({ id, verdict: 'skip', says });
export const warn = (id: string, says: string, next: string): Finding => ({ id, verdict: 'warn', says, next });
export const fail = (id: string, says: string, next: string): Finding => ({ id, verdict: 'fail', says, next });
