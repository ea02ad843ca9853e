/** The timers of one program: what it sleeps on and what it set. */
import type { ProgramEngine } from '../../sdk/index.ts';

export const MAX_PENDING_TIMERS = 128;

export class Timers {
  readonly #engine: ProgramEngine;
  readonly #fired: (number: number) => void;
  /** The engine's timer by the program's number; `undefined` for one that is due in the next turn. */
  readonly #pending = new Map<number, number | undefined>();

  constructor(engine: ProgramEngine, fired: (number: number) => void) {
    this.#engine = engine;
    this.#fired = fired;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** @param ms milliseconds; below 1 the timer fires in the next turn. @returns whether there was room for it. */
  set(number: number, ms: number): boolean {
    if (this.#pending.size >= MAX_PENDING_TIMERS) return false;
    const fire = () => {
      if (this.#pending.delete(number)) this.#fired(number);
    };
    if (ms < 1) {
      this.#pending.set(number, undefined);
      this.#engine.soon(fire);
    } else this.#pending.set(number, this.#engine.after(Math.ceil(ms), fire));
    return true;
  }

  /** @returns whether there was such a timer. */
  clear(number: number): boolean {
    const timer = this.#pending.get(number);
    if (timer !== undefined) this.#engine.cancel(timer);
    return this.#pending.delete(number);
  }

  close(): void {
    for (const timer of this.#pending.values()) if (timer !== undefined) this.#engine.cancel(timer);
    this.#pending.clear();
  }
}
