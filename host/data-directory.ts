/** Where a host keeps what must survive it. */
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { HostError } from '../sdk/contract/errors.ts';

/**
 * `--data-dir`, else `dataDir` of the configuration (from the file's folder when it is relative), else the user's state
 * directory.
 */
export function dataDirectory(options: {
  argument?: string | undefined;
  configured?: string | undefined;
  configFile?: string | undefined;
  env: NodeJS.ProcessEnv;
}): string {
  const { argument, configured, configFile, env } = options;
  if (argument !== undefined) return resolve(argument);
  if (configured !== undefined)
    return isAbsolute(configured) ? configured : resolve(configFile ? dirname(resolve(configFile)) : '.', configured);
  const state = env.XDG_STATE_HOME;
  return join(state && isAbsolute(state) ? state : join(env.HOME ?? homedir(), '.local', 'state'), 'jev-host');
}

/** Makes the directory, for its owner alone. @throws STORE_UNAVAILABLE. */
export function makeDataDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new HostError('STORE_UNAVAILABLE', { problem: (error as NodeJS.ErrnoException).code ?? 'unknown' });
  }
}

/** The local owner's socket. */
export function ownerSocket(dataDir: string): string {
  return join(dataDir, 'host.sock');
}
