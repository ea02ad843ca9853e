/**
 * Which target belongs to whom: bindings of the configuration, bindings that an administrator made over the API, and
 * bindings that discovery found. Each belongs to exactly one agent, principal and conversation; for everybody else it
 * does not exist. No credential is stored with any of them.
 */
import type { Fences } from '../../core/authorization/fences.ts';
import type { Store } from '../../core/store/store.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { BrowserBinding } from './config.ts';
import { endpointConnectorId } from './connector-set.ts';
import type { Owner } from './grants.ts';
import type { TargetBinding } from './ports.ts';

/** Bindings that one host keeps at the same time, of each origin. */
export const MAX_BINDINGS = 100;

export interface StoredBinding extends TargetBinding {
  origin: 'discovered' | 'manual';
  createdAt: number;
}

export interface Bindings {
  find(owner: Owner, id: string): TargetBinding | undefined;
  /** Bindings of the configuration and the API, for this owner. */
  manual(owner: Owner): TargetBinding[];
  /** The same, and what discovery found last. */
  all(owner: Owner): TargetBinding[];
  /** Remembers what discovery found now; what it no longer finds is forgotten. */
  keepDiscovered(owner: Owner, connectorId: string, found: readonly TargetBinding[], now: number): Promise<void>;
  add(binding: StoredBinding): Promise<void>;
  /** @returns false when there is none of that id for this owner. */
  remove(owner: Owner, id: string): Promise<boolean>;
  reconfigure(config: readonly BrowserBinding[]): void;
}

export function createBindings(deps: { store: Store; fences: Fences; config: readonly BrowserBinding[] }): Bindings {
  const { store, fences } = deps;
  const table = store.table<StoredBinding>({ name: 'bindings', version: 1 });
  let configured = deps.config;
  const prefix = ({ agentId, principalId, conversationId }: Owner) => [agentId, principalId, conversationId];
  const stored = (owner: Owner) => [...table.range({ prefix: prefix(owner) })].map((row) => row.value);
  const fromConfig = (owner: Owner) => configured.filter((one) => isOwner(one, owner)).map(asTarget);

  return {
    find: (owner, id) => fromConfig(owner).find((one) => one.id === id) ?? table.get([...prefix(owner), id]),
    manual: (owner) => [...fromConfig(owner), ...stored(owner).filter((one) => one.origin === 'manual')],
    all: (owner) => [...fromConfig(owner), ...stored(owner)],
    async keepDiscovered(owner, connectorId, found, now) {
      const known = stored(owner).filter((one) => one.origin === 'discovered' && one.connectorId === connectorId);
      const same = (a: TargetBinding, b: TargetBinding) => a.id === b.id && a.name === b.name;
      const gone = known.filter((old) => !found.some((one) => one.id === old.id));
      const fresh = found.filter((one) => !known.some((old) => same(old, one)));
      if (gone.length === 0 && fresh.length === 0) return;
      for (const old of gone) fences.withdraw(`binding:${old.id}`);
      await store.commit([
        ...gone.map((old) => table.remove([...prefix(owner), old.id])),
        ...fresh.map((one) => table.put([...prefix(owner), one.id], { ...one, origin: 'discovered', createdAt: now })),
      ]);
    },
    async add(binding) {
      if (table.count() >= MAX_BINDINGS * 10 || stored(binding).length >= MAX_BINDINGS)
        refuse('BROWSER_BINDING_LIMIT', {});
      await store.commit([table.put([...prefix(binding), binding.id], binding)]);
    },
    async remove(owner, id) {
      if (table.get([...prefix(owner), id])?.origin !== 'manual') return false;
      fences.withdraw(`binding:${id}`);
      await store.commit([table.remove([...prefix(owner), id])]);
      return true;
    },
    reconfigure(next) {
      for (const old of configured) {
        const now = next.find((one) => one.id === old.id);
        if (!now || JSON.stringify(now) !== JSON.stringify(old)) fences.withdraw(`binding:${old.id}`);
      }
      configured = next;
    },
  };
}

function isOwner(binding: Owner, owner: Owner): boolean {
  return (
    binding.agentId === owner.agentId &&
    binding.principalId === owner.principalId &&
    binding.conversationId === owner.conversationId
  );
}

function asTarget(binding: BrowserBinding): TargetBinding {
  const { id, name, agentId, principalId, conversationId, scope, fields, budget } = binding;
  const limits = Object.fromEntries(Object.entries(budget).filter(([, limit]) => limit !== undefined));
  return {
    ...{ id, name, agentId, principalId, conversationId, scope, fields, budget: limits as Record<string, number> },
    adapter: 'browser',
    connectorId: binding.connectorId ?? endpointConnectorId(id),
  };
}
