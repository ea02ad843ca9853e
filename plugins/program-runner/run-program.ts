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
} from '../../sdk/index.ts';
import { Budget } from './budget.ts';
import { HostCalls } from './host-calls.ts';
import { Journal } from './journal.ts';
import { CPU_SLICE_MS, type Fault, Machine } from './machine.ts';
import { Observation } from './observation.ts';
import { withPosition } from './source-position.ts';
import { Timers } from './timers.ts';

/** Calls that may be on their way at the same time. */
export const MAX_PENDING_CALLS = 64;
const TOO_MANY_TIMERS = 'Too many pending timers';
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
  readonly #calls: HostCalls;
  readonly #timers: Timers;
  readonly #ended: Promise<void>;
  #settle: () => void = () => undefined;
  #end: Omit<RunnerEnd, 'report'> | undefined;
  #machine: Machine | undefined;
  #nextMessage = 1;
  #pendingCalls = 0;
  #refusals = 0;
  #reportTimer: number | undefined;
  #idleCheck = false;
  /** Of the error that ends the program, as the program gives it. */
  #stack = '';

  constructor(input: RunnerInput, host: RunnerHost) {
    this.#input = input;
    this.#host = host;
    this.#budget = new Budget(input.limits);
    this.#observation = input.observe && new Observation(input.observe, host);
    this.#calls = new HostCalls(input, host, this.#budget, this.#observation, (error) =>
      this.#finish({ state: 'failed', error }),
    );
    this.#timers = new Timers(host.engine, (number) => this.#answer(number, true, ''));
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
    this.#timers.close();
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
        if (this.#timers.clear(Number(text))) this.#checkIdleSoon();
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
    this.#calls.make(kind, text).then(
      (answer) => this.#answered(number, true, answer),
      (error) => this.#answered(number, false, sentenceOf(error)),
    );
    return number;
  }

  #answered(number: number, ok: boolean, text: string): void {
    this.#pendingCalls--;
    this.#answer(number, ok, text);
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
    const problem =
      Number.isFinite(ms) && ms >= 0 && ms <= this.#input.limits.timeoutMs
        ? this.#set(number, ms)
        : 'Invalid program.sleep duration';
    if (problem) this.#answerSoon(number, false, problem);
    return number;
  }

  #timer(ms: number): number {
    const number = this.#nextMessage++;
    return this.#set(number, Math.min(ms, this.#input.limits.timeoutMs)) ? -1 : number;
  }

  /** @returns why the timer was not set. */
  #set(number: number, ms: number): string | undefined {
    if (this.#timers.set(number, ms)) return undefined;
    if (++this.#refusals >= MAX_REFUSALS) this.#finish({ state: 'failed', error: TOO_MANY_TIMERS });
    return TOO_MANY_TIMERS;
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
