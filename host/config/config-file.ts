/**
 * The configuration file while the host runs.
 *
 * A changed file is noticed within a second. A file that is not valid never replaces one that is: the host goes on with
 * what it has and says what is wrong, once per version of the file.
 */
import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type ConfigChange, diffConfig } from './diff.ts';
import { parseConfig } from './parse.ts';
import { InvalidConfig } from './problems.ts';
import type { HostConfig } from './schema.ts';

/** Milliseconds between looks at the file. Looking works where notifications do not: containers, network file systems. */
const LOOK_MS = 500;

export interface ConfigSource {
  readonly current: HostConfig;
  /** Called after `current` has changed. */
  onChange(listener: (config: HostConfig, changes: ConfigChange[]) => void): void;
  /** Called when the file was changed into something that cannot be used. */
  onInvalid(listener: (problem: InvalidConfig) => void): void;
  close(): void;
}

/** @throws InvalidConfig when the file cannot be read or used. */
export async function readConfig(path: string): Promise<HostConfig> {
  return parseConfig(await read(path));
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const says = code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read (${code})`;
    throw new InvalidConfig([{ path: '', says }]);
  }
}

/** @throws InvalidConfig when the first version cannot be used. */
export async function openConfig(path: string): Promise<ConfigSource> {
  let text = await read(path);
  let current = parseConfig(text);
  const changeListeners: ((config: HostConfig, changes: ConfigChange[]) => void)[] = [];
  const invalidListeners: ((problem: InvalidConfig) => void)[] = [];
  let closed = false;
  // One look at a time, and the last state of the file is always looked at.
  let looking: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    if (closed) return;
    try {
      const found = await read(path);
      if (closed || found === text) return;
      text = found;
      const next = parseConfig(found);
      const changes = diffConfig(current, next);
      if (changes.length === 0) return;
      current = next;
      for (const listener of changeListeners) listener(next, changes);
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error;
      for (const listener of invalidListeners) listener(error);
    }
  };
  const onStat = () => {
    looking = looking.then(look);
  };
  watchFile(path, { interval: LOOK_MS, persistent: false }, onStat);

  return {
    get current() {
      return current;
    },
    onChange: (listener) => void changeListeners.push(listener),
    onInvalid: (listener) => void invalidListeners.push(listener),
    close() {
      closed = true;
      unwatchFile(path, onStat);
    },
  };
}

/** A configuration that does not come from a file, for tests and embedding. `replace` is what a changed file does. */
export function fixedConfig(config: HostConfig): ConfigSource & { replace(next: HostConfig): void } {
  let current = config;
  const listeners: ((config: HostConfig, changes: ConfigChange[]) => void)[] = [];
  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.push(listener),
    onInvalid: () => undefined,
    close: () => undefined,
    replace(next) {
      const changes = diffConfig(current, next);
      current = next;
      for (const listener of listeners) listener(next, changes);
    },
  };
}
