/** How often a plugin ended by itself: how long to wait before it is started again, and when to stop trying. */

/** Crashes within the window after which a plugin stays off until an operator enables it. */
export const MAX_CRASHES = 5;
export const CRASH_WINDOW_MS = 10 * 60_000;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 30_000;

export class CrashRecord {
  readonly #now: () => number;
  #recent: number[] = [];
  total = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns whether this was one too many. */
  add(): boolean {
    const at = this.#now();
    this.total += 1;
    this.#recent = [...this.#recent.filter((before) => at - before < CRASH_WINDOW_MS), at];
    return this.disabled;
  }

  get disabled(): boolean {
    return this.#recent.length >= MAX_CRASHES;
  }

  /** Milliseconds until the next start may be tried. The first crash costs no wait: what was lost may have been one run's doing. */
  waitMs(): number {
    const last = this.#recent.at(-1);
    if (last === undefined || this.#recent.length < 2) return 0;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (this.#recent.length - 2), MAX_WAIT_MS);
    return Math.max(0, last + wait - this.#now());
  }

  forget(): void {
    this.#recent = [];
  }
}
