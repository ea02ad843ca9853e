/** All plugins of the host: those that ship with it and those that the config adds. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { ContributedTool } from '../../sdk/contract/manifest.ts';
import { createApprovals } from './approvals.ts';
import { clearStorage } from './capabilities/storage.ts';
import { PluginConfig, type PluginsConfig } from './config.ts';
import { createHttpFetch } from './http-client.ts';
import { Plugin, type PluginDeps, type PluginSource, type PluginTimes } from './plugin.ts';
import type { PluginHost, PluginState, RunCall } from './ports.ts';
import { processTier } from './process-tier.ts';
import { CANCEL_GRACE_MS, DEADLINE_GRACE_MS } from './run.ts';
import { createSwitchedOff } from './switched-off.ts';
import { threadTier } from './thread-tier.ts';
import { watchFolder } from './watch-folder.ts';

const defaultTimes: PluginTimes = {
  activationMs: 10_000,
  unresponsiveMs: 5000,
  drainMs: 60_000,
  cancelMs: CANCEL_GRACE_MS,
  deadlineMs: DEADLINE_GRACE_MS,
};
/** How often the plugins' memory is looked at for `list`. */
const MEMORY_EVERY_MS = 5000;

export interface PluginHostDeps
  extends Omit<PluginDeps, 'tiers' | 'times' | 'approvals' | 'switchedOff' | 'approveAll'> {
  config: PluginsConfig;
  /** Folder with one folder per plugin that ships with the host. Default: the host's own. */
  bundledDirectory?: string;
  tiers?: Partial<PluginDeps['tiers']>;
  times?: Partial<PluginTimes>;
  /** Plugins from a path run as they are, and are loaded again when their files change. */
  dev?: boolean;
}

export interface RunningPluginHost extends PluginHost {
  /** Starts again a plugin that crashes had disabled. */
  enable(pluginId: string): Promise<PluginState>;
  /** Approves the version that is held and switches to it. @throws PLUGIN_NOT_HELD. */
  approve(pluginId: string): Promise<PluginState>;
  /** Follows a changed config: starts, stops and loads again what changed; everything else is left alone. */
  reconfigure(config: PluginsConfig): Promise<void>;
  /** Loads a plugin's files again; what serves goes on until the new version has started. */
  reload(pluginId: string): Promise<void>;
}

export function createPluginHost(deps: PluginHostDeps): RunningPluginHost {
  const pluginDeps: PluginDeps = {
    fetch: createHttpFetch(),
    ...deps,
    approvals: createApprovals(deps.store),
    switchedOff: createSwitchedOff(deps.store),
    approveAll: deps.dev === true,
    tiers: { thread: deps.tiers?.thread ?? threadTier, process: deps.tiers?.process ?? processTier },
    times: { ...defaultTimes, ...deps.times },
  };
  const bundledDirectory = deps.bundledDirectory ?? fileURLToPath(new URL('../../plugins/', import.meta.url));
  const plugins = new Map<string, Plugin>();
  const add = (source: PluginSource, config: PluginsConfig): Plugin => {
    const plugin = new Plugin(source, config[source.id] ?? v.parse(PluginConfig, {}), pluginDeps);
    plugins.set(source.id, plugin);
    return plugin;
  };
  for (const source of sources(bundledDirectory, deps.config)) add(source, deps.config);
  const sizes = new Map<string, number>();
  const watchers = new Map<string, () => void>();
  let watch: NodeJS.Timeout | undefined;

  const need = (pluginId: string): Plugin =>
    plugins.get(pluginId) ?? refuse('PLUGIN_NOT_AVAILABLE', { plugin: pluginId });
  const list = (): PluginState[] =>
    [...plugins.values()].map((plugin) => plugin.state(sizes.get(plugin.source.id) ?? 0));
  const measure = async (): Promise<void> => {
    for (const [id, plugin] of plugins) sizes.set(id, await plugin.memory());
  };

  const report = (plugin: Plugin, error: unknown): void =>
    deps.log({
      pluginId: plugin.source.id,
      runId: '',
      level: 'error',
      text: isHostError(error) ? error.message : String(error),
    });
  /** In development: files that change are loaded again. */
  const follow = (plugin: Plugin): void => {
    const { id, directory, bundled } = plugin.source;
    if (!deps.dev || bundled || watchers.has(id)) return;
    watchers.set(
      id,
      watchFolder(directory, () => {
        plugin.load().then(
          () => deps.log({ pluginId: id, runId: '', level: 'info', text: 'Loaded again.' }),
          (error) => report(plugin, error),
        );
      }),
    );
  };
  const drop = async (plugin: Plugin): Promise<void> => {
    const { id } = plugin.source;
    watchers.get(id)?.();
    watchers.delete(id);
    plugins.delete(id);
    await plugin.stop();
  };
  /** A plugin that left the configuration leaves nothing behind. One that is only disabled keeps what it stored. */
  const forget = async (kept: Iterable<string>): Promise<void> => {
    if (!deps.store) return;
    await clearStorage(deps.store, new Set(kept)).catch((error: unknown) =>
      deps.log({
        pluginId: '',
        runId: '',
        level: 'warn',
        text: `The storage of removed plugins stays: ${String(error)}`,
      }),
    );
  };
  const stateOf = (pluginId: string): PluginState => need(pluginId).state(sizes.get(pluginId) ?? 0);

  return {
    async start() {
      await forget(plugins.keys());
      const loaded = await Promise.allSettled([...plugins.values()].map((plugin) => plugin.load()));
      watch = setInterval(measure, MEMORY_EVERY_MS).unref();
      for (const [at, plugin] of [...plugins.values()].entries()) {
        follow(plugin);
        const outcome = loaded[at];
        if (outcome?.status !== 'rejected') continue;
        report(plugin, outcome.reason);
        if (plugin.config.required) throw outcome.reason;
      }
      return list();
    },
    run: async (pluginId, call) => need(pluginId).run('run', call),
    controllerFor(adapter) {
      for (const [id, plugin] of plugins) {
        if (plugin.serving && plugin.manifest?.kind === 'controller' && plugin.manifest.adapter === adapter) return id;
      }
      return undefined;
    },
    tools: () =>
      [...plugins].flatMap(([pluginId, plugin]): (ContributedTool & { pluginId: string })[] =>
        plugin.serving ? (plugin.manifest?.tools ?? []).map((tool) => ({ ...tool, pluginId })) : [],
      ),
    callContributed: async (pluginId, tool, args, call) =>
      need(pluginId).run(tool, { ...call, input: args } as RunCall),
    list,
    async enable(pluginId) {
      await need(pluginId).enable();
      return stateOf(pluginId);
    },
    async approve(pluginId) {
      await need(pluginId).approve();
      return stateOf(pluginId);
    },
    async reconfigure(config) {
      const wanted = new Map([...sources(bundledDirectory, config)].map((source) => [source.id, source]));
      const gone = [...plugins.values()].filter(({ source }) => !same(source, wanted.get(source.id)));
      await Promise.all(gone.map(drop));
      if (gone.length > 0) await forget(wanted.keys());
      const changed = [...wanted.values()].map(async (source) => {
        const known = plugins.get(source.id);
        const next = config[source.id] ?? v.parse(PluginConfig, {});
        // What failed may find now what it lacked.
        if (known && same(known.config, next) && !known.failed) return;
        const plugin = known ?? add(source, config);
        follow(plugin);
        await (known ? known.reconfigure(next) : plugin.load()).catch((error) => report(plugin, error));
      });
      await Promise.all(changed);
    },
    reload: (pluginId) => need(pluginId).load(),
    async stop() {
      clearInterval(watch);
      for (const close of watchers.values()) close();
      await Promise.all([...plugins.values()].map((plugin) => plugin.stop()));
      deps.recordings?.close();
    },
  };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function* sources(bundledDirectory: string, config: PluginsConfig): Generator<PluginSource> {
  const bundled = existsSync(bundledDirectory) ? readdirSync(bundledDirectory) : [];
  for (const name of bundled) {
    const directory = join(bundledDirectory, name);
    if (!config[name]?.path && existsSync(join(directory, 'plugin.json'))) yield { id: name, directory, bundled: true };
  }
  for (const [id, { path }] of Object.entries(config)) {
    if (path) yield { id, directory: path, bundled: false };
    // An entry for a plugin that does not exist is shown as one that failed, not passed over.
    else if (!bundled.includes(id)) yield { id, directory: join(bundledDirectory, id), bundled: true };
  }
}
