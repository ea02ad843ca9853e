/**
 * One loaded version of a plugin: its bundle, its powers, and the slots that run it.
 *
 * Controllers get one slot per run, and a spare is kept warm. Helpers and frontends are served by one slot, many calls at a
 * time. A slot that was aborted or lost is never used again.
 */
import { HostError } from '../../sdk/contract/errors.ts';
import type { Manifest } from '../../sdk/contract/manifest.ts';
import type { Bundle } from './bundle/bundle.ts';
import type { ExecutionService } from './execution.ts';
import type { Grants } from './grants.ts';
import type { Activated, Activation } from './protocol.ts';
import { Slot } from './slot.ts';

/** Slots that wait for work, beyond which a freed one is closed. */
const IDLE_SLOTS = 2;
/** Starts that go on at the same time, over all plugins: a start is mostly processor time, and more of them only wait longer. */
const STARTS_AT_ONCE = 4;
/** Milliseconds that a slot may take to close. */
const STOP_GRACE_MS = 1000;

export interface GenerationSettings {
  number: number;
  manifest: Manifest;
  bundle: Bundle;
  grants: Grants;
  features: Record<string, boolean>;
  settings: Record<string, unknown>;
  limits: { memoryMb: number; concurrentRuns: number; runDeadlineMs: number };
  tier: ExecutionService;
  activationMs: number;
  unresponsiveMs: number;
  check?: boolean;
  now(): number;
  stray(kind: string, text: string): void;
  /** A slot ended by itself or was ended for cause. */
  crashed(reason: HostError): void;
}

export class Generation {
  readonly is: GenerationSettings;
  /** What the first slot found. */
  activated: Activated | undefined;
  /** Milliseconds from nothing to a plugin that can be called. */
  startMs = 0;
  readonly #slots = new Set<Slot>();
  readonly #idle: Slot[] = [];
  readonly #waiting: (() => void)[] = [];
  #starting = 0;
  #lasting: Promise<Slot> | undefined;
  #inUse = 0;
  #drained: (() => void) | undefined;
  #closed = false;

  constructor(settings: GenerationSettings) {
    this.is = settings;
  }

  get slots(): ReadonlySet<Slot> {
    return this.#slots;
  }

  /** Proves that the bundle starts. @throws PLUGIN_ACTIVATION_FAILED. */
  async start(): Promise<void> {
    const started = performance.now();
    const slot = await this.#open();
    this.startMs = performance.now() - started;
    if (this.#shared) this.#lasting = Promise.resolve(slot);
    else this.#idle.push(slot);
  }

  /** Runs work on a slot of its own (controllers) or the one that all share. Waits while all are in use. */
  async use<T>(signal: AbortSignal, work: (slot: Slot) => Promise<T>): Promise<T> {
    await this.#turn(signal);
    let slot: Slot | undefined;
    try {
      slot = await this.#take();
      signal.throwIfAborted();
      return await work(slot);
    } finally {
      this.#inUse -= 1;
      if (slot) this.#giveBack(slot);
      this.#waiting.shift()?.();
      if (this.#inUse === 0) this.#drained?.();
    }
  }

  /** Waits until no run is left, at most the given time; then ends what there is. */
  async close(drainMs: number): Promise<void> {
    this.#closed = true;
    if (this.#inUse > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
        timer = setTimeout(resolve, drainMs);
      });
      clearTimeout(timer);
    }
    await Promise.all([...this.#slots].map((slot) => slot.stop(STOP_GRACE_MS)));
  }

  get #shared(): boolean {
    return this.is.manifest.kind !== 'controller';
  }

  async #turn(signal: AbortSignal): Promise<void> {
    while (this.#inUse >= this.is.limits.concurrentRuns) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    signal.throwIfAborted();
    this.#inUse += 1;
  }

  async #take(): Promise<Slot> {
    if (this.#shared) {
      const slot = await this.#lasting?.catch(() => undefined);
      if (slot?.alive) return slot;
      this.#lasting = this.#open();
      return this.#lasting;
    }
    // The one that has waited longest: the latest is still making its next sandbox ready.
    const idle = this.#idle.shift();
    const slot = idle?.alive ? idle : await this.#open();
    this.#keepSpare();
    return slot;
  }

  #giveBack(slot: Slot): void {
    if (this.#shared || !slot.alive) return;
    if (this.#closed || this.#idle.length >= IDLE_SLOTS) slot.stop(STOP_GRACE_MS);
    else this.#idle.push(slot);
  }

  /** The next run should not wait for a start. */
  #keepSpare(): void {
    const room = this.#slots.size + this.#starting < this.is.limits.concurrentRuns;
    if (this.#idle.length > 0 || this.#starting > 0 || !room || this.#closed) return;
    this.#open().then(
      (slot) => this.#giveBack(slot),
      // A spare that does not start is no run's failure; the run that needs one meets the reason.
      () => {},
    );
  }

  async #open(): Promise<Slot> {
    return inTurn(() => this.#openNow());
  }

  async #openNow(): Promise<Slot> {
    const { manifest, limits, tier, bundle, grants, features, settings } = this.is;
    const { id: pluginId, kind } = manifest;
    this.#starting += 1;
    const execution = tier.start({ pluginId, memoryMb: limits.memoryMb, ...(this.is.check ? { check: true } : {}) });
    const slot = new Slot(execution, {
      pluginId,
      memoryMb: limits.memoryMb,
      unresponsiveMs: this.is.unresponsiveMs,
      now: this.is.now,
      stray: this.is.stray,
    });
    this.#slots.add(slot);
    slot.ended.then((reason) => {
      this.#slots.delete(slot);
      const idle = this.#idle.indexOf(slot);
      if (idle >= 0) this.#idle.splice(idle, 1);
      if (!reason.details.stopped) this.is.crashed(reason);
    });
    const activation: Activation = {
      pluginId,
      kind,
      code: bundle.code,
      grants: [...grants.keys()],
      features,
      settings,
      tools: (manifest.tools ?? []).map(({ name }) => name),
    };
    const deadline = setTimeout(
      () => slot.kill(this.#notStarted(`it did not start within ${this.is.activationMs} ms`)),
      this.is.activationMs,
    );
    try {
      this.activated = await slot.activate(activation);
      return slot;
    } catch (error) {
      const failure = slot.reason ?? this.#notStarted((error as { message?: string }).message ?? String(error), error);
      slot.kill(failure);
      throw failure;
    } finally {
      clearTimeout(deadline);
      this.#starting -= 1;
    }
  }

  #notStarted(problem: string, cause?: unknown): HostError {
    return new HostError(
      'PLUGIN_ACTIVATION_FAILED',
      { plugin: this.is.manifest.id, problem, stopped: true },
      { cause },
    );
  }
}

let starting = 0;
const queue: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (starting >= STARTS_AT_ONCE) await new Promise<void>((resolve) => queue.push(resolve));
  starting += 1;
  try {
    return await work();
  } finally {
    starting -= 1;
    queue.shift()?.();
  }
}
