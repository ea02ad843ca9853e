/** Carries one program's news to the plugin that launched it: in order, one message on its way at a time, nothing unbounded. */
import type { RunnerEnd, RunnerReport } from '../../sdk/contract/program-runner.ts';

const MAX_EVENTS = 64;
const MAX_LOGS = 4096;

export interface RunLinkDeps {
  /** @returns false when the plugin no longer knows the run */
  report(report: RunnerReport): Promise<unknown>;
  ended(end: Omit<RunnerEnd, 'report'> & { report?: RunnerReport }): Promise<unknown>;
  /** Nobody listens any more: the program has to end. */
  abandoned(): void;
}

export class RunLink {
  readonly #deps: RunLinkDeps;
  #waiting: RunnerReport | undefined;
  #sending: Promise<void> | undefined;

  constructor(deps: RunLinkDeps) {
    this.#deps = deps;
  }

  report(report: RunnerReport): void {
    this.#waiting = this.#waiting ? joined(this.#waiting, report) : report;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async #send(): Promise<void> {
    for (let report = this.#take(); report; report = this.#take()) {
      const known = await this.#deps.report(report).catch(() => false);
      if (known === false) {
        this.#deps.abandoned();
        return;
      }
    }
  }

  #take(): RunnerReport | undefined {
    const report = this.#waiting;
    this.#waiting = undefined;
    return report;
  }

  /** After everything that was reported. */
  async end(end: Omit<RunnerEnd, 'report'> & { report?: RunnerReport | undefined }): Promise<void> {
    await this.#sending;
    const { report, ...rest } = end;
    const last = report && this.#waiting ? joined(this.#waiting, report) : (report ?? this.#waiting);
    await this.#deps.ended({ ...rest, ...(last ? { report: last } : {}) }).catch(() => undefined);
  }
}

function joined(earlier: RunnerReport, later: RunnerReport): RunnerReport {
  return {
    counts: later.counts,
    nextSequence: later.nextSequence,
    events: [...earlier.events, ...later.events].slice(-MAX_EVENTS),
    logs: [...earlier.logs, ...later.logs].slice(0, MAX_LOGS),
  };
}
