/** Events and log lines of one run that the host has not heard of yet. Both are bounded, whatever the program does. */
import { MAX_LOG_CHARS, type RunnerCounts, type RunnerReport } from '../../sdk/index.ts';

/** Events that are kept until they are reported; older ones are dropped and show as a gap in the sequence. */
export const MAX_EVENTS = 64;

export class Journal {
  #events: { sequence: number; at: number; value: string }[] = [];
  #logs: string[] = [];
  #logChars = 0;
  #nextSequence = 1;
  #changed = false;

  /** @param value JSON text */
  event(at: number, value: string): void {
    this.#events.push({ sequence: this.#nextSequence++, at, value });
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
    this.#changed = true;
  }

  /** Lines past the limit are cut, then dropped. */
  log(line: string): void {
    // Each line costs one more character than it has, so that empty lines come to an end too.
    const room = MAX_LOG_CHARS - this.#logChars - 1;
    if (room < 0) return;
    const kept = line.slice(0, room);
    this.#logChars += kept.length + 1;
    this.#logs.push(kept);
    this.#changed = true;
  }

  touch(): void {
    this.#changed = true;
  }

  get changed(): boolean {
    return this.#changed;
  }

  /** What is new since the last call. */
  take(counts: RunnerCounts): RunnerReport {
    const report = { counts, events: this.#events, logs: this.#logs, nextSequence: this.#nextSequence };
    this.#events = [];
    this.#logs = [];
    this.#changed = false;
    return report;
  }
}
