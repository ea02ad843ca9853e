/**
 * Checks programs in a process of its own, kept warm.
 *
 * Threat: a few lines of types can keep the compiler busy for minutes or use up its memory, and nothing inside it looks at
 * a clock. So it runs in a child with a memory limit and without an environment; a check that passes its deadline ends
 * the child, and the next check starts another.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { programError } from '../../../sdk/programs/program-error.ts';
import type { CheckRequest, CheckResult } from './checker.ts';
import { Turns } from './turns.ts';

/** Milliseconds that one check may take. */
export const CHECK_DEADLINE_MS = 5000;
/** Milliseconds that a new process may take to be ready. */
const START_DEADLINE_MS = 15_000;
/** Megabytes of the compiler's heap. */
const MEMORY_MB = 320;
/** It waits most of the time, so its memory counts for more than its speed. */
const SMALL = ['--max-semi-space-size=1', '--optimize-for-size'];
/** Results that are kept for programs that are launched again. */
const MAX_CACHED = 256;
/** Characters of one cached program; larger ones are checked again. */
const MAX_CACHED_CHARS = 65_536;

export interface TypeCheck {
  /**
   * @param caller whose program it is: callers take turns.
   * @throws PROGRAM_TYPECHECK_FAILED when the check took too long or the compiler ended
   */
  check(request: CheckRequest, caller?: string): Promise<CheckResult>;
  /** Starts the process before anybody waits for it. */
  warm(): Promise<void>;
  stop(): void;
}

interface Waiting {
  resolve(result: CheckResult): void;
  reject(error: Error): void;
}

export function createTypeCheck(): TypeCheck {
  return new CheckProcess();
}

class CheckProcess implements TypeCheck {
  readonly #cache = new Map<string, CheckResult>();
  #child: ChildProcess | undefined;
  #ready: Promise<ChildProcess> | undefined;
  #waiting = new Map<number, Waiting>();
  readonly #turns = new Turns();
  #next = 1;
  #stopped = false;

  async warm(): Promise<void> {
    await this.#start();
  }

  async check(request: CheckRequest, caller = ''): Promise<CheckResult> {
    const key = createHash('sha256')
      .update(JSON.stringify([request.declarations, request.code]))
      .digest('hex');
    const cached = this.#cache.get(key);
    if (cached) {
      // Used again, so it goes to the end of the line.
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached;
    }
    // One at a time, so that a deadline measures one check and ends only its own.
    const result = await this.#turns.take(caller, () => this.#checkNow(request));
    if ((result.javascript?.length ?? 0) <= MAX_CACHED_CHARS) {
      this.#cache.set(key, result);
      const [oldest] = this.#cache.keys();
      if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
    }
    return result;
  }

  async #checkNow(request: CheckRequest): Promise<CheckResult> {
    if (this.#stopped) throw failed('the type check was stopped');
    const child = await this.#start();
    const number = this.#next++;
    const timer = setTimeout(() => {
      this.#lost(child, 'the type check took too long');
    }, CHECK_DEADLINE_MS);
    try {
      return await new Promise<CheckResult>((resolve, reject) => {
        this.#waiting.set(number, { resolve, reject });
        child.send({ number, request }, (error) => {
          if (error) this.#lost(child, 'the type check could not be asked');
        });
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(number);
    }
  }

  #start(): Promise<ChildProcess> {
    this.#ready ??= new Promise<ChildProcess>((resolve, reject) => {
      const child = fork(entryFile(), [], {
        env: {},
        execArgv: [`--max-old-space-size=${MEMORY_MB}`, ...SMALL],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      this.#child = child;
      const timer = setTimeout(() => this.#lost(child, 'the type check did not start'), START_DEADLINE_MS);
      child.on('message', (message: { ready?: true; number?: number; result?: CheckResult; failed?: string }) => {
        if (message.ready) {
          clearTimeout(timer);
          // A host that has nothing else to do may end while a checker is kept warm.
          child.unref();
          child.channel?.unref();
          resolve(child);
          return;
        }
        const waiting = this.#waiting.get(message.number ?? 0);
        if (message.result) waiting?.resolve(message.result);
        else waiting?.reject(failed(message.failed ?? 'no result'));
      });
      const ended = () => {
        clearTimeout(timer);
        reject(failed('the type check ended'));
        this.#lost(child, 'the type check ended');
      };
      child.once('exit', ended);
      child.once('error', ended);
    });
    return this.#ready;
  }

  #lost(child: ChildProcess, why: string): void {
    if (this.#child === child) {
      this.#child = undefined;
      this.#ready = undefined;
    }
    child.kill('SIGKILL');
    for (const waiting of this.#waiting.values()) waiting.reject(failed(why));
  }

  stop(): void {
    this.#stopped = true;
    if (this.#child) this.#lost(this.#child, 'the type check was stopped');
  }
}

function failed(why: string): Error {
  return programError('PROGRAM_TYPECHECK_FAILED', `Jev program typecheck failed: ${why}`);
}

/** Node cannot run the source of the child; when this module runs from source, the built one beside it is used. */
function entryFile(): string {
  const beside = fileURLToPath(new URL('./check-process.js', import.meta.url));
  if (existsSync(beside)) return beside;
  return fileURLToPath(new URL('../../../dist/host/programs/check/check-process.js', import.meta.url));
}
