/** Runs a plugin for a test: inline, where a debugger can follow it, or in the same sandboxed worker that the host uses. */
import { Broker, type BrokerDeps } from '../../host/plugins/broker.ts';
import { type Bundle, bundlePlugin } from '../../host/plugins/bundle/bundle.ts';
import { Generation } from '../../host/plugins/generation.ts';
import { effectiveGrants } from '../../host/plugins/grants.ts';
import { type Failure, failureOf } from '../../host/plugins/peer.ts';
import type { RunAuthority, RunPorts } from '../../host/plugins/ports.ts';
import { checkManifest, readManifest } from '../../host/plugins/read-manifest.ts';
import { RunRecorder } from '../../host/plugins/recording/recorder.ts';
import { type Replayed, replayRun } from '../../host/plugins/recording/replay.ts';
import { performRun } from '../../host/plugins/run.ts';
import { threadTier } from '../../host/plugins/thread-tier.ts';
import { isCode } from '../contract/codes.ts';
import { HostError } from '../contract/errors.ts';
import type { Manifest } from '../contract/manifest.ts';
import { type Recording, readRecording } from '../contract/recording.ts';
import type { DefinedPlugin, ManifestLike } from '../plugin/define.ts';
import { createFacets } from '../plugin/facets.ts';

export interface RunPluginOptions {
  /** The plugin's folder, or its manifest and what its entry file exports. A worker needs the folder. */
  plugin: string | { manifest: ManifestLike; entry: DefinedPlugin };
  /** The adapter's input, or the arguments of a contributed tool. */
  input?: unknown;
  /** What the task's authority covers. A port that is absent is a capability that is denied. */
  ports?: RunPorts;
  tier?: 'inline' | 'worker';
  /** `run` of a controller, or the name of a tool. */
  handler?: string;
  signal?: AbortSignal;
  /** Operator grants by capability; default: everything that plugin.json asks for. */
  grants?: Parameters<typeof effectiveGrants>[1];
  features?: Record<string, boolean>;
  settings?: Record<string, unknown>;
  deadlineMs?: number;
  /** Milliseconds that a cancelled run has to return. */
  graceMs?: number;
  authority?: RunAuthority;
  store?: BrokerDeps['store'];
  /** Is given a recording of the run when it has ended, to be replayed by `replayPlugin`. In a worker only. */
  record?(recording: Recording): void;
  /** Lines that the plugin logged. */
  log?(line: { level: string; text: string }): void;
}

/** @returns the recorder to hand to the run, and what to call after it. */
function recording(options: RunPluginOptions, { id, version, features }: Manifest) {
  const { record, handler = 'run', input, settings = {} } = options;
  if (!record) return { finish: () => {} };
  const lines: string[] = [];
  const about = {
    plugin: { id, version },
    handler,
    runId: 'test-run',
    at: Date.now(),
    input,
    features: { ...features, ...options.features },
    settings,
  };
  const recorder = new RunRecorder(about, (line) => void lines.push(line));
  return { recorder, finish: () => record(readRecording(lines.join(''))) };
}

/** Repeats a recorded run with the plugin in a folder, in a real worker and offline (see `replayRun`). */
export async function replayPlugin(plugin: string, recording: Recording): Promise<Replayed> {
  const manifest = readManifest(plugin);
  return replayRun({ recording, manifest, bundle: await bundlePlugin(plugin, manifest.entry) });
}

const nobody: RunAuthority = { principalId: 'test', agentId: 'test', conversationId: 'test' };

/**
 * @returns what the run returned, as the host would receive it (through JSON).
 * @throws HostError with a `PLUGIN_…` code, or `PLUGIN_FAILED` with what the plugin threw.
 */
export async function runPlugin(options: RunPluginOptions): Promise<unknown> {
  const manifest =
    typeof options.plugin === 'string' ? readManifest(options.plugin) : checkManifest(options.plugin.manifest);
  return options.tier === 'worker' ? inWorker(options, manifest) : inline(options, manifest);
}

async function inWorker(options: RunPluginOptions, manifest: Manifest): Promise<unknown> {
  if (typeof options.plugin !== 'string') throw new TypeError('A worker runs a plugin from its folder.');
  const bundle = await bundlePlugin(options.plugin, manifest.entry);
  const generation = new Generation({
    number: 1,
    manifest,
    bundle,
    grants: effectiveGrants(manifest, options.grants, true),
    features: { ...manifest.features, ...options.features },
    settings: options.settings ?? {},
    // One run: no spare is started.
    limits: { ...manifest.limits, concurrentRuns: 1 },
    tier: threadTier,
    activationMs: 10_000,
    unresponsiveMs: 5000,
    now: Date.now,
    stray: (kind, text) => options.log?.({ level: 'warn', text: `Thrown in a ${kind}: ${text}` }),
    crashed: () => {},
  });
  await generation.start();
  try {
    const call = {
      runId: 'test-run',
      input: options.input,
      ports: options.ports ?? {},
      authority: options.authority ?? nobody,
      signal: options.signal ?? new AbortController().signal,
      ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
    };
    const graces = { cancelMs: options.graceMs ?? 5000, deadlineMs: options.graceMs ?? 1000 };
    const { recorder, finish } = recording(options, manifest);
    try {
      return await performRun(generation, options.handler ?? 'run', call, brokerDeps(options), graces, () => recorder);
    } finally {
      finish();
    }
  } finally {
    await generation.close(0);
  }
}

async function inline(options: RunPluginOptions, manifest: Manifest): Promise<unknown> {
  if (options.record) throw new TypeError('A run is recorded in a worker: its order of events is the one that counts.');
  const plugin = typeof options.plugin === 'string' ? await evaluated(options.plugin, manifest) : options.plugin.entry;
  const cancelled = new AbortController();
  const stop = (): void => cancelled.abort(new HostError('RUN_CANCELLED'));
  options.signal?.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(
    stop,
    Math.min(options.deadlineMs ?? Number.POSITIVE_INFINITY, manifest.limits.runDeadlineMs),
  );
  const grants = effectiveGrants(manifest, options.grants, true);
  const run = {
    runId: 'test-run',
    pluginId: manifest.id,
    authority: options.authority ?? nobody,
    ports: options.ports ?? {},
  };
  let violation: string | undefined;
  const broker = new Broker({ ...run, cancelled: cancelled.signal }, grants, brokerDeps(options), (reason) => {
    violation ??= reason;
  });
  const need = (capability: 'clock' | 'random'): void => {
    if (!grants.has(capability)) throw new HostError('CAPABILITY_DENIED', { capability });
  };
  const facets = createFacets({
    call: (name, ...args) => broker.dispatch(name, args),
    now: () => {
      need('clock');
      return Date.now();
    },
    sleep: async (ms) => {
      need('clock');
      await sleep(ms, cancelled.signal);
    },
    uuid: () => {
      need('random');
      return crypto.randomUUID();
    },
    number: () => {
      need('random');
      return Math.random();
    },
  });
  const about = {
    pluginId: manifest.id,
    features: { ...manifest.features, ...options.features },
    settings: options.settings ?? {},
  };
  // As in a worker, facets are read from the context and not copied out of it by a spread.
  const ctx = Object.assign(Object.create(facets) as object, {
    signal: cancelled.signal,
    run: { id: run.runId, ...about },
  });
  const name = options.handler ?? 'run';
  const handler = name === 'run' ? plugin.run : plugin.tools?.[name];
  if (!handler) throw new HostError('PLUGIN_NOT_AVAILABLE', { plugin: `${manifest.id} (${name})` });
  try {
    await plugin.activate?.(about);
    const text = JSON.stringify(await handler(options.input, ctx as never));
    if (violation) throw new HostError('PLUGIN_PROTOCOL', { plugin: manifest.id, problem: violation });
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    if (violation) throw new HostError('PLUGIN_PROTOCOL', { plugin: manifest.id, problem: violation });
    throw pluginFailed(manifest.id, failureOf(error), error);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', stop);
    broker.end();
    await plugin.deactivate?.();
  }
}

function pluginFailed(plugin: string, failure: Failure, cause: unknown): HostError {
  const code = isCode(failure.code) ? { cause: failure.code } : {};
  return new HostError('PLUGIN_FAILED', { plugin, problem: failure.message, ...code }, { cause });
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

async function evaluated(directory: string, manifest: Manifest): Promise<DefinedPlugin> {
  const bundle: Bundle = await bundlePlugin(directory, manifest.entry);
  const module = { exports: {} as { default?: DefinedPlugin } };
  new Function('module', 'exports', bundle.code)(module, module.exports);
  if (!module.exports.default) throw new TypeError(`${manifest.entry} has no default export.`);
  return module.exports.default;
}

function brokerDeps(options: RunPluginOptions): BrokerDeps {
  return {
    ...(options.store ? { store: options.store } : {}),
    log: ({ level, text }) => options.log?.({ level, text }),
    now: Date.now,
  };
}
