/**
 * One run's capability calls: the only way from a plugin to the host's powers.
 *
 * Threat: the caller is the plugin's worker, which may have been taken over. So every call is checked here, whatever the
 * worker checked: the run is still on, the name is in the contract, the capability is granted and covered by the task, the
 * arguments and the answer have the contract's shape, and counts stay within limits. What an honest worker never does (too
 * many calls in flight, a flood of log lines, arguments of the wrong shape) is reported as a violation, which ends it.
 */
import * as v from 'valibot';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { CapabilityId } from '../../sdk/contract/manifest.ts';
import type { CapabilityDeps, CapabilityRun } from './capabilities/capability.ts';
import { capabilities } from './capabilities/table.ts';
import type { Grants } from './grants.ts';
import type { RunAuthority, RunPorts } from './ports.ts';
import { callTable, LOG_BURST, LOG_PER_SECOND, MAX_CALLS_IN_FLIGHT } from './protocol.ts';
import { rate } from './rate.ts';

/** Calls that one run may make altogether, log lines aside. */
export const MAX_CALLS_PER_RUN = 100_000;

export interface BrokeredRun {
  runId: string;
  pluginId: string;
  authority: RunAuthority;
  ports: RunPorts;
  cancelled: AbortSignal;
}

export interface BrokerDeps extends CapabilityDeps {
  /** Every settled call: for counts, metrics and the record. */
  called?(call: {
    pluginId: string;
    runId: string;
    capability: CapabilityId;
    name: string;
    ms: number;
    code?: string;
  }): void;
  /** A host failure that is no refusal. The plugin learns only that there was one. */
  failed?(error: unknown, name: string): void;
}

type Handler = (args: readonly unknown[]) => unknown;

export class Broker {
  readonly run: BrokeredRun;
  readonly #grants: Grants;
  readonly #deps: BrokerDeps;
  readonly #violated: (reason: string) => void;
  /** Made with the first handler: most runs have few, and an abort controller costs as much as a message. */
  #ending: AbortController | undefined;
  #over = false;
  readonly #handlers = new Map<CapabilityId, Record<string, Handler> | undefined>();
  readonly #spent = new Map<CapabilityId, number>();
  #inFlight = 0;
  #calls = 0;
  /** Twice what an honest worker lets through. */
  readonly #mayLog: () => boolean;
  #current = 'run';

  constructor(run: BrokeredRun, grants: Grants, deps: BrokerDeps, violated: (reason: string) => void) {
    this.run = run;
    this.#grants = grants;
    this.#deps = deps;
    this.#violated = violated;
    this.#mayLog = rate(2 * LOG_BURST, 2 * LOG_PER_SECOND, deps.now);
  }

  /** Calls that were made, log lines aside. */
  get calls(): number {
    return this.#calls;
  }

  /** The call that the run made last: names the place in which a plugin stopped answering. */
  get current(): string {
    return this.#current;
  }

  /** @throws HostError; anything else that failed is told as a failure without its words, which may hold secrets. */
  async dispatch(name: string, args: readonly unknown[]): Promise<unknown> {
    const spec = callTable.get(name);
    if (!spec) throw new HostError('CAPABILITY_DENIED', { capability: name });
    const { capability } = spec;
    if (this.#over) refuse('RUN_ENDED');
    const parsed = v.safeParse(spec.args, args);
    if (!parsed.success) {
      this.#violated(`arguments of ${name} outside the contract`);
      refuse('PLUGIN_CALL_INVALID', { path: name, problem: 'outside the contract' });
    }
    this.#count(name, capability);
    const started = this.#deps.now();
    this.#inFlight += 1;
    let code: string | undefined;
    try {
      const handler = this.#handler(capability, name);
      const answer = await handler(parsed.output);
      return v.parse(spec.result, answer);
    } catch (error) {
      if (isHostError(error)) {
        code = error.code;
        throw error;
      }
      code = 'HOST_FAILURE';
      this.#deps.failed?.(error, name);
      throw new Error('The host could not serve the call.');
    } finally {
      this.#inFlight -= 1;
      // What hangs after its calls were answered hangs in its own code.
      if (this.#inFlight === 0) this.#current = 'run';
      const { pluginId, runId } = this.run;
      this.#deps.called?.({
        pluginId,
        runId,
        capability,
        name,
        ms: this.#deps.now() - started,
        ...(code ? { code } : {}),
      });
    }
  }

  /** The run is over: nothing more is served, and what is under way is told to stop. */
  end(): void {
    this.#over = true;
    this.#ending?.abort(new HostError('RUN_ENDED'));
    this.#handlers.clear();
  }

  #handler(capability: CapabilityId, name: string): Handler {
    const granted = this.#grants.get(capability);
    if (!granted) refuse('CAPABILITY_DENIED', { capability });
    if (!this.#handlers.has(capability)) {
      this.#ending ??= new AbortController();
      const run: CapabilityRun = {
        ...this.run,
        ended: this.#ending.signal,
        request: granted.request,
        narrowing: granted.narrowing,
      };
      this.#handlers.set(
        capability,
        capabilities[capability].create(run, this.#deps) as Record<string, Handler> | undefined,
      );
    }
    const handler = this.#handlers.get(capability)?.[name.slice(name.lastIndexOf('.') + 1)];
    if (!handler) refuse('CAPABILITY_DENIED', { capability });
    return handler;
  }

  #count(name: string, capability: CapabilityId): void {
    if (name === 'log.write') {
      if (!this.#mayLog()) {
        this.#violated('a flood of log lines');
        refuse('PLUGIN_LOG_FLOOD', { limit: LOG_PER_SECOND });
      }
      return;
    }
    this.#current = name;
    this.#calls += 1;
    if (this.#inFlight >= MAX_CALLS_IN_FLIGHT + LOG_BURST) {
      this.#violated('too many calls in flight');
      refuse('PLUGIN_TOO_MANY_CALLS', { limit: MAX_CALLS_IN_FLIGHT });
    }
    const budget = Math.min(this.#grants.get(capability)?.narrowing.budget ?? MAX_CALLS_PER_RUN, MAX_CALLS_PER_RUN);
    const spent = (this.#spent.get(capability) ?? 0) + 1;
    this.#spent.set(capability, spent);
    if (spent > budget) refuse('PLUGIN_BUDGET_SPENT', { capability, limit: budget });
  }
}
