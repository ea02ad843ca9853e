/** One run as its caller sees it, from launch until it is forgotten. */
import type {
  Json,
  ObservationReport,
  ObserveRequest,
  ProgramEvent,
  ProgramState,
  RunEnvelope,
  RunnerReport,
} from '../../sdk/index.ts';
import { MAX_LOG_CHARS } from '../../sdk/index.ts';

/** Events that a run keeps; older ones show as a gap in the sequence. */
export const MAX_EVENTS = 64;

export interface RunStart {
  id: string;
  owner: string;
  name: string;
  background: boolean;
  startedAt: number;
  observe?: ObserveRequest;
}

export type RunOutcome = { state: Exclude<ProgramState, 'running'>; result?: Json; error?: string };

export class RunRecord {
  readonly start: RunStart;
  /** Resolves when the run has ended, with whatever outcome. */
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;
  #outcome: RunOutcome | undefined;
  #endedAt: number | undefined;
  #events: ProgramEvent[] = [];
  #nextSequence = 1;
  #logs: string[] = [];
  #logChars = 0;
  #counts: RunnerReport['counts'] = { evaluations: 0, toolCalls: 0, usage: { input_tokens: 0, output_tokens: 0 } };

  constructor(start: RunStart) {
    this.start = start;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get state(): ProgramState {
    return this.#outcome?.state ?? 'running';
  }

  get running(): boolean {
    return this.#outcome === undefined;
  }

  /** News of the running program. What arrives after the end is dropped. */
  report(report: RunnerReport): void {
    if (!this.running) return;
    this.#counts = report.counts;
    for (const { sequence, at, value } of report.events)
      this.#events.push({ sequence, at, value: JSON.parse(value) as Json });
    if (this.#events.length > MAX_EVENTS) this.#events = this.#events.slice(-MAX_EVENTS);
    this.#nextSequence = report.nextSequence;
    for (const line of report.logs) this.#log(line);
  }

  #log(line: string): void {
    const room = MAX_LOG_CHARS - this.#logChars - 1;
    if (room < 0) return;
    const kept = line.slice(0, room);
    this.#logChars += kept.length + 1;
    this.#logs.push(kept);
  }

  /** The first end counts; a later one changes nothing. */
  end(outcome: RunOutcome, at: number): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    this.#endedAt = Math.max(at, this.start.startedAt);
    this.#end();
  }

  /** @param after only events with a greater sequence */
  envelope(after = 0): RunEnvelope {
    const { id, name, background, startedAt, observe } = this.start;
    return {
      id,
      name,
      state: this.state,
      background,
      startedAt,
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
      ...(this.#outcome?.result === undefined ? {} : { result: this.#outcome.result }),
      ...(this.#outcome?.error === undefined ? {} : { error: this.#outcome.error }),
      evaluations: this.#counts.evaluations,
      toolCalls: this.#counts.toolCalls,
      usage: { ...this.#counts.usage },
      events: this.#events.filter((event) => event.sequence > after),
      nextSequence: this.#nextSequence,
      logs: [...this.#logs],
      ...(observe ? { observation: this.#observation(observe) } : {}),
    };
  }

  #observation(observe: ObserveRequest): ObservationReport {
    const counts = this.#counts.observation;
    return {
      events: [...observe.events],
      received: counts?.received ?? 0,
      consumed: counts?.consumed ?? 0,
      dropped: counts?.dropped ?? 0,
      // What was still waiting when the run ended will never be given.
      queued: this.running ? (counts?.queued ?? 0) : 0,
      adviceDelivered: counts?.adviceDelivered ?? 0,
      adviceSuppressed: counts?.adviceSuppressed ?? 0,
    };
  }

  summary(): RunSummary {
    const { id, name, background, startedAt } = this.start;
    const { evaluations, toolCalls } = this.#counts;
    return { id, name, state: this.state, background, startedAt, evaluations, toolCalls };
  }
}

export type RunSummary = Pick<
  RunEnvelope,
  'id' | 'name' | 'state' | 'background' | 'startedAt' | 'evaluations' | 'toolCalls'
>;
