/**
 * Which version of a plugin the operator has approved.
 *
 * Threat: a plugin's files change after somebody looked at them: an update, a dependency, an attacker with write access to
 * its folder. So the approved version itself is kept, manifest and code, and is what runs; anything else on disk is held
 * until it is approved, with the difference in words. The name of a version is a hash over its manifest and files.
 */
import { createHash } from 'node:crypto';
import type { Store, Table } from '../../core/store/store.ts';
import type { Manifest } from '../../sdk/contract/manifest.ts';
import type { Bundle } from './bundle/bundle.ts';
import { requested } from './grants.ts';

export interface Version {
  manifest: Manifest;
  bundle: Bundle;
}

export interface Approval extends Version {
  sha256: string;
  approvedAt: number;
}

export interface Approvals {
  get(pluginId: string): Approval | undefined;
  /** Durable once it resolves. */
  approve(version: Version, at: number): Promise<void>;
}

/** Without a store, approvals last as long as the host. */
export function createApprovals(store: Store | undefined): Approvals {
  const table: Table<Approval> | undefined = store?.table<Approval>({ name: 'plugin-approvals', version: 1 });
  const memory = new Map<string, Approval>();
  return {
    get: (pluginId) => (table ? table.get([pluginId]) : memory.get(pluginId)),
    async approve(version, at) {
      const approval = { ...version, sha256: hashOf(version), approvedAt: at };
      memory.set(version.manifest.id, approval);
      if (store && table) await store.commit([table.put([version.manifest.id], approval)]);
    },
  };
}

export function hashOf({ manifest, bundle }: Version): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(manifest)))
    .update('\n')
    .update(bundle.sha256)
    .digest('hex');
}

/** What an operator must know before approving `next`, one sentence each. */
export function differences(before: Version | undefined, next: Version): string[] {
  const lines: string[] = [];
  const [old, now] = [before?.manifest, next.manifest];
  if (!old) lines.push(`It is new: version ${now.version}.`);
  else if (old.version !== now.version) lines.push(`Version ${old.version} becomes ${now.version}.`);
  if (before && before.bundle.sha256 !== next.bundle.sha256) {
    lines.push(`Its code changed: ${before.bundle.sha256.slice(0, 12)} becomes ${next.bundle.sha256.slice(0, 12)}.`);
  }
  if (now.kind === 'controller' && now.adapter !== old?.adapter)
    lines.push(`It carries out tasks on targets of the kind "${now.adapter}".`);
  if (old && old.kind !== now.kind) lines.push(`A ${old.kind} becomes a ${now.kind}.`);
  const earlier = new Map(old ? requested(old) : []);
  for (const [id, request] of requested(now)) {
    const was = earlier.get(id);
    earlier.delete(id);
    const names = (['tools', 'hosts', 'methods'] as const).flatMap((list) =>
      (request[list] ?? []).filter((name) => !was?.[list]?.includes(name)),
    );
    const widened = was && (['tools', 'hosts', 'methods'] as const).find((list) => was[list] && !request[list]);
    if (!was)
      lines.push(
        `It asks for ${id}${names.length ? ` (${names.join(', ')})` : ''}, because: ${quoted(request.reason)}`,
      );
    else if (widened)
      lines.push(`It asks for ${id} without its list of ${widened}, because: ${quoted(request.reason)}`);
    else if (names.length)
      lines.push(`It asks for more of ${id} (${names.join(', ')}), because: ${quoted(request.reason)}`);
  }
  for (const id of earlier.keys()) lines.push(`It no longer asks for ${id}.`);
  const tools = new Set((old?.tools ?? []).map(({ name }) => name));
  for (const tool of now.tools ?? [])
    if (!tools.has(tool.name)) lines.push(`It offers agents the tool ${tool.name}: ${quoted(tool.title)}.`);
  return lines.length > 0 ? lines : ['Its manifest changed.'];
}

/** The plugin's own words, with an end that they cannot fake. */
const quoted = (words: string): string => `“${words.replace(/[“”]/g, '"')}”`;

/** The same text for the same manifest, whatever the order of its keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
