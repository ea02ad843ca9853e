/**
 * Binding a tab by hand (administrators): the tab is looked at under a short lease first, and only a tab that can be
 * observed right now is bound. This never asks for new consent, and decides nothing by a model.
 */
import * as v from 'valibot';
import type { Authorization } from '../../core/authorization/authorization.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import { Observation } from '../../sdk/devices/remote-browser-contract.ts';
import { isObject, readReply } from '../../sdk/devices/remote-browser-reply.ts';
import type { StoredBinding } from './bindings.ts';
import type { ManagedConnectors } from './connectors.ts';
import type { Owner } from './grants.ts';
import type { FencedTools, TargetBinding } from './ports.ts';

const LOOK_TIMEOUT_MS = 10_000;
const RELEASE_TIMEOUT_MS = 3000;

export interface NewBinding {
  connectorId: string;
  name: string;
  scope: { device_id: string; grant_id: string; tab_id: string };
}

export interface BindingRoutes {
  list(owner: Owner): TargetBinding[];
  /** @throws ACCESS_DENIED when the tab cannot be observed or access ended meanwhile; nothing is stored then. */
  create(owner: Owner, binding: NewBinding, signal: AbortSignal): Promise<TargetBinding>;
  /** Ends what runs under it. @throws ACCESS_DENIED when there is none of that id for this owner. */
  remove(owner: Owner, bindingId: string): Promise<void>;
}

export interface BindingRoutesDeps {
  connectors: ManagedConnectors;
  authorization: Authorization;
  clock: { now(): number };
  ids: { uuid(): string };
}

export function createBindingRoutes({ connectors, authorization, clock, ids }: BindingRoutesDeps): BindingRoutes {
  const mayBind = (owner: Owner) => authorization.may(owner, 'admin');

  return {
    list: (owner) => connectors.bindings.all(ownerOf(owner)).map(view),

    async create(caller, { connectorId, name, scope }, signal) {
      const owner = ownerOf(caller);
      if (!mayBind(owner)) refuse('ACCESS_DENIED', {});
      const binding: StoredBinding = {
        ...{ id: `bound-${ids.uuid()}`, adapter: 'browser', name, ...owner, connectorId, scope: { ...scope } },
        ...{ origin: 'manual', createdAt: clock.now() },
      };
      const permit = authorization.fences.permit([...authorization.groundsOf(owner), `connector:${connectorId}`]);
      try {
        const allowed = () => permit.holds() && mayBind(owner);
        const tools = await connectors.open(binding, undefined, allowed).catch(() => refuse('ACCESS_DENIED', {}));
        await look(tools, binding.scope, ids, AbortSignal.any([signal, permit.signal]));
        if (!allowed()) refuse('ACCESS_DENIED', {});
        await connectors.bindings.add(binding);
        return view(binding);
      } finally {
        permit.release();
      }
    },

    async remove(caller, bindingId) {
      const owner = ownerOf(caller);
      if (!mayBind(owner) || !(await connectors.bindings.remove(owner, bindingId))) refuse('ACCESS_DENIED', {});
    },
  };
}

/** One leased observation. An occupied or revoked tab fails closed. */
async function look(
  tools: FencedTools,
  scope: Record<string, string>,
  ids: { uuid(): string },
  signal: AbortSignal,
): Promise<void> {
  const within = () => AbortSignal.any([signal, AbortSignal.timeout(LOOK_TIMEOUT_MS)]);
  const call = async (name: string, args: Record<string, unknown>) => {
    const reading = readReply(
      await tools.call(name, { ...scope, ...args }, within()).catch(() => refuse('ACCESS_DENIED', {})),
    );
    return reading.kind === 'value' ? reading.value : refuse('ACCESS_DENIED', {});
  };
  const acquired = await call('browser_task_acquire', { operation_id: ids.uuid() });
  const token = acquired.lease_token ?? (isObject(acquired.result) ? acquired.result.lease_token : undefined);
  if (typeof token !== 'string') refuse('ACCESS_DENIED', {});
  try {
    const page = await call('page_observe', { lease_token: token, detail: 'full' });
    if (!v.is(Observation, page)) refuse('ACCESS_DENIED', {});
  } finally {
    const release = { ...scope, lease_token: token, operation_id: ids.uuid() };
    await tools.call('browser_task_release', release, AbortSignal.timeout(RELEASE_TIMEOUT_MS)).catch(() => {});
  }
}

const ownerOf = ({ agentId, principalId, conversationId }: Owner): Owner => ({ agentId, principalId, conversationId });

/** No endpoint, no secret, no page content. */
function view({
  id,
  adapter,
  name,
  agentId,
  principalId,
  conversationId,
  connectorId,
  scope,
}: TargetBinding): TargetBinding {
  return { id, adapter, name, agentId, principalId, conversationId, connectorId, scope };
}
