/**
 * Powers that the host itself has for plugins, beside those that the caller of a run brings along.
 *
 * A plugin that is granted something which this host cannot do is refused when it is approved or started, by name, and not
 * at its first call in the middle of a task.
 */
import { refuse } from '../../sdk/contract/errors.ts';
import type { CapabilityId, Manifest } from '../../sdk/contract/manifest.ts';
import type { Grants } from './grants.ts';
import type { RunAuthority, RunPorts } from './ports.ts';

export interface HostServices {
  /** Why a plugin of this kind cannot have the capability on this host as it is set up now; undefined when it can. */
  missing(capability: CapabilityId, kind: Manifest['kind']): string | undefined;
  /** Ports of one run. Made for each run, so that a port may keep the run's own budget. */
  ports(run: { pluginId: string; authority: RunAuthority }): RunPorts;
}

/** Capabilities that no host of this version serves. */
export const unserved: ReadonlyMap<CapabilityId, string> = new Map([
  ['image', 'this version of the host does not work on pictures'],
  ['speech', 'this version of the host has no voice'],
]);

/** @throws PLUGIN_CAPABILITY_UNAVAILABLE for the first that was granted and cannot be served. */
export function checkServed(manifest: Manifest, grants: Grants, services: HostServices | undefined): void {
  if (!services) return;
  for (const capability of grants.keys()) {
    const problem = unserved.get(capability) ?? services.missing(capability, manifest.kind);
    if (problem !== undefined) refuse('PLUGIN_CAPABILITY_UNAVAILABLE', { plugin: manifest.id, capability, problem });
  }
}
