/**
 * Who holds a profile. Chromium itself would hand its start over to the browser that has the profile open, and end without
 * a word that a program could read.
 */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { refuse } from '../../../../sdk/contract/errors.ts';

/** A lock that a dead browser of this machine left is no lock; Chromium takes it over. @throws DEVICE_PROFILE_IN_USE */
export function assertProfileFree(profile: string): void {
  let lock: string;
  try {
    // A link to nowhere: "<host>-<process id>".
    lock = readlinkSync(join(profile, 'SingletonLock'));
  } catch {
    return;
  }
  const [, host, pid] = /^(.*)-(\d+)$/.exec(lock) ?? [];
  if (host === hostname() && !isRunning(Number(pid))) return;
  const holder =
    host === hostname() ? `the browser with process id ${pid}` : `a browser on the machine ${host ?? lock}`;
  refuse('DEVICE_PROFILE_IN_USE', { path: profile, holder });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is one that runs.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
