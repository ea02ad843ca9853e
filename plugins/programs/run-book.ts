/**
 * All runs of this plugin: who owns each, how many may run, and which old ones are forgotten.
 *
 * Threat: one worker serves every caller. A run is found by its id and its owner together; for anybody else it does not
 * exist, and no caller's runs push another caller's out of the book before their own.
 */
import { refuseProgram } from '../../sdk/index.ts';
import type { ProgramSettings } from './limits.ts';
import { RunRecord, type RunStart } from './run-record.ts';

/** Programs that run at the same time, whoever launched them. */
export const MAX_RUNNING = 16;
/** Ended runs that are kept, whoever owns them: with 64 events and a result each about 80 MB at worst. */
export const MAX_KEPT = 256;

export class RunBook {
  readonly #settings: ProgramSettings;
  readonly #runs = new Map<string, RunRecord>();
  /** Launches that are being checked count as running, or many at once would pass together. */
  readonly #launching = new Map<string, number>();

  constructor(settings: ProgramSettings) {
    this.#settings = settings;
  }

  /**
   * Takes a place for a launch.
   * @returns gives the place back
   * @throws PROGRAM_LIMIT_REACHED
   */
  reserve(owner: string): () => void {
    const running = this.running();
    const own = running.filter((run) => run.start.owner === owner).length + (this.#launching.get(owner) ?? 0);
    const all = running.length + [...this.#launching.values()].reduce((sum, count) => sum + count, 0);
    if (own >= this.#settings.maxConcurrentRuns || all >= MAX_RUNNING)
      refuseProgram('PROGRAM_LIMIT_REACHED', 'Jev concurrent run limit reached');
    this.#launching.set(owner, (this.#launching.get(owner) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#launching.get(owner) ?? 1) - 1;
      if (left > 0) this.#launching.set(owner, left);
      else this.#launching.delete(owner);
    };
  }

  add(start: RunStart): RunRecord {
    const run = new RunRecord(start);
    this.#runs.set(start.id, run);
    return run;
  }

  remove(id: string): void {
    this.#runs.delete(id);
  }

  /** @throws PROGRAM_UNKNOWN_RUN for an id that this owner has not, or no longer */
  find(owner: string, id: string): RunRecord {
    const run = this.#runs.get(id);
    if (!run || run.start.owner !== owner) refuseProgram('PROGRAM_UNKNOWN_RUN', 'Unknown or expired Jev run ID');
    return run;
  }

  /** For the host's own news, which name no owner. */
  byId(id: string): RunRecord | undefined {
    return this.#runs.get(id);
  }

  of(owner: string): RunRecord[] {
    return [...this.#runs.values()].filter((run) => run.start.owner === owner);
  }

  running(): RunRecord[] {
    return [...this.#runs.values()].filter((run) => run.running);
  }

  /** Forgets the oldest ended runs past the limits. Running ones stay, and whoever waits for a run still gets its end. */
  prune(owner: string): void {
    this.#forget(this.of(owner), this.#settings.maxRetainedRuns);
    this.#forget([...this.#runs.values()], Math.max(MAX_KEPT, this.#settings.maxRetainedRuns));
  }

  #forget(runs: RunRecord[], keep: number): void {
    let excess = runs.length - keep;
    for (const run of runs) {
      if (excess <= 0) return;
      if (run.running) continue;
      this.#runs.delete(run.start.id);
      excess--;
    }
  }

  clear(): void {
    this.#runs.clear();
  }
}
