/**
 * Runs one program: feeds its machine, counts what it does, and says how it ended.
 *
 * Threat: the program is hostile and the answers it waits for come late, twice or never. There is one end, reached once;
 * after it nothing enters the machine, and answers that still arrive are dropped.
 */
import {
  jsonText,
  MAX_EVENT_BYTES,
  MAX_VALUE_BYTES,
  type ProgramEngine,
  providerNames,
  type RunnerEnd,
  type RunnerInput,
  type RunnerReport,
  sentenceOf,
  utf8Bytes,
} from '../../sdk/index.ts';
import { Budget } from './budget.ts';
import { checkJevAnswer, MAX_RESULT_CHARS } from './jev-answer.ts';
import { jevFailure } from './jev-failure.ts';
import { checkJevRequest } from './jev-request.ts';
import { Journal } from './journal.ts';
import { CPU_SLICE_MS, type Fault, Machine } from './machine.ts';
import { Observation } from './observation.ts';
import { withPosition } from './source-position.ts';

/** Calls that may be on their way at the same time. */
export const MAX_PENDING_CALLS = 64;
export const MAX_PENDING_TIMERS = 128;
/** After so many refusals for too much at once the program is not going to learn. */
const MAX_REFUSALS = 3;
/** How long news may wait, in milliseconds, so that a fast loop does not send one message per event. */
const REPORT_EVERY_MS = 20;

/** Everything a run needs from outside. The plugin's entry binds it to the context; tests bind it to themselves. */
export interface RunnerHost {
  engine: ProgramEngine;
  now(): number;
  random(): number;
  evaluate(request: unknown): Promise<unknown>;
  call(ref: string, args: unknown): Promise<unknown>;
  report(report: RunnerReport): void;
  /** The next event of the conversation, unfiltered; rejects when there will be none. */
  observe(): Promise<unknown>;
  advise(advice: { eventId: string; message: string }): Promise<unknown>;
  signal: AbortSignal;
  /** For tests. */
  heapBytes?: number;
  sliceMs?: number;
}

export async function runProgram(input: RunnerInput, host: RunnerHost): Promise<RunnerEnd> {
  const run = new ProgramRun(input, host);
  return run.go();
}

class ProgramRun {
  readonly #input: RunnerInput;
  readonly #host: RunnerHost;
  readonly #budget: Budget;
  readonly #journal = new Journal();
  readonly #observation: Observation | undefined;
  readonly #timers = new Map<number, number>();
  readonly #ended: Promise<void>;
  #settle: () => void = () => undefined;
  #end: Omit<RunnerEnd, 'report'> | undefined;
  #machine: Machine | undefined;
  #nextMessage = 1;
  #pendingCalls = 0;
  #refusals = 0;
  #awaitingEvent = false;
  #reportTimer: number | undefined;
  #idleCheck = false;
  /** Of the error that ends the program, as the program gives it. */
  #stack = '';

  constructor(input: RunnerInput, host: RunnerHost) {
    this.#input = input;
    this.#host = host;
    this.#budget = new Budget(input.limits);
    this.#observation = input.observe && new Observation(input.observe, host);
    this.#ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  async go(): Promise<RunnerEnd> {
    const { engine, signal, now, random, heapBytes, sliceMs } = this.#host;
    const cancelled = () => this.#finish({ state: 'cancelled', error: 'Execution cancelled' });
    signal.addEventListener('abort', cancelled, { once: true });
    const deadline = engine.after(this.#input.limits.timeoutMs, () =>
      this.#finish({ state: 'timed_out', error: 'Jev deadline exceeded' }),
    );
    try {
      if (signal.aborted) cancelled();
      else {
        this.#machine = await Machine.open({
          engine,
          now,
          random,
          input: this.#input.input,
          names: { refs: this.#input.requires, proxies: providerNames(this.#input.requires) },
          onSend: (kind, text) => this.#received(kind, text),
          onFault: (fault) => this.#faulted(fault),
          ...(heapBytes === undefined ? {} : { heapBytes }),
          ...(sliceMs === undefined ? {} : { sliceMs }),
        });
        this.#observation?.listen((error) => this.#finish({ state: 'cancelled', error: sentenceOf(error) }));
        this.#machine.run(this.#input.javascript);
        this.#checkIdleSoon();
      }
      await this.#ended;
    } catch (error) {
      this.#finish({ state: 'failed', error: sentenceOf(error) });
    } finally {
      signal.removeEventListener('abort', cancelled);
      engine.cancel(deadline);
      this.#close();
    }
    return { ...(this.#end as Omit<RunnerEnd, 'report'>), report: this.#journal.take(this.#counts) };
  }

  get #counts(): RunnerReport['counts'] {
    const observation = this.#observation?.counts;
    return { ...this.#budget.counts, ...(observation ? { observation } : {}) };
  }

  #finish(end: Omit<RunnerEnd, 'report'>): void {
    if (this.#end) return;
    this.#end = end;
    this.#settle();
  }

  #close(): void {
    this.#machine?.close();
    this.#observation?.close();
    for (const timer of this.#timers.values()) this.#host.engine.cancel(timer);
    this.#timers.clear();
    if (this.#reportTimer !== undefined) this.#host.engine.cancel(this.#reportTimer);
  }

  #faulted(fault: Fault): void {
    this.#finish(endOf(fault, this.#host.sliceMs ?? CPU_SLICE_MS));
  }

  /** A message of the program, while the machine is running: nothing here may enter it. */
  #received(kind: string, text: string): number {
    if (this.#end) return -1;
    switch (kind) {
      case 'done':
        this.#done(text);
        return 0;
      case 'stack':
        this.#stack = text;
        return 0;
      case 'failed':
        this.#finish({ state: 'failed', error: withPosition(text, this.#stack, this.#input.positions) });
        return 0;
      case 'log':
        this.#journal.log(text);
        this.#reportSoon();
        return 0;
      case 'clear':
        this.#clearTimer(Number(text));
        return 0;
      case 'timer':
        return this.#timer(Number(text));
      default:
        return this.#call(kind, text);
    }
  }

  #done(text: string): void {
    try {
      jsonText(JSON.parse(text), 'Program output', MAX_VALUE_BYTES);
      this.#finish({ state: 'completed', result: text });
    } catch (error) {
      this.#finish({ state: 'failed', error: sentenceOf(error) });
    }
  }

  /** Everything that counts as a host call. Answers always come in a later turn. */
  #call(kind: string, text: string): number {
    if (!this.#budget.takeCall()) {
      this.#finish({ state: 'failed', error: 'Jev tool-call budget exhausted' });
      return -1;
    }
    const number = this.#nextMessage++;
    if (kind === 'sleep') return this.#sleep(number, Number(text));
    if (kind === 'emit') return this.#emit(number, text);
    if (this.#pendingCalls >= MAX_PENDING_CALLS) {
      if (++this.#refusals >= MAX_REFUSALS)
        this.#finish({ state: 'failed', error: `Too many pending host calls (at most ${MAX_PENDING_CALLS})` });
      this.#answerSoon(number, false, `Too many pending host calls (at most ${MAX_PENDING_CALLS})`);
      return number;
    }
    this.#pendingCalls++;
    this.#journal.touch();
    this.#reportSoon();
    this.#dispatch(kind, text).then(
      (answer) => this.#answered(number, true, answer),
      (error) => this.#answered(number, false, sentenceOf(error)),
    );
    return number;
  }

  #answered(number: number, ok: boolean, text: string): void {
    this.#pendingCalls--;
    this.#answer(number, ok, text);
  }

  async #dispatch(kind: string, text: string): Promise<string> {
    switch (kind) {
      case 'call': {
        const { ref, args } = JSON.parse(text) as { ref: string; args: unknown };
        if (!this.#input.requires.includes(ref)) throw new Error(`Capability not granted to Jev program: ${ref}`);
        if (ref === 'jev.evaluate') return this.#evaluate(args);
        return resultText(await this.#host.call(ref, args));
      }
      case 'nextEvent': {
        if (!this.#observation) throw new Error('Capability not granted to Jev program: program.nextEvent');
        if (this.#awaitingEvent) throw new Error('Only one program.nextEvent() may be pending');
        this.#awaitingEvent = true;
        try {
          return JSON.stringify(await this.#observation.next());
        } finally {
          this.#awaitingEvent = false;
        }
      }
      case 'advise':
        if (!this.#observation) return JSON.stringify({ delivered: false, reason: 'disabled' });
        return JSON.stringify(await this.#observation.advise(JSON.parse(text)));
      default:
        throw new Error('Invalid Jev program tool call');
    }
  }

  async #evaluate(args: unknown): Promise<string> {
    if (this.#budget.evaluating)
      throw new Error('One Jev evaluation may be in flight per program; batch independent questions in one request');
    const request = checkJevRequest(args, this.#input.maxRequestBytes);
    if (!this.#budget.takeEvaluation()) {
      this.#finish({ state: 'failed', error: 'Jev inference budget exhausted' });
      throw new Error('Jev inference budget exhausted');
    }
    try {
      const response = await this.#host.evaluate(request).catch((error) => {
        throw jevFailure(error);
      });
      const evaluation = checkJevAnswer(request, response);
      if (!this.#budget.addTokens(evaluation.usage)) {
        this.#finish({ state: 'failed', error: 'Jev reported-token budget exhausted' });
        throw new Error('Jev reported-token budget exhausted');
      }
      return resultText(evaluation);
    } finally {
      this.#budget.evaluationEnded();
    }
  }

  #emit(number: number, text: string): number {
    try {
      jsonText(JSON.parse(text), 'Program event', MAX_EVENT_BYTES);
      this.#journal.event(this.#host.now(), text);
      this.#reportSoon();
      this.#answerSoon(number, true, '');
    } catch (error) {
      this.#answerSoon(number, false, sentenceOf(error));
    }
    return number;
  }

  #sleep(number: number, ms: number): number {
    if (!Number.isFinite(ms) || ms < 0 || ms > this.#input.limits.timeoutMs) {
      this.#answerSoon(number, false, 'Invalid program.sleep duration');
      return number;
    }
    if (this.#timers.size >= MAX_PENDING_TIMERS) {
      this.#refuseTimer();
      this.#answerSoon(number, false, 'Too many pending timers');
      return number;
    }
    this.#setTimer(number, ms);
    return number;
  }

  #timer(ms: number): number {
    if (this.#timers.size >= MAX_PENDING_TIMERS) {
      this.#refuseTimer();
      return -1;
    }
    const number = this.#nextMessage++;
    this.#setTimer(number, Math.min(ms, this.#input.limits.timeoutMs));
    return number;
  }

  #refuseTimer(): void {
    if (++this.#refusals >= MAX_REFUSALS) this.#finish({ state: 'failed', error: 'Too many pending timers' });
  }

  #setTimer(number: number, ms: number): void {
    const fire = () => {
      this.#timers.delete(number);
      this.#answer(number, true, '');
    };
    if (ms < 1) {
      this.#timers.set(number, -1);
      this.#host.engine.soon(() => {
        if (this.#timers.has(number)) fire();
      });
    } else this.#timers.set(number, this.#host.engine.after(Math.ceil(ms), fire));
  }

  #clearTimer(number: number): void {
    const timer = this.#timers.get(number);
    if (timer === undefined) return;
    this.#timers.delete(number);
    this.#host.engine.cancel(timer);
    this.#checkIdleSoon();
  }

  #answerSoon(number: number, ok: boolean, text: string): void {
    this.#pendingCalls++;
    this.#host.engine.soon(() => this.#answered(number, ok, text));
  }

  #answer(number: number, ok: boolean, text: string): void {
    if (this.#end) return;
    this.#machine?.receive(number, ok, text);
    this.#checkIdleSoon();
  }

  /** A program that waits for nothing that can still happen would only run into its deadline: say so at once. */
  #checkIdleSoon(): void {
    if (this.#idleCheck || this.#end) return;
    this.#idleCheck = true;
    this.#host.engine.soon(() => {
      this.#idleCheck = false;
      if (this.#pendingCalls === 0 && this.#timers.size === 0)
        this.#finish({ state: 'failed', error: 'The program waits for something that can never happen' });
    });
  }

  #reportSoon(): void {
    if (this.#reportTimer !== undefined) return;
    this.#reportTimer = this.#host.engine.after(REPORT_EVERY_MS, () => {
      this.#reportTimer = undefined;
      if (!this.#end && this.#journal.changed) this.#host.report(this.#journal.take(this.#counts));
    });
  }
}

function endOf(fault: Fault, sliceMs: number): Omit<RunnerEnd, 'report'> {
  switch (fault.kind) {
    case 'cpu':
      return { state: 'timed_out', error: `Program exceeded its uninterrupted CPU limit of ${sliceMs} ms` };
    case 'program':
      return { state: 'failed', error: sentenceOf(fault.message) };
    case 'engine':
      return { state: 'failed', error: 'The program broke its engine and was discarded' };
  }
}

/** The JSON text of an answer to the program. */
function resultText(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  if (utf8Bytes(text, MAX_RESULT_CHARS) > MAX_RESULT_CHARS)
    throw new Error(`Tool result exceeds ${MAX_RESULT_CHARS} bytes`);
  return text;
}
