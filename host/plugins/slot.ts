/**
 * One live execution of a plugin: both guarded directions, the runs it works on, and the end of it all.
 *
 * Whatever ends a slot (it stopped, died, broke the contract, stopped answering, took too much memory), every pending call
 * is rejected at once with the reason, and the slot is never used again.
 */
import * as v from 'valibot';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import type { EndCause, Execution } from './execution.ts';
import { type Caller, connect, failureOf, serve } from './peer.ts';
import {
  Activated,
  type Activation,
  callTable,
  hostReports,
  LOG_BURST,
  LOG_PER_SECOND,
  MAX_WIRE_SIZE,
  type RunMessage,
  workerMethods,
} from './protocol.ts';
import { rate } from './rate.ts';

/** Longest time between two looks at whether a plugin still answers. */
const PING_EVERY_MS = 1000;

/** What serves the calls of one run: the broker, or a recording of one. */
export interface RunCalls {
  /** The call that the run made last. */
  readonly current: string;
  dispatch(name: string, args: readonly unknown[]): Promise<unknown>;
  /** Only a run with a tape waits through the host, and tells what its clock said. */
  sleep?(ms: number): Promise<void>;
  drew?(clock: number[]): void;
  end(): void;
}

export interface SlotOptions {
  pluginId: string;
  memoryMb: number;
  /** Milliseconds without an answer after which a plugin counts as hung. */
  unresponsiveMs: number;
  now(): number;
  /** Thrown where no run waits for it. */
  stray(kind: string, text: string): void;
}

export class Slot {
  readonly execution: Execution;
  readonly ended: Promise<HostError>;
  readonly #options: SlotOptions;
  readonly #caller: Caller;
  readonly #runs = new Map<string, RunCalls>();
  readonly #end: (reason: HostError) => void;
  #reason: HostError | undefined;
  #stopping = false;
  #watch: NodeJS.Timeout | undefined;

  constructor(execution: Execution, options: SlotOptions) {
    this.execution = execution;
    this.#options = options;
    let end: (reason: HostError) => void = () => {};
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    this.#end = end;
    const guard = {
      maxSize: MAX_WIRE_SIZE,
      violated: (problem: string) => this.kill(new HostError('PLUGIN_PROTOCOL', { plugin: options.pluginId, problem })),
    };
    serve(execution.capabilities, this.#methods(), guard);
    this.#caller = connect(execution.calls, workerMethods, guard);
    execution.ended.then((cause) => this.#finish(this.#lost(cause)));
  }

  get alive(): boolean {
    return this.#reason === undefined;
  }
  get working(): number {
    return this.#runs.size;
  }
  /** Why it ended, once it has. */
  get reason(): HostError | undefined {
    return this.#reason;
  }

  async activate(activation: Activation): Promise<Activated> {
    const answer = await this.#caller.call('activate', JSON.stringify(activation));
    // Until here the start's own deadline watches.
    const every = Math.min(PING_EVERY_MS, this.#options.unresponsiveMs / 4);
    if (this.alive) this.#watch = setInterval(this.#pinger(every), every).unref();
    return v.parse(Activated, JSON.parse(String(answer)));
  }

  /** @returns the answer's JSON text, or null for none. Rejects with a `Failure` of the plugin, or the slot's end. */
  async run(message: RunMessage, calls: RunCalls): Promise<unknown> {
    this.#runs.set(message.runId, calls);
    try {
      return await this.#caller.call('run', JSON.stringify(message));
    } finally {
      this.#runs.delete(message.runId);
      calls.end();
    }
  }

  /** Tells a run that it is cancelled. It may go on to clean up. */
  abort(runId: string, reason: string): void {
    this.#caller.call('abort', runId, reason).catch(() => {});
  }

  /** Resolves when the worker answers. */
  ping(): Promise<unknown> {
    return this.#caller.call('ping');
  }

  kill(reason: HostError): void {
    this.#finish(reason);
    this.execution.terminate();
  }

  /** Lets the plugin close, then ends it; by force after the grace. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const force = setTimeout(() => this.kill(this.#lost({ kind: 'stopped', text: 'it was stopped' })), graceMs);
    this.#caller.call('deactivate').catch(() => {});
    await this.ended;
    clearTimeout(force);
  }

  /** The call in which the plugin is, as far as the host can tell. */
  current(): string {
    const [calls] = this.#runs.values();
    return calls?.current ?? 'activate';
  }

  #methods(): Record<string, (...args: never[]) => unknown> {
    const methods: Record<string, (...args: never[]) => unknown> = {};
    const served = (work: (calls: RunCalls, args: unknown[]) => unknown) => {
      return async (runId: unknown, ...args: unknown[]) => {
        try {
          const calls = typeof runId === 'string' ? this.#runs.get(runId) : undefined;
          if (!calls) throw new HostError('RUN_ENDED');
          return await work(calls, args);
        } catch (error) {
          throw failureOf(error);
        }
      };
    };
    for (const name of callTable.keys()) methods[name] = served((calls, args) => calls.dispatch(name, args));
    methods['host.sleep'] = served(async (calls, args) => {
      if (!calls.sleep) refuse('CAPABILITY_DENIED', { capability: 'host.sleep' });
      await calls.sleep(...v.parse(hostReports['host.sleep'].args, args));
      return null;
    });
    methods['host.drew'] = served((calls, args) => {
      calls.drew?.(...v.parse(hostReports['host.drew'].args, args));
      return null;
    });
    const mayReport = rate(2 * LOG_BURST, 2 * LOG_PER_SECOND, this.#options.now);
    methods['host.stray'] = (...args: unknown[]) => {
      if (!mayReport()) {
        this.kill(this.#lost({ kind: 'protocol', text: 'a flood of reports' }));
        return null;
      }
      const parsed = v.safeParse(hostReports['host.stray'].args, args);
      if (parsed.success) this.#options.stray(...parsed.output);
      return null;
    };
    return methods;
  }

  #lost(cause: EndCause): HostError {
    const { pluginId: plugin, memoryMb } = this.#options;
    if (cause.kind === 'memory') return new HostError('PLUGIN_MEMORY', { plugin, limit: memoryMb });
    if (cause.kind === 'protocol') return new HostError('PLUGIN_PROTOCOL', { plugin, problem: cause.text });
    return new HostError('PLUGIN_LOST', { plugin, problem: cause.text, stopped: this.#stopping });
  }

  #finish(reason: HostError): void {
    if (this.#reason) return;
    this.#reason = reason;
    clearInterval(this.#watch);
    this.#caller.fail(reason);
    for (const calls of this.#runs.values()) calls.end();
    this.#runs.clear();
    this.#end(reason);
  }

  /**
   * Asks for an answer now and then. A machine that is short of processors delays this side as well, so time in which the
   * host itself was late does not count against the plugin.
   */
  #pinger(everyMs: number): () => void {
    const { now, unresponsiveMs, pluginId } = this.#options;
    let silentMs = 0;
    let waiting = false;
    let lastTick = now();
    return () => {
      const at = now();
      if (waiting) silentMs += Math.min(at - lastTick, everyMs);
      lastTick = at;
      if (silentMs >= unresponsiveMs) {
        this.kill(new HostError('PLUGIN_UNRESPONSIVE', { plugin: pluginId, call: this.current(), ms: silentMs }));
        return;
      }
      if (waiting) return;
      waiting = true;
      const answered = (): void => {
        waiting = false;
        silentMs = 0;
      };
      this.ping().then(answered, () => {});
    };
  }
}
