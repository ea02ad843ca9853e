/** The worker's side of the contract: activates the bundle, runs it, and passes its capability calls on to the host. */
import * as v from 'valibot';
import { type Code, isCode } from '../../../sdk/contract/codes.ts';
import { HostError } from '../../../sdk/contract/errors.ts';
import { createFacets } from '../../../sdk/plugin/facets.ts';
import { type Caller, type Failure, textOf } from '../peer.ts';
import {
  Activation,
  callTable,
  LOG_BURST,
  LOG_PER_SECOND,
  MAX_CALLS_IN_FLIGHT,
  MAX_LOG_CHARS,
  MAX_WIRE_SIZE,
  RunMessage,
} from '../protocol.ts';
import { rate } from '../rate.ts';
import { type Draws, drawsOf } from '../recording/draws.ts';
import { startSignal } from './abort-classes.ts';
import { runContext } from './run-context.ts';
import { openSandbox, type Sandbox } from './sandbox.ts';

/** Longest wait of a timer. */
const MAX_SLEEP_MS = 2 ** 31 - 1;
/** Milliseconds that `deactivate` of a plugin may take. */
const DEACTIVATE_GRACE_MS = 500;

const now = Date.now;
const random = Math.random;
const uuid = globalThis.crypto.randomUUID.bind(globalThis.crypto);

interface LiveRun {
  id: string;
  abort(reason: unknown): void;
  /** Rejects the run: something of it failed where nobody waits. */
  fail(error: unknown): void;
}

/** One worker's state: the bundle it was given, the sandbox that is ready, the runs that are under way. */
export class PluginService {
  readonly #host: Caller;
  readonly #shared: Record<string, unknown>;
  readonly #runs = new Map<string, LiveRun>();
  readonly #log = rate(LOG_BURST, LOG_PER_SECOND, now);
  readonly #strays = rate(LOG_BURST, LOG_PER_SECOND, now);
  /** Log lines and progress that are on their way to the host. */
  readonly #unheard = new Set<Promise<unknown>>();
  #activation: Activation | undefined;
  #ready: Promise<Sandbox> | undefined;
  #lasting: Sandbox | undefined;
  readonly #stopped: () => void;

  constructor(host: Caller, shared: Record<string, unknown>, stopped: () => void) {
    this.#host = host;
    this.#shared = shared;
    this.#stopped = stopped;
  }

  async activate(text: string): Promise<string> {
    if (this.#activation) throw new TypeError('The worker is active already.');
    const activation = v.parse(Activation, JSON.parse(text));
    this.#activation = activation;
    const started = performance.now();
    const sandbox = await this.#open(activation);
    const took = performance.now() - started;
    if (activation.kind === 'controller') this.#ready = Promise.resolve(sandbox);
    else this.#lasting = sandbox;
    return JSON.stringify({
      handlers: [...sandbox.handlers.keys()],
      evaluateMs: sandbox.evaluateMs,
      activateMs: took - sandbox.evaluateMs,
    });
  }

  async run(text: string): Promise<string | null> {
    const activation = this.#activation;
    if (!activation) throw new TypeError('The worker is not active.');
    const message = v.parse(RunMessage, JSON.parse(text));
    if (this.#runs.has(message.runId)) throw new TypeError('The run exists already.');
    const sandbox = this.#lasting ?? (await (this.#ready ?? this.#open(activation)));
    this.#ready = undefined;
    try {
      return await this.#perform(activation, sandbox, message);
    } finally {
      this.#runs.delete(message.runId);
      if (!this.#lasting) {
        // The next run's sandbox is made ready while nobody waits for it.
        this.#ready = this.#open(activation);
        this.#ready.catch(ignore);
        sandbox.close(DEACTIVATE_GRACE_MS).catch(ignore);
      }
    }
  }

  abort(runId: string, reason: string): null {
    this.#runs.get(runId)?.abort(new Error(reason));
    return null;
  }

  async deactivate(): Promise<null> {
    const sandbox = this.#lasting ?? (await this.#ready?.catch(ignore));
    await sandbox?.close(DEACTIVATE_GRACE_MS).catch(ignore);
    this.#stopped();
    return null;
  }

  /** Something was thrown outside any run's reach. */
  stray(kind: 'timer' | 'rejection' | 'uncaught', error: unknown): void {
    if (this.#strays()) this.#host.call('host.stray', kind, textOf(error).slice(0, MAX_LOG_CHARS)).catch(ignore);
    // A controller's worker has one run, so the timer's throw is that run's failure.
    if (kind !== 'rejection' && !this.#lasting) for (const run of this.#runs.values()) run.fail(error);
  }

  async #open(activation: Activation): Promise<Sandbox> {
    const sandbox = openSandbox(activation, {
      shared: this.#shared,
      stray: (kind, error) => this.stray(kind, error),
      log: (level, text) => {
        const [first] = this.#runs.keys();
        if (first !== undefined) this.#call(first, 'log.write', [level, text.slice(0, MAX_LOG_CHARS)]).catch(ignore);
      },
    });
    await sandbox.activate();
    return sandbox;
  }

  #perform(activation: Activation, sandbox: Sandbox, message: RunMessage): Promise<string | null> {
    const handler = sandbox.handlers.get(message.handler);
    if (!handler) throw new TypeError(`The plugin has no handler "${message.handler}".`);
    const { signal, abort } = startSignal();
    return new Promise((resolve, reject) => {
      this.#runs.set(message.runId, { id: message.runId, abort, fail: reject });
      const draws = message.tape && drawsOf(message.tape, now);
      const ctx = this.#context(activation, sandbox, message.runId, signal as unknown as AbortSignal, draws);
      const work = async (): Promise<string | null> => {
        try {
          return answerText(await handler(message.input, ctx));
        } finally {
          if (draws) this.#tellDraws(message.runId, draws);
          // Calls and answers travel apart: a line that was written last must not arrive after the run's end.
          await Promise.allSettled(this.#unheard);
        }
      };
      work().then(resolve, reject);
    });
  }

  #context(
    activation: Activation,
    sandbox: Sandbox,
    runId: string,
    signal: AbortSignal,
    draws: Draws | undefined,
  ): object {
    const granted = new Set<string>(activation.grants);
    const need = (capability: string): void => {
      if (!granted.has(capability)) throw plainError(new HostError('CAPABILITY_DENIED', { capability }));
    };
    let inFlight = 0;
    const { pluginId, features, settings } = activation;
    const base = { signal, run: { id: runId, pluginId, features, settings } };
    return runContext(base, () =>
      createFacets({
        call: async (name, ...args) => {
          if (inFlight >= MAX_CALLS_IN_FLIGHT) {
            throw plainError(new HostError('PLUGIN_TOO_MANY_CALLS', { limit: MAX_CALLS_IN_FLIGHT }));
          }
          inFlight += 1;
          if (draws) this.#tellDraws(runId, draws);
          try {
            return await this.#call(runId, name, args);
          } finally {
            inFlight -= 1;
          }
        },
        now: () => {
          need('clock');
          return draws ? draws.now() : now();
        },
        sleep: (ms) => {
          need('clock');
          if (!draws) return untilCancelled(() => sandbox.timers.sleep(ms), signal);
          this.#tellDraws(runId, draws);
          return untilCancelled(
            () => this.#host.call('host.sleep', runId, Math.min(Number(ms) || 0, MAX_SLEEP_MS)),
            signal,
          );
        },
        uuid: () => {
          need('random');
          return draws ? draws.uuid() : uuid();
        },
        number: () => {
          need('random');
          return draws ? draws.number() : random();
        },
      }),
    );
  }

  /** Ahead of the next call, so that the readings stand where they were made. */
  #tellDraws(runId: string, draws: Draws): void {
    const taken = draws.taken();
    if (taken.length > 0) this.#hear(this.#host.call('host.drew', runId, JSON.stringify(taken)));
  }

  /** Nobody waits for it but the end of the run. */
  #hear(call: Promise<unknown>): void {
    this.#unheard.add(call);
    call.catch(ignore).finally(() => this.#unheard.delete(call));
  }

  async #call(runId: string, name: string, args: unknown[]): Promise<unknown> {
    const spec = callTable.get(name);
    if (!spec) throw new TypeError(`${name} is not in the contract.`);
    if (name === 'log.write' && !this.#log())
      throw plainError(new HostError('PLUGIN_LOG_FLOOD', { limit: LOG_PER_SECOND }));
    const sent = v.safeParse(spec.args, args);
    if (!sent.success) {
      const path = `${name}(${v.getDotPath(sent.issues[0]) ?? ''})`;
      throw plainError(new HostError('PLUGIN_CALL_INVALID', { path, problem: sent.issues[0].message }));
    }
    const call = this.#host.call(name, runId, ...sent.output);
    if (name === 'log.write' || name === 'task.progress') this.#hear(call);
    let answer: unknown;
    try {
      answer = await call;
    } catch (error) {
      throw failureToError(error);
    }
    return v.parse(spec.result, answer);
  }
}

const ignore = (): undefined => undefined;

/** The run's answer, bounded before it is sent. Reading it runs plugin code (`toJSON`, getters), here in the sandbox. */
function answerText(value: unknown): string | null {
  const text = JSON.stringify(value);
  if (text === undefined) return null;
  if (text.length > MAX_WIRE_SIZE)
    throw new RangeError(`The result has ${text.length} characters; the limit is ${MAX_WIRE_SIZE}.`);
  return text;
}

function untilCancelled(sleep: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    sleep().then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, reject);
  });
}

/** The host's refusals as plain errors of the shared realm: code and details as data, no class of ours. */
function plainError({ code, message, details }: HostError): Error {
  return Object.assign(new Error(message), { name: 'HostError', code, details });
}

function failureToError(error: unknown): Error {
  const { code, message, details } = (error ?? {}) as Partial<Failure>;
  const text = typeof message === 'string' ? message : 'The call failed.';
  if (!isCode(code)) return new Error(text);
  return Object.assign(new Error(text), {
    name: 'HostError',
    code: code satisfies Code,
    details: JSON.parse(details ?? '{}'),
  });
}
