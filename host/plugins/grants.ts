/** What a plugin may do: its manifest's wishes, cut down by the operator. The task's authority cuts again, per run. */
import type { CapabilityId, CapabilityRequest, Manifest } from '../../sdk/contract/manifest.ts';
import type { Narrowing } from './capabilities/capability.ts';
import type { Grant, PluginConfig } from './config.ts';

export interface Granted {
  readonly request: CapabilityRequest;
  readonly narrowing: Narrowing;
}
export type Grants = ReadonlyMap<CapabilityId, Granted>;

/**
 * @param grants the operator's, or undefined when there are none in the config.
 * @param bundled a plugin that ships with the host is granted its manifest when the config says nothing.
 */
export function effectiveGrants(manifest: Manifest, grants: PluginConfig['grants'], bundled: boolean): Grants {
  const effective = new Map<CapabilityId, Granted>();
  for (const [id, request] of requested(manifest)) {
    const grant: Grant = grants ? (grants[id] ?? false) : bundled;
    if (grant === false) continue;
    const given = grant === true ? {} : grant;
    effective.set(id, {
      request,
      narrowing: {
        ...both('tools', request.tools, given.tools),
        ...both('methods', request.methods, given.methods),
        // A host on the manifest's list is a wish; only the operator's list opens the network.
        ...(given.hosts
          ? { hosts: narrower(request.hosts, given.hosts) }
          : bundled && request.hosts
            ? { hosts: request.hosts }
            : {}),
        ...(given.budget !== undefined ? { budget: given.budget } : {}),
        ...(given.credentialFile !== undefined ? { credentialFile: given.credentialFile } : {}),
      },
    });
  }
  return effective;
}

export function requested(manifest: Manifest): [CapabilityId, CapabilityRequest][] {
  return Object.entries(manifest.capabilities).filter(([, request]) => request !== undefined) as [
    CapabilityId,
    CapabilityRequest,
  ][];
}

const both = <K extends string>(key: K, wish: readonly string[] | undefined, given: readonly string[] | undefined) =>
  wish || given ? ({ [key]: narrower(wish, given) } as { [P in K]: readonly string[] }) : {};

function narrower(wish: readonly string[] | undefined, given: readonly string[] | undefined): readonly string[] {
  if (!wish) return given ?? [];
  return given ? wish.filter((name) => given.includes(name)) : wish;
}
