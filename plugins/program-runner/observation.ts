/**
 * What a background program hears of its own conversation, and the few words it may say back.
 *
 * Threat: events carry text of people, models and pages; a program that advised on its own advice would talk to itself for
 * ever. So advice names an event that the program was given, counts against a small budget, ages out, and is never taken
 * on an event that advice itself caused.
 */
import type { AdviceResult, ObservedEvent, RunnerCounts, RunnerObserve } from '../../sdk/index.ts';
import { readObservedEvent } from './observed-event.ts';

export const MAX_ADVICE_CHARS = 2000;
export const MAX_EVENT_ID_CHARS = 256;

export interface ObservationHost {
  now(): number;
  observe(): Promise<unknown>;
  advise(advice: { eventId: string; message: string }): Promise<unknown>;
}

interface Known {
  event: ObservedEvent;
  feedback: boolean;
  advised: boolean;
}

export class Observation {
  readonly #wanted: RunnerObserve;
  readonly #host: ObservationHost;
  #queue: Known[] = [];
  /** Given to the program and still young enough to be advised on. */
  readonly #given = new Map<string, Known>();
  #waiting: { resolve: (event: ObservedEvent) => void; reject: (error: Error) => void } | undefined;
  #closed = false;
  #revision = 0;
  readonly #counts = { received: 0, consumed: 0, dropped: 0, adviceDelivered: 0, adviceSuppressed: 0 };

  constructor(wanted: RunnerObserve, host: ObservationHost) {
    this.#wanted = wanted;
    this.#host = host;
  }

  get counts(): NonNullable<RunnerCounts['observation']> {
    return { ...this.#counts, queued: this.#queue.length };
  }

  /** @param ended called once when the host gives no more events: the conversation was halted or closed */
  listen(ended: (error: unknown) => void): void {
    const listenOn = async () => {
      while (!this.#closed) this.#arrived(await this.#host.observe());
    };
    listenOn().catch((error) => {
      if (!this.#closed) ended(error);
    });
  }

  #arrived(given: unknown): void {
    const read = readObservedEvent(given, this.#wanted);
    if (!read || this.#closed) return;
    this.#counts.received++;
    this.#revision = Math.max(this.#revision, read.event.revision);
    this.#queue.push({ ...read, advised: false });
    if (this.#queue.length > this.#wanted.queueSize) {
      this.#queue.shift();
      this.#counts.dropped++;
    }
    this.#deliver();
  }

  next(): Promise<ObservedEvent> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#deliver();
    });
  }

  #deliver(): void {
    if (!this.#waiting) return;
    for (let item = this.#queue.shift(); item; item = this.#queue.shift()) {
      if (this.#isOld(item.event)) {
        this.#counts.dropped++;
        continue;
      }
      this.#counts.consumed++;
      this.#remember(item);
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      resolve(item.event);
      return;
    }
  }

  #remember(item: Known): void {
    this.#given.set(item.event.id, item);
    for (const [id, known] of this.#given) {
      if (this.#given.size <= this.#wanted.queueSize && !this.#isOld(known.event)) break;
      this.#given.delete(id);
    }
  }

  #isOld(event: ObservedEvent): boolean {
    return this.#host.now() - event.at > this.#wanted.maxEventAgeMs;
  }

  async advise(advice: unknown): Promise<AdviceResult> {
    const { eventId, message } = checkAdvice(advice);
    const known = this.#given.get(eventId);
    const reason = this.#whyNot(known);
    if (reason || !known) return this.#suppressed(reason ?? 'stale');
    known.advised = true;
    const answer = await this.#host.advise({ eventId, message }).catch(() => undefined);
    const result = readAdviceResult(answer);
    if (!result.delivered) return this.#suppressed(result.reason ?? 'delivery_failed');
    this.#counts.adviceDelivered++;
    return { delivered: true };
  }

  #whyNot(known: Known | undefined): AdviceResult['reason'] {
    if (!this.#wanted.delivery) return 'disabled';
    if (!known || this.#isOld(known.event) || known.event.revision < this.#revision) return 'stale';
    if (known.advised) return 'duplicate';
    if (known.feedback) return 'feedback';
    if (this.#counts.adviceDelivered >= this.#wanted.maxAdvice) return 'budget';
    return undefined;
  }

  #suppressed(reason: NonNullable<AdviceResult['reason']>): AdviceResult {
    this.#counts.adviceSuppressed++;
    return { delivered: false, reason };
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    this.#waiting?.reject(new Error('Observation ended'));
    this.#waiting = undefined;
  }
}

function checkAdvice(advice: unknown): { eventId: string; message: string } {
  const { eventId, message } = (typeof advice === 'object' && advice !== null ? advice : {}) as Record<string, unknown>;
  if (typeof eventId !== 'string' || eventId.length < 1 || eventId.length > MAX_EVENT_ID_CHARS)
    throw new Error('Invalid program.advise arguments: eventId');
  if (typeof message !== 'string' || message.length < 1 || message.length > MAX_ADVICE_CHARS)
    throw new Error('Invalid program.advise arguments: message');
  return { eventId, message };
}

const reasons = ['disabled', 'stale', 'duplicate', 'budget', 'feedback', 'delivery_failed'] as const;

function readAdviceResult(answer: unknown): AdviceResult {
  if (typeof answer !== 'object' || answer === null) return { delivered: false, reason: 'delivery_failed' };
  const { delivered, reason } = answer as Record<string, unknown>;
  if (delivered === true) return { delivered: true };
  return { delivered: false, reason: reasons.find((known) => known === reason) ?? 'delivery_failed' };
}
