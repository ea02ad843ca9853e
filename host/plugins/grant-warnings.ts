/**
 * Names in grants that give nothing: mistyped tools, capabilities that the plugin does not ask for.
 *
 * A grant can only narrow, so a wrong name is never a danger; it is a plugin that is refused in the middle of a task. So it
 * is said where an operator looks: at the start and reload, in `plugin list`, in `doctor`.
 */
import type { CapabilityId, Manifest } from '../../sdk/contract/manifest.ts';
import { browserLeaseTools, browserMutations, browserReads } from '../../sdk/devices/remote-browser-contract.ts';
import { COMPUTER_MUTATION, computerLeaseTools, computerReads } from '../../sdk/devices/remote-computer-contract.ts';
import type { PluginConfig } from './config.ts';
import { requested } from './grants.ts';

/** Tools of the targets that a task can have. */
const targetTools: ReadonlySet<string> = new Set([
  ...browserLeaseTools,
  ...browserMutations,
  ...browserReads,
  ...computerLeaseTools,
  ...computerReads,
  COMPUTER_MUTATION,
]);

/** Lists that mean something, by capability. */
const lists: { readonly [K in CapabilityId]?: readonly ('tools' | 'hosts' | 'methods')[] } = {
  'tools.call': ['tools'],
  'http.fetch': ['hosts'],
  'cdp.call': ['methods'],
};

/** One sentence for each, with the path in plugin.json. */
export function manifestWarnings(manifest: Manifest): string[] {
  return requested(manifest).flatMap(([id, request]) => [
    ...misplaced(id, request).map((list) => `capabilities["${id}"].${list} in plugin.json means nothing there.`),
    ...(id === 'tools.call' ? (request.tools ?? []) : [])
      .filter((name) => !targetTools.has(name))
      .map((name) => `capabilities["${id}"].tools in plugin.json names "${name}", which no target offers.`),
  ]);
}

/** One sentence for each, with the path in the configuration. */
export function grantWarnings(manifest: Manifest, grants: PluginConfig['grants']): string[] {
  const asked = new Map(requested(manifest));
  return Object.entries(grants ?? {}).flatMap(([key, grant]) => {
    const id = key as CapabilityId;
    const path = `plugins.${manifest.id}.grants["${id}"]`;
    if (grant === undefined || grant === false) return [];
    const request = asked.get(id);
    if (!request) return [`${path} gives what the plugin does not ask for.`];
    if (grant === true)
      return id === 'http.fetch' ? [`${path} needs a list of hosts; without one it gives nothing.`] : [];
    return [
      ...misplaced(id, grant).map((list) => `${path}.${list} means nothing there.`),
      ...(lists[id] ?? []).flatMap((list) =>
        (grant[list] ?? [])
          .filter((name) =>
            request[list] ? !request[list].includes(name) : list === 'tools' && !targetTools.has(name),
          )
          .map((name) =>
            request[list]
              ? `${path}.${list} names "${name}", which the plugin does not ask for.`
              : `${path}.${list} names "${name}", which no target offers.`,
          ),
      ),
    ];
  });
}

const misplaced = (
  id: CapabilityId,
  of: { tools?: unknown; hosts?: unknown; methods?: unknown },
): ('tools' | 'hosts' | 'methods')[] =>
  (['tools', 'hosts', 'methods'] as const).filter((list) => of[list] !== undefined && !lists[id]?.includes(list));
