/**
 * Repeats a recorded run: the plugin as it is now, in a real sandbox, with the recording in place of the world. Nothing
 * leaves the process. The first thing that the plugin asks otherwise than it did ends the replay.
 *
 * Answers, waits and a cancellation are given in exactly the order in which they were recorded; each waits until the plugin
 * has asked everything that it had asked by then. So the plugin's own code is all that can make a difference.
 */
import { HostError } from '../../../sdk/contract/errors.ts';
import type { Manifest } from '../../../sdk/contract/manifest.ts';
import { differenceOf, type RecordedEvent, type Recording } from '../../../sdk/contract/recording.ts';
import type { Bundle } from '../bundle/bundle.ts';
import type { ExecutionService } from '../execution.ts';
import { Generation } from '../generation.ts';
import { effectiveGrants } from '../grants.ts';
import type { Failure } from '../peer.ts';
import type { RunCalls, Slot } from '../slot.ts';
import { threadTier } from '../thread-tier.ts';
import { Turnstile } from './turnstile.ts';

/** Milliseconds in which a plugin that is given its next answer must ask for something or end. */
const QUIET_MS = 20_000;

export interface Replayed {
  same: boolean;
  /** Calls that are the same, and evaluations among them. */
  calls: number;
  decisions: number;
  difference?: ReplayDifference;
  /** The recording breaks off: the run was killed, or the recording was full. What there is was repeated. */
  partial?: true;
}

export interface ReplayDifference {
  /** Number of the call, from 1, over all capabilities. */
  step: number;
  /** Number of the evaluation, when the call is one. */
  decision?: number;
  /** Name of the call, or `result`. */
  call: string;
  path: string;
  before: string;
  now: string;
}

export interface ReplayOptions {
  recording: Recording;
  manifest: Manifest;
  bundle: Bundle;
  tier?: ExecutionService;
  quietMs?: number;
}

/** @throws PLUGIN_ACTIVATION_FAILED when the plugin does not start. */
export async function replayRun({ recording, manifest, bundle, tier = threadTier, quietMs = QUIET_MS }: ReplayOptions) {
  const generation = new Generation({
    number: 1,
    manifest,
    bundle,
    grants: effectiveGrants(manifest, undefined, true),
    features: recording.features,
    settings: recording.settings,
    limits: { ...manifest.limits, concurrentRuns: 1 },
    tier,
    activationMs: 10_000,
    unresponsiveMs: 5000,
    now: Date.now,
    stray: () => {},
    crashed: () => {},
  });
  await generation.start();
  try {
    return await generation.use(new AbortController().signal, async (slot): Promise<Replayed> => {
      const { runId, handler, input, seed, events } = recording;
      const clock = events.flatMap((event) => ('clock' in event ? event.clock : []));
      const calls = new RecordedCalls(recording, quietMs, slot);
      const message = { runId, handler, ...(input === undefined ? {} : { input }), tape: { seed, clock } };
      slot.run(message, calls).then(
        (text) => calls.ran({ result: typeof text === 'string' ? JSON.parse(text) : undefined }),
        (failure: Partial<Failure>) => calls.ran({ code: failure.code ?? '', message: failure.message ?? '' }),
      );
      const replayed = await calls.replayed;
      if (replayed.difference)
        slot.kill(new HostError('PLUGIN_LOST', { problem: 'the replay is over', stopped: true }));
      return replayed;
    });
  } finally {
    await generation.close(0);
  }
}

type End = { result: unknown } | { code: string; message: string };

interface Arrived {
  name: string;
  args: readonly unknown[];
  resolve(result: unknown): void;
  reject(failure: Failure): void;
}

/** Serves a run's calls from a recording. */
class RecordedCalls implements RunCalls {
  /** Resolves when run and recording have come to their ends, or when they part. */
  readonly replayed: Promise<Replayed>;
  readonly #recording: Recording;
  readonly #quietMs: number;
  readonly #slot: Pick<Slot, 'abort' | 'ping'>;
  readonly #turnstile: Turnstile;
  /** Asked by the plugin before its place in the recording was reached. */
  readonly #arrived: Arrived[] = [];
  /** Asked and not yet answered, by number. */
  readonly #waiting = new Map<number, Arrived>();
  readonly #partial: boolean;
  #settle: (replayed: Replayed) => void = () => {};
  #quiet: NodeJS.Timeout | undefined;
  #end: End | undefined;
  #at = 0;
  #calls = 0;
  #decisions = 0;
  #giving = false;
  #over = false;

  constructor(recording: Recording, quietMs: number, slot: Pick<Slot, 'abort' | 'ping'>) {
    this.#recording = recording;
    this.#quietMs = quietMs;
    this.#slot = slot;
    this.#turnstile = new Turnstile(() => slot.ping());
    this.#partial = !recording.ended || 'cut' in recording.ended;
    this.replayed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#advance();
  }

  get current(): string {
    const event = this.#recording.events[this.#at];
    return event && 'asked' in event ? event.name : 'the end';
  }

  dispatch(name: string, args: readonly unknown[]): Promise<unknown> {
    if (name === 'log.write') return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#arrived.push({ name, args, resolve, reject });
      this.#advance();
    });
  }

  sleep(ms: number): Promise<void> {
    return this.dispatch('clock.sleep', [ms]) as Promise<never>;
  }

  end(): void {}

  /** The plugin returned or threw. */
  ran(end: End): void {
    this.#end = end;
    this.#advance();
  }

  /** Goes as far as the plugin allows. Answers leave one at a time, since each must arrive before the next is sent. */
  #advance(): void {
    clearTimeout(this.#quiet);
    for (; !this.#over; this.#at += 1) {
      const event = this.#recording.events[this.#at];
      if (!event) {
        this.#atTheEnd();
        return;
      }
      if ('asked' in event) {
        const arrived = this.#arrived.shift();
        if (arrived) this.#match(event, arrived);
        else {
          if (this.#end) this.#part(event.name, event.name, 'the end of the run');
          else this.#listen();
          return;
        }
      } else if (!('clock' in event)) {
        this.#giveInTurn(event);
        return;
      }
    }
  }

  #match(event: Extract<RecordedEvent, { asked: number }>, arrived: Arrived): void {
    const { name } = arrived;
    const found = differs(event, arrived);
    if (found) {
      this.#finish({ ...this.#step(name), ...found });
      return;
    }
    this.#calls += 1;
    if (name === EVALUATE) this.#decisions += 1;
    this.#waiting.set(event.asked, arrived);
  }

  #giveInTurn(event: RecordedEvent): void {
    if (this.#giving) return;
    this.#giving = true;
    this.#turnstile.pass().then(() => {
      this.#giving = false;
      if (this.#over) return;
      this.#give(event);
      this.#at += 1;
      this.#advance();
    });
  }

  #give(event: RecordedEvent): void {
    if ('answered' in event) this.#waiting.get(event.answered)?.resolve(event.result);
    else if ('failed' in event) {
      const { code, message, details } = event;
      this.#waiting.get(event.failed)?.reject({ code, message, details });
    } else if ('aborted' in event) this.#slot.abort(this.#recording.runId, event.aborted);
  }

  #atTheEnd(): void {
    const [more] = this.#arrived;
    const { ended } = this.#recording;
    if (!more && !this.#end) this.#listen();
    else if (!ended || 'cut' in ended) this.#finish();
    else if (more) this.#part(more.name, 'the end of the run', more.name);
    else {
      const found = differenceOf(ended, this.#end);
      this.#finish(found && { step: this.#calls + 1, call: 'result', ...found });
    }
  }

  /** Waits for the plugin, but not for ever: it may wait for an answer that it did not ask for in time. */
  #listen(): void {
    this.#quiet = setTimeout(() => {
      if (this.#partial && this.#at >= this.#recording.events.length) this.#finish();
      else this.#part(this.current, this.current, 'nothing, and no end');
    }, this.#quietMs);
  }

  #part(call: string, before: string, now: string): void {
    this.#finish({ ...this.#step(call), path: '', before, now });
  }

  #step(call: string) {
    const decision = call === EVALUATE ? { decision: this.#decisions + 1 } : {};
    return { step: this.#calls + 1, ...decision, call };
  }

  #finish(difference?: ReplayDifference): void {
    this.#over = true;
    clearTimeout(this.#quiet);
    this.#settle({
      same: !difference,
      calls: this.#calls,
      decisions: this.#decisions,
      ...(difference ? { difference } : {}),
      ...(this.#partial ? { partial: true as const } : {}),
    });
  }
}

const EVALUATE = 'jev.evaluate';

/** Calls carry JSON as text: it is compared by what it says, so that the place of a difference can be named. */
function differs(before: { name: string; args: unknown[] }, { name, args }: Arrived) {
  if (before.name !== name) return { path: '', before: before.name, now: name };
  const contents = (values: readonly unknown[]) => values.map(content);
  const found = differenceOf(contents(before.args), contents(args));
  if (!found) return undefined;
  // The one argument of most calls needs no number.
  return args.length === 1 ? { ...found, path: found.path.replace(/^0\.?/, '') } : found;
}

function content(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
