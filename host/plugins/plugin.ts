/**
 * One plugin of the config: its state, the generation that serves, and what happened to it.
 *
 * A new version is started beside the serving one and takes over only when it has proved that it starts; runs keep the
 * generation that they began with.
 */
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { Manifest } from '../../sdk/contract/manifest.ts';
import { type Approvals, differences, hashOf, type Version } from './approvals.ts';
import type { BrokerDeps } from './broker.ts';
import { loadBundle } from './bundle/bundle.ts';
import type { PluginConfig } from './config.ts';
import { CrashRecord } from './crash-record.ts';
import type { ExecutionService } from './execution.ts';
import { Generation } from './generation.ts';
import { grantWarnings, manifestWarnings } from './grant-warnings.ts';
import { effectiveGrants, type Grants } from './grants.ts';
import { checkServed, type HostServices } from './host-services.ts';
import type { PluginState, RunCall } from './ports.ts';
import { readManifest } from './read-manifest.ts';
import type { RunRecorder } from './recording/recorder.ts';
import type { Recordings } from './recording/recordings.ts';
import { performRun, type RunGraces } from './run.ts';
import { checkSettings } from './settings.ts';
import type { SwitchedOff } from './switched-off.ts';
import { checkToolInput, checkToolOutput, checkToolSchemas } from './tool-schemas.ts';

export interface PluginTimes extends RunGraces {
  /** Milliseconds that a start may take. */
  activationMs: number;
  /** Milliseconds without an answer after which a plugin counts as hung. */
  unresponsiveMs: number;
  /** Milliseconds that an old generation's runs may go on after a new one took over. */
  drainMs: number;
}

export interface PluginDeps extends BrokerDeps {
  tiers: Readonly<Record<'thread' | 'process', ExecutionService>>;
  times: PluginTimes;
  approvals: Approvals;
  switchedOff: SwitchedOff;
  /** Where runs of plugins with `record` are written down. Absent: they are not. */
  recordings?: Recordings;
  /** What the host has for plugins. Absent: only what the caller of a run brings along. */
  services?: HostServices;
  /** The contributed tools may be others now. */
  toolsChanged?(): void;
  /** Development: plugins from a path are approved as they are. */
  approveAll: boolean;
}

export interface PluginSource {
  id: string;
  directory: string;
  /** Ships with the host. */
  bundled: boolean;
}

export class Plugin {
  readonly source: PluginSource;
  config: PluginConfig;
  readonly #deps: PluginDeps;
  readonly #crashes: CrashRecord;
  #manifest: Manifest | undefined;
  #current: Generation | undefined;
  #retiring = new Set<Promise<void>>();
  #generations = 0;
  #state: PluginState['state'] = 'stopped';
  #reason: string | undefined;
  #runs = 0;
  #calls = 0;
  #bundleMs = 0;
  #held: Version | undefined;
  #loading: Promise<void> = Promise.resolve();
  #stopping = false;

  constructor(source: PluginSource, config: PluginConfig, deps: PluginDeps) {
    this.source = source;
    this.config = config;
    this.#deps = deps;
    this.#crashes = new CrashRecord(deps.now);
  }

  get manifest(): Manifest | undefined {
    return this.#manifest;
  }
  get failed(): boolean {
    return this.#state === 'failed';
  }
  get serving(): boolean {
    return this.#state === 'serving';
  }

  /** Loads, proves and switches to what is on disk. A failure leaves what served before serving. @throws the reason. */
  load(): Promise<void> {
    // One after the other: a second change while the first is being loaded must win.
    this.#loading = this.#loading.then(
      () => this.#load(),
      () => this.#load(),
    );
    return this.#loading;
  }

  /** Approves the version that is held, exactly as it was shown, and switches to it. */
  async approve(): Promise<void> {
    const held = this.#held;
    if (!held) refuse('PLUGIN_NOT_HELD', { plugin: this.source.id });
    this.#checkServed(held.manifest);
    await this.#deps.approvals.approve(held, this.#deps.now());
    await this.#forgive();
    this.#held = undefined;
    await this.#guarded(() => this.#switchTo(held, 0));
  }

  /** Takes a changed entry of the config; runs keep the powers that they began with. */
  async reconfigure(config: PluginConfig): Promise<void> {
    this.config = config;
    await this.#forgive();
    await this.load();
  }

  async #forgive(): Promise<void> {
    this.#crashes.forget();
    await this.#deps.switchedOff.remove(this.source.id);
  }

  async #load(): Promise<void> {
    if (this.#stopping) return;
    if (!this.config.enabled) return this.#rest('disabled', 'It is disabled in the configuration.');
    const off = this.#off();
    if (off) return this.#rest('disabled', off.message);
    if (!this.#current) this.#state = 'starting';
    await this.#guarded(async () => {
      const started = performance.now();
      const found = await this.#read();
      for (const text of this.#warnings(found.manifest))
        this.#deps.log({ pluginId: this.source.id, runId: '', level: 'warn', text });
      const version = this.#approved(found);
      if (version) return this.#switchTo(version, performance.now() - started);
      const change = this.#held ? differences(this.#deps.approvals.get(this.source.id), this.#held).join(' ') : '';
      this.#reason = new HostError('PLUGIN_HELD', { plugin: this.source.id, change }).message;
      if (!this.#current) this.#state = 'held';
      this.#deps.log({ pluginId: this.source.id, runId: '', level: 'warn', text: this.#reason });
    });
  }

  async #read(): Promise<Version> {
    const manifest = readManifest(this.source.directory);
    if (manifest.id !== this.source.id) {
      const problem = `it is "${manifest.id}", the configuration says "${this.source.id}"`;
      refuse('PLUGIN_MANIFEST_INVALID', { path: 'id', problem });
    }
    return { manifest, bundle: await loadBundle(this.source.directory, manifest.entry, this.source.bundled) };
  }

  /** What may run: what is on disk when it is approved, else the approved version that was kept, else nothing. */
  #approved(found: Version): Version | undefined {
    if (this.source.bundled || this.#deps.approveAll) return found;
    const approval = this.#deps.approvals.get(this.source.id);
    this.#held = approval?.sha256 === hashOf(found) ? undefined : found;
    return approval;
  }

  async #switchTo({ manifest, bundle }: Version, bundleMs: number): Promise<void> {
    checkSettings(manifest, this.config.settings);
    // Compiling them takes tens of milliseconds; those that ship with the host are known to be good.
    if (!this.source.bundled) checkToolSchemas(manifest);
    this.#checkServed(manifest);
    const next = this.#generation(manifest, bundle);
    await next.start();
    if (this.#stopping) return next.close(0);
    this.#generations += 1;
    const old = this.#current;
    this.#manifest = manifest;
    this.#current = next;
    this.#bundleMs = bundleMs;
    this.#state = 'serving';
    this.#reason = undefined;
    if (old) this.#retire(old);
    this.#toolsChanged(old?.is.manifest, manifest);
  }

  #warnings(manifest: Manifest): string[] {
    return [...manifestWarnings(manifest), ...grantWarnings(manifest, this.config.grants)];
  }

  #checkServed(manifest: Manifest): void {
    checkServed(manifest, this.#grantsOf(manifest), this.#deps.services);
  }

  #grantsOf(manifest: Manifest): Grants {
    return effectiveGrants(manifest, this.config.grants, this.source.bundled);
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#reason = isHostError(error) ? error.message : String(error);
      if (!this.#current) this.#state = 'failed';
      throw error;
    }
  }

  async run(handler: string, call: RunCall): Promise<unknown> {
    const generation = this.#current;
    if (!generation || this.#state !== 'serving') this.#refuse();
    const wait = this.#crashes.waitMs();
    if (wait > 0) refuse('PLUGIN_NOT_AVAILABLE', { plugin: this.source.id, waitMs: wait });
    if (!generation.activated?.handlers.includes(handler)) {
      refuse('PLUGIN_NOT_AVAILABLE', { plugin: `${this.source.id} (${handler})` });
    }
    const tool = generation.is.manifest.tools?.find(({ name }) => name === handler);
    if (tool) checkToolInput(tool, call.input);
    this.#runs += 1;
    const counted: BrokerDeps = {
      ...this.#deps,
      called: (settled) => {
        this.#calls += 1;
        this.#deps.called?.(settled);
      },
    };
    const ports = {
      ...this.#deps.services?.ports({ pluginId: this.source.id, authority: call.authority }),
      ...call.ports,
    };
    const answer = await performRun(generation, handler, { ...call, ports }, counted, this.#deps.times, () =>
      this.#recorder(generation, handler, call),
    );
    if (tool) checkToolOutput(this.source.id, tool, answer);
    return answer;
  }

  #recorder({ is }: Generation, handler: string, { runId, authority, input }: RunCall): RunRecorder | undefined {
    if (!this.config.record) return undefined;
    const { id, version } = is.manifest;
    const { features, settings } = is;
    const plugin = { id, version };
    const { taskId } = authority;
    const about = { plugin, handler, runId, at: this.#deps.now(), input, features, settings };
    return this.#deps.recordings?.begin({ ...about, ...(taskId === undefined ? {} : { taskId }) });
  }

  /** Forgets the crashes, and starts again what they ended. */
  async enable(): Promise<void> {
    await this.#forgive();
    if (this.#state !== 'serving') await this.load();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    // A version that is being started would outlive the stop.
    await this.#loading.catch(() => {});
    await this.#rest('stopped', undefined);
    await Promise.all(this.#retiring);
  }

  async memory(): Promise<number> {
    const slots = [...(this.#current?.slots ?? [])];
    const sizes = await Promise.all(slots.map((slot) => slot.execution.memory()));
    return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  }

  state(memoryBytes: number): PluginState {
    // Nothing serves yet: what is shown is the version that waits.
    const manifest = this.#manifest ?? this.#held?.manifest;
    const generation = this.#current;
    const warnings = manifest ? this.#warnings(manifest) : [];
    return {
      id: this.source.id,
      version: manifest?.version ?? '0.0.0',
      kind: manifest?.kind ?? 'helper',
      ...(manifest?.adapter ? { adapter: manifest.adapter } : {}),
      state: this.#state,
      ...(this.#reason ? { reason: this.#reason } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
      tier: this.#tier(),
      generation: this.#generations,
      grants: [...(generation?.is.grants.keys() ?? [])],
      runs: this.#runs,
      calls: this.#calls,
      crashes: this.#crashes.total,
      memoryBytes,
      ...(generation ? { activationMs: Math.round(generation.startMs), boot: bootOf(generation, this.#bundleMs) } : {}),
      ...(this.#held ? { held: this.#heldState(this.#held) } : {}),
    };
  }

  #heldState(held: Version): NonNullable<PluginState['held']> {
    const difference = differences(this.#deps.approvals.get(this.source.id), held);
    return { version: held.manifest.version, sha256: hashOf(held), difference };
  }

  #tier(): 'thread' | 'process' {
    return this.config.tier ?? (this.source.bundled ? 'thread' : 'process');
  }

  #generation(manifest: Manifest, bundle: Generation['is']['bundle']): Generation {
    const { limits } = this.config;
    const least = (key: 'memoryMb' | 'concurrentRuns' | 'runDeadlineMs') => limits[key] ?? manifest.limits[key];
    const { activationMs, unresponsiveMs } = this.#deps.times;
    const plugin = this.source.id;
    return new Generation({
      number: this.#generations + 1,
      manifest,
      bundle,
      grants: this.#grantsOf(manifest),
      features: { ...manifest.features, ...this.config.features },
      settings: this.config.settings,
      limits: {
        memoryMb: least('memoryMb'),
        concurrentRuns: least('concurrentRuns'),
        runDeadlineMs: least('runDeadlineMs'),
      },
      tier: this.#deps.tiers[this.#tier()],
      activationMs,
      unresponsiveMs,
      now: this.#deps.now,
      stray: (kind, text) =>
        this.#deps.log({ pluginId: plugin, runId: '', level: 'warn', text: `Thrown in a ${kind}: ${text}` }),
      crashed: (reason) => this.#crashed(reason),
    });
  }

  #crashed(reason: HostError): void {
    const { id } = this.source;
    this.#deps.log({ pluginId: id, runId: '', level: 'error', text: reason.message });
    if (!this.#crashes.add()) return;
    const summary = { crashes: this.#crashes.total, problem: reason.message };
    const disabled = new HostError('PLUGIN_DISABLED', { plugin: id, ...summary });
    this.#deps.log({ pluginId: id, runId: '', level: 'error', text: disabled.message });
    this.#deps.switchedOff.add(id, summary).catch((error: unknown) => {
      const text = `It is off, but only until the host starts again: ${String(error)}`;
      this.#deps.log({ pluginId: id, runId: '', level: 'error', text });
    });
    this.#rest('disabled', disabled.message).catch(() => {});
  }

  async #rest(state: 'disabled' | 'stopped', reason: string | undefined): Promise<void> {
    this.#state = state;
    this.#reason = reason;
    const old = this.#current;
    this.#current = undefined;
    this.#toolsChanged(old?.is.manifest, undefined);
    if (old) await this.#retire(old);
  }

  #toolsChanged(before: Manifest | undefined, now: Manifest | undefined): void {
    if (JSON.stringify(before?.tools ?? []) !== JSON.stringify(now?.tools ?? [])) this.#deps.toolsChanged?.();
  }

  #retire(old: Generation): Promise<void> {
    const closing = old.close(this.#deps.times.drainMs).catch(() => {});
    this.#retiring.add(closing);
    return closing.finally(() => this.#retiring.delete(closing));
  }

  /** Why it is switched off, if it is. */
  #off(): HostError | undefined {
    const summary = this.#deps.switchedOff.get(this.source.id);
    return summary && new HostError('PLUGIN_DISABLED', { plugin: this.source.id, ...summary });
  }

  #refuse(): never {
    const plugin = this.source.id;
    const off = this.#state === 'disabled' ? this.#off() : undefined;
    if (off) throw off;
    if (this.#state === 'held') refuse('PLUGIN_HELD', { plugin, change: 'it is not approved yet' });
    return refuse('PLUGIN_NOT_AVAILABLE', { plugin });
  }
}

function bootOf(generation: Generation, bundleMs: number): NonNullable<PluginState['boot']> {
  const { evaluateMs = 0, activateMs = 0 } = generation.activated ?? {};
  const [bundle, start, evaluate, activate] = [bundleMs, generation.startMs, evaluateMs, activateMs].map(Math.round);
  return { bundleMs: bundle ?? 0, startMs: start ?? 0, evaluateMs: evaluate ?? 0, activateMs: activate ?? 0 };
}
