/** The parent's side of a throw-away host: starts it, asks it, kills it. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answer, Order } from './throwaway-host.ts';

/** Milliseconds that a start or an answer may take. */
const PATIENCE_MS = 60_000;

export interface ThrowawayProcess {
  /** @throws an error with the refusal's code, or `GONE` when the process died before it answered. */
  ask<T>(method: Order['method'], args?: unknown): Promise<T>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  readonly gone: Promise<void>;
}

/** An answer that was a refusal, or none at all. */
export class NoAnswer extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** @param entry the built throwaway-host.js. */
export async function startThrowawayHost(
  directory: string,
  deviceUrl: string,
  entry = builtEntry(),
): Promise<ThrowawayProcess> {
  const child: ChildProcess = fork(entry, [directory, deviceUrl], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {},
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let next = 1;
  let alive = true;
  let ready: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => {
      alive = false;
      ready();
      for (const one of waiting.values()) one.reject(new NoAnswer('GONE'));
      waiting.clear();
      resolve();
    });
  });
  child.on('message', (message: Answer) => {
    if ('ready' in message) return ready();
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.code === undefined) asked?.resolve(message.value);
    else asked?.reject(new NoAnswer(message.code));
  });
  child.on('error', () => {});

  function ask<T>(method: Order['method'], args: unknown = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!alive) return reject(new NoAnswer('GONE'));
      const id = next++;
      const timer = setTimeout(() => reject(new NoAnswer('TOO_SLOW')), PATIENCE_MS);
      waiting.set(id, {
        resolve: (value) => {
          clearTimeout(timer);
          resolve(value as T);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      child.send({ id, method, args } satisfies Order, (error) => {
        if (error) waiting.get(id)?.reject(new NoAnswer('GONE'));
      });
    });
  }

  await started;
  return {
    ask,
    gone,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      await ask('stop').catch(() => {});
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function builtEntry(): string {
  const own = fileURLToPath(new URL('./throwaway-host.js', import.meta.url));
  return own;
}
