/** All plugins of the host: those that ship with it and those that the config adds. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { refuse } from '../../sdk/contract/errors.ts';
import type { ContributedTool } from '../../sdk/contract/manifest.ts';
import { PluginConfig, type PluginsConfig } from './config.ts';
import { Plugin, type PluginDeps, type PluginSource, type PluginTimes } from './plugin.ts';
import type { PluginHost, PluginState, RunCall } from './ports.ts';
import { processTier } from './process-tier.ts';
import { CANCEL_GRACE_MS, DEADLINE_GRACE_MS } from './run.ts';
import { threadTier } from './thread-tier.ts';

const defaultTimes: PluginTimes = {
  activationMs: 5000,
  unresponsiveMs: 5000,
  drainMs: 60_000,
  cancelMs: CANCEL_GRACE_MS,
  deadlineMs: DEADLINE_GRACE_MS,
};
/** How often the plugins' memory is looked at for `list`. */
const MEMORY_EVERY_MS = 5000;

export interface PluginHostDeps extends Omit<PluginDeps, 'tiers' | 'times'> {
  config: PluginsConfig;
  /** Folder with one folder per plugin that ships with the host. Default: the host's own. */
  bundledDirectory?: string;
  tiers?: Partial<PluginDeps['tiers']>;
  times?: Partial<PluginTimes>;
}

export interface RunningPluginHost extends PluginHost {
  /** Starts again a plugin that crashes had disabled. */
  enable(pluginId: string): Promise<void>;
  /** Loads a plugin's files again; what serves goes on until the new version has started. */
  reload(pluginId: string): Promise<void>;
}

export function createPluginHost(deps: PluginHostDeps): RunningPluginHost {
  const pluginDeps: PluginDeps = {
    ...deps,
    tiers: { thread: deps.tiers?.thread ?? threadTier, process: deps.tiers?.process ?? processTier },
    times: { ...defaultTimes, ...deps.times },
  };
  const bundledDirectory = deps.bundledDirectory ?? fileURLToPath(new URL('../../plugins/', import.meta.url));
  const plugins = new Map<string, Plugin>();
  for (const source of sources(bundledDirectory, deps.config)) {
    const config = deps.config[source.id] ?? v.parse(PluginConfig, {});
    plugins.set(source.id, new Plugin(source, config, pluginDeps));
  }
  const sizes = new Map<string, number>();
  let watch: NodeJS.Timeout | undefined;

  const need = (pluginId: string): Plugin =>
    plugins.get(pluginId) ?? refuse('PLUGIN_NOT_AVAILABLE', { plugin: pluginId });
  const list = (): PluginState[] =>
    [...plugins.values()].map((plugin) => plugin.state(sizes.get(plugin.source.id) ?? 0));
  const measure = async (): Promise<void> => {
    for (const [id, plugin] of plugins) sizes.set(id, await plugin.memory());
  };

  return {
    async start() {
      const loaded = await Promise.allSettled([...plugins.values()].map((plugin) => plugin.load()));
      watch = setInterval(measure, MEMORY_EVERY_MS).unref();
      const failed = [...plugins.values()].flatMap((plugin, at) => {
        const outcome = loaded[at];
        return outcome?.status === 'rejected' ? [{ plugin, reason: outcome.reason }] : [];
      });
      for (const { plugin, reason } of failed) {
        deps.log({ pluginId: plugin.source.id, runId: '', level: 'error', text: String(reason?.message ?? reason) });
        if (plugin.config.required) throw reason;
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
    enable: (pluginId) => need(pluginId).enable(),
    reload: (pluginId) => need(pluginId).load(),
    async stop() {
      clearInterval(watch);
      await Promise.all([...plugins.values()].map((plugin) => plugin.stop()));
    },
  };
}

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
