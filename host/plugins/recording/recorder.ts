/**
 * Writes down one run as its plugin meets it: calls, answers, waits, readings of the clock, the end.
 *
 * Threat: a recording outlives its run. The lease of the tab is worth something while it lasts, so it never gets in: every
 * token that an answer names is replaced by a number of the same shape, in this line and in all that follow. Size is bounded;
 * a run that outgrows its recording goes on without one.
 */
import { randomBytes } from 'node:crypto';
import {
  type RecordedEnd,
  type RecordedEvent,
  type RecordingHead,
  recordingLine,
} from '../../../sdk/contract/recording.ts';
import type { Failure } from '../peer.ts';

/** Bytes that one recording may take. */
export const MAX_RECORDING_BYTES = 64 * 1024 * 1024;
/** Waits of one run that may be under way at the same time. */
const MAX_SLEEPS = 1000;
const MAX_SLEEP_MS = 2 ** 31 - 1;

export type RunAbout = Omit<RecordingHead, 'format' | 'seed'>;

export class RunRecorder {
  readonly seed = randomBytes(32).toString('hex');
  readonly #write: (line: string) => void;
  readonly #leases = new Map<string, string>();
  readonly #sleeps = new Set<NodeJS.Timeout>();
  #left: number;
  #asked = 0;
  #over = false;

  /** @param write takes each line, with its line break. */
  constructor(about: RunAbout, write: (line: string) => void, maxBytes = MAX_RECORDING_BYTES) {
    this.#write = write;
    this.#left = maxBytes;
    this.#put({ format: 1, ...about, seed: this.seed });
  }

  /** @returns the call's number. Log lines decide nothing and are left out: 0. */
  asked(name: string, args: readonly unknown[]): number {
    if (name === 'log.write') return 0;
    this.#put({ asked: ++this.#asked, name, args: [...args] });
    return this.#asked;
  }

  answered(call: number, result: unknown): void {
    if (call > 0) this.#put({ answered: call, result: result ?? null });
  }

  failed(call: number, { code, message, details }: Failure): void {
    if (call > 0) this.#put({ failed: call, code, message, details });
  }

  drew(clock: number[]): void {
    if (clock.length > 0) this.#put({ clock });
  }

  /** The run's own waiting goes through here, so that its place among the answers is known. Ends unheard with the run. */
  sleep(ms: number): Promise<void> {
    if (this.#sleeps.size >= MAX_SLEEPS)
      return Promise.reject(new RangeError(`A plugin may have ${MAX_SLEEPS} timers.`));
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleeps.delete(timer);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(Math.max(ms, 0), MAX_SLEEP_MS));
      this.#sleeps.add(timer);
    });
  }

  aborted(reason: string): void {
    this.#put({ aborted: reason });
  }

  ended(ended: RecordedEnd): void {
    for (const timer of this.#sleeps) clearTimeout(timer);
    this.#sleeps.clear();
    this.#put({ ended });
    this.#over = true;
  }

  #put(value: RecordingHead | RecordedEvent | { ended: RecordedEnd }): void {
    if (this.#over) return;
    const line = `${this.#withoutLeases(recordingLine(value))}\n`;
    const bytes = Buffer.byteLength(line);
    if (bytes > this.#left || this.#leases.size > MAX_LEASES) {
      this.#over = true;
      this.#write(`${recordingLine({ ended: { cut: 'full' } })}\n`);
      return;
    }
    this.#left -= bytes;
    this.#write(line);
  }

  #withoutLeases(line: string): string {
    for (const [, token] of line.matchAll(LEASE)) {
      if (token !== undefined && !this.#leases.has(token) && !token.startsWith(PLACEHOLDER)) {
        this.#leases.set(token, PLACEHOLDER + String(this.#leases.size + 1).padStart(12, '0'));
      }
    }
    let text = line;
    for (const [token, stand] of this.#leases) text = text.replaceAll(token, stand);
    return text;
  }
}

/** The device's answer is JSON within JSON: its quotation marks may be escaped any number of times. */
const LEASE = /\blease_token\\*"\s*:\s*\\*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/gi;
/** A run has one lease, and a few after it was lost. A page that writes many is looked for in every line; that ends it. */
const MAX_LEASES = 100;
const PLACEHOLDER = '00000000-0000-4000-8000-';
