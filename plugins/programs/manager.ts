/**
 * The actions of this plugin: run, spawn, status, wait, join, stop.
 *
 * A foreground run ends with its caller. A background run outlives the call that launched it and belongs to its caller's
 * conversation until it ends or this plugin goes. What a program has already sent stays sent, whatever ends it.
 */
import {
  type Json,
  MAX_VALUE_BYTES,
  programError,
  type RunEnvelope,
  type RunnerEnd,
  type RunnerInput,
  type RunnerReport,
  refuseProgram,
  sentenceOf,
} from '../../sdk/index.ts';
import type { ArgumentsOf, LaunchArguments } from './artifact.ts';
import { type LaunchHost, prepareLaunch } from './launch.ts';
import type { ProgramSettings } from './limits.ts';
import { RunBook } from './run-book.ts';
import type { RunOutcome, RunRecord, RunStart, RunSummary } from './run-record.ts';
import { conformingText } from './schema-match.ts';
import type { Schema } from './schema-subset.ts';

/** What one call may ask of the host. Bound to the call's context, and useless after it. */
export interface ManagerHost extends LaunchHost {
  /** For whom the call is made: an opaque key of principal, agent and conversation. */
  readonly owner: string;
  readonly signal: AbortSignal;
  now(): number;
  uuid(): string;
  /** Starts a checked program in a worker of its own, with this caller's powers. */
  start(run: { id: string; generation: string; runner: RunnerInput }): Promise<void>;
  stop(id: string): Promise<void>;
  /** Durable note of what runs, for a restarted host. */
  remember(running: readonly RunStart[]): Promise<void>;
  recall(): Promise<RunStart[]>;
}

/** The runner's word, or the host's own when the worker was lost and there is no last report. */
export type ProgramEnd = Omit<RunnerEnd, 'report'> & { report?: RunnerReport | undefined };

export interface ListedStatus {
  runs: RunSummary[];
}

export class ProgramManager {
  readonly #settings: ProgramSettings;
  readonly #book: RunBook;
  readonly #outputSchemas = new WeakMap<RunRecord, Schema>();
  #recalled: Promise<void> | undefined;
  #closed = false;

  constructor(settings: ProgramSettings) {
    this.#settings = settings;
    this.#book = new RunBook(settings);
  }

  /** Launches and waits. A cancelled caller gets the cancelled run, not an error. */
  async run(given: ArgumentsOf<'run'>, host: ManagerHost): Promise<RunEnvelope> {
    const run = await this.#launch(given, false, host);
    const cancel = () => this.#cancel(run, 'Foreground caller cancelled', host);
    if (host.signal.aborted) cancel();
    host.signal.addEventListener('abort', cancel, { once: true });
    try {
      await run.ended;
    } finally {
      host.signal.removeEventListener('abort', cancel);
    }
    return run.envelope();
  }

  async spawn(given: ArgumentsOf<'spawn'>, host: ManagerHost): Promise<RunEnvelope> {
    return (await this.#launch(given, true, host)).envelope();
  }

  /** @throws when the wait itself is cancelled; the run goes on */
  async wait({ id }: ArgumentsOf<'wait'>, host: ManagerHost): Promise<RunEnvelope> {
    await this.#recall(host);
    const run = this.#book.find(host.owner, id);
    if (run.running) await orAborted(run.ended, host.signal);
    return run.envelope();
  }

  async status({ id, after }: { id: string; after?: number }, host: ManagerHost): Promise<RunEnvelope> {
    await this.#recall(host);
    return this.#book.find(host.owner, id).envelope(after);
  }

  async list(host: ManagerHost): Promise<ListedStatus> {
    await this.#recall(host);
    return { runs: this.#book.of(host.owner).map((run) => run.summary()) };
  }

  /** Ends a run; one that has ended stays as it is. */
  async stop({ id }: ArgumentsOf<'stop'>, host: ManagerHost): Promise<RunEnvelope> {
    await this.#recall(host);
    const run = this.#book.find(host.owner, id);
    this.#cancel(run, 'Jev run stopped', host);
    return run.envelope();
  }

  /** News of a running program, from the host. @returns false for a run that is not (or no longer) running here */
  report(id: string, report: RunnerReport): boolean {
    const run = this.#book.byId(id);
    if (!run?.running) return false;
    run.report(report);
    return true;
  }

  /** The end of a program, from the host. */
  async ended(id: string, end: ProgramEnd, host: Pick<ManagerHost, 'now' | 'remember'>): Promise<void> {
    const run = this.#book.byId(id);
    if (!run) return;
    if (end.report) run.report(end.report);
    run.end(this.#outcome(run, end), host.now());
    this.#book.prune(run.start.owner);
    await this.#note(host);
  }

  #outcome(run: RunRecord, end: ProgramEnd): RunOutcome {
    if (end.state !== 'completed')
      return { state: end.state, ...(end.error === undefined ? {} : { error: end.error }) };
    try {
      const result = JSON.parse(end.result ?? 'null') as Json;
      const schema = this.#outputSchemas.get(run) ?? {};
      conformingText(result, schema, 'Program output', MAX_VALUE_BYTES);
      return { state: 'completed', result };
    } catch (error) {
      return { state: 'failed', error: sentenceOf(error) };
    }
  }

  /** The plugin goes: every run ends, and no new one starts. The host stops the workers. */
  close(at: number): void {
    this.#closed = true;
    for (const run of this.#book.running()) run.end({ state: 'cancelled', error: 'Jev provider closed' }, at);
    this.#book.clear();
  }

  async #launch(given: LaunchArguments, background: boolean, host: ManagerHost): Promise<RunRecord> {
    this.#refuseClosed();
    await this.#recall(host);
    const release = this.#book.reserve(host.owner);
    try {
      const launch = await prepareLaunch(given, this.#settings, host);
      this.#refuseClosed();
      if (host.signal.aborted) refuseProgram('PROGRAM_CANCELLED', 'Launch cancelled');
      const start: RunStart = {
        id: host.uuid(),
        owner: host.owner,
        name: given.program.name,
        background,
        startedAt: host.now(),
        ...(given.observe ? { observe: given.observe } : {}),
      };
      const run = this.#book.add(start);
      release();
      this.#outputSchemas.set(run, launch.outputSchema);
      try {
        // Side by side: whoever launches hears of the run only when both are done, so no run that anybody knows of is
        // missing from the note.
        const noted = this.#note(host);
        noted.catch(() => undefined);
        await host.start({ id: start.id, generation: launch.generation, runner: launch.runner });
        await noted;
      } catch (error) {
        this.#book.remove(start.id);
        run.end({ state: 'failed', error: sentenceOf(error) }, host.now());
        // It may have started: what nobody knows of must not run.
        host.stop(start.id).catch(() => undefined);
        throw error;
      }
      this.#book.prune(host.owner);
      return run;
    } finally {
      release();
    }
  }

  #cancel(run: RunRecord, error: string, host: ManagerHost): void {
    if (!run.running) return;
    run.end({ state: 'cancelled', error }, host.now());
    // The worker is ended whether or not this call is still there to hear of it.
    host.stop(run.start.id).catch(() => undefined);
    this.#book.prune(run.start.owner);
    this.#note(host).catch(() => undefined);
  }

  #refuseClosed(): void {
    if (this.#closed) throw programError('PROGRAM_CLOSED', 'Jev program manager is closed');
  }

  async #note(host: Pick<ManagerHost, 'remember'>): Promise<void> {
    await host.remember(this.#book.running().map((run) => run.start));
  }

  /** Runs that an earlier process left behind were cancelled by its end, and say so. */
  #recall(host: ManagerHost): Promise<void> {
    this.#recalled ??= this.#recallNow(host).catch((error) => {
      this.#recalled = undefined;
      throw error;
    });
    return this.#recalled;
  }

  async #recallNow(host: ManagerHost): Promise<void> {
    for (const start of await host.recall()) {
      if (this.#book.byId(start.id)) continue;
      const error = 'Cancelled by a restart of the host; its effects stay as they are';
      this.#book.add(start).end({ state: 'cancelled', error }, host.now());
    }
  }
}

function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(programError('PROGRAM_CANCELLED', 'Wait cancelled; the run goes on'));
    if (signal.aborted) {
      aborted();
      return;
    }
    signal.addEventListener('abort', aborted, { once: true });
    work.then(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    }, reject);
  });
}
