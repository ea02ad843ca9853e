/** Targets of a caller, and fenced connections to them: this room's face to the rest of the host. */
import type { Fences } from '../../core/authorization/fences.ts';
import type { CredentialReference } from '../../core/credentials/reference.ts';
import type { Store } from '../../core/store/store.ts';
import { isHostError, refuse } from '../../sdk/contract/errors.ts';
import { type Bindings, createBindings } from './bindings.ts';
import {
  type ConnectorSet,
  type ConnectorSetConfig,
  createConnectorSet,
  type EmbeddedConnector,
} from './connector-set.ts';
import { fence } from './fence.ts';
import { createGrantWatch, type GrantWatchDeps } from './grant-watch.ts';
import {
  awaitingApproval,
  fetchGrants,
  type Owner,
  type ParsedGrants,
  parseGrants,
  permittedScopes,
  targetsIn,
} from './grants.ts';
import type { Connectors, TargetBinding } from './ports.ts';
import { toolSetOf } from './tool-sets.ts';

/** Connectors that one discovery asks. */
const MAX_CONNECTORS = 10;
/** Milliseconds between two requests for the same approval. */
export const APPROVAL_PAUSE_MS = 60_000;
const APPROVAL_WAIT_MS = 15_000;
const APPROVAL_TIMEOUT_MS = 20_000;

export interface ConnectorsDeps {
  store: Store;
  fences: Fences;
  config: ConnectorSetConfig;
  clock: { now(): number };
  resolve(reference: CredentialReference): Promise<string>;
  /** Calls again and again until the returned function is called; timers unless a test drives it. */
  every?: GrantWatchDeps['every'];
}

export interface ManagedConnectors extends Connectors {
  bindings: Bindings;
  register(device: EmbeddedConnector): void;
  unregister(id: string): void;
  /** The device's owner took a grant back: what runs under it is fenced at once. */
  grantWithdrawn(connectorId: string, grantId: string): void;
  reconfigure(config: ConnectorSetConfig): void;
  close(): Promise<void>;
}

export function createConnectors(deps: ConnectorsDeps): ManagedConnectors {
  const { store, fences, config, clock, resolve } = deps;
  const set: ConnectorSet = createConnectorSet({ config, fences, resolve });
  const bindings = createBindings({ store, fences, config: config.bindings });
  const asked = new Map<string, number>();
  const watch = createGrantWatch({
    fences,
    every: deps.every ?? byTimer,
    granted: async ({ connectorId, agentId }, signal) =>
      permittedScopes(await grantsOf(connectorId, agentId, signal), clock.now()),
  });

  async function grantsOf(connectorId: string, agentId: string, signal: AbortSignal): Promise<ParsedGrants> {
    const connector = set.open(connectorId, agentId);
    const authorization = await connector.authorization();
    const body = await fetchGrants(connector.dispatcher, connector.url, connector.resourcesPath, authorization, signal);
    return parseGrants(connector.adapter, body);
  }

  /** Asks the owner of the one waiting device, at most once a minute. @returns whether it was asked. */
  async function askApproval(connectorId: string, owner: Owner, parsed: ParsedGrants): Promise<boolean> {
    const grant = awaitingApproval(parsed);
    if (!grant) return false;
    const key = JSON.stringify([owner.principalId, owner.conversationId, connectorId, grant.id]);
    if (clock.now() - (asked.get(key) ?? Number.NEGATIVE_INFINITY) < APPROVAL_PAUSE_MS) return false;
    for (const [old, at] of asked) if (clock.now() - at >= APPROVAL_PAUSE_MS) asked.delete(old);
    asked.set(key, clock.now());
    const args = { device_id: grant.deviceId, grant_id: grant.id, wait_ms: APPROVAL_WAIT_MS };
    const { client } = set.open(connectorId, owner.agentId);
    await client.call('browser_request_access', args, { timeoutMs: APPROVAL_TIMEOUT_MS }).catch(() => {});
    return true;
  }

  async function discoverAt(connectorId: string, owner: Owner, writable: boolean, signal: AbortSignal) {
    let parsed = await grantsOf(connectorId, owner.agentId, signal);
    if (writable && (await askApproval(connectorId, owner, parsed))) {
      parsed = await grantsOf(connectorId, owner.agentId, signal);
    }
    const found = targetsIn(parsed, connectorId, owner, clock.now());
    await bindings.keepDiscovered(owner, connectorId, found, clock.now());
    return found;
  }

  return {
    bindings,
    register: (device) => set.register(device),
    unregister: (id) => set.unregister(id),
    grantWithdrawn: watch.withdrawn,
    reconfigure(next) {
      set.reconfigure(next);
      bindings.reconfigure(next.bindings);
    },

    async discover({ agentId, principalId, conversationId, writable = false }, signal) {
      const owner = { agentId, principalId, conversationId };
      const shared = set
        .list()
        .filter((one) => one.shared && set.usable(one.id, agentId))
        .slice(0, MAX_CONNECTORS);
      const answers = await Promise.allSettled(shared.map((one) => discoverAt(one.id, owner, writable, signal)));
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const manual = bindings.manual(owner).filter((one) => set.usable(one.connectorId, agentId));
      const failed = answers.find((answer) => answer.status === 'rejected');
      // One server that is down hides nothing of the others; with nothing else to show, its code is the answer.
      if (failed && found.length === 0 && manual.length === 0) throw failed.reason;
      const all = [...manual, ...found.filter((one) => !manual.some((other) => other.id === one.id))];
      if (all.length > 100) refuse('BROWSER_BINDING_LIMIT', { count: all.length });
      return all;
    },

    resolve({ agentId, principalId, conversationId }, id): TargetBinding | undefined {
      const binding = bindings.find({ agentId, principalId, conversationId }, id);
      return binding && set.usable(binding.connectorId, agentId) ? binding : undefined;
    },

    async open(binding, checkpoint, allowed, settled) {
      const { client } = openOrRefuse(set, binding);
      // Reads for evidence are short and end with their lease; a run goes on for minutes.
      const unfollow = checkpoint ? watch.follow(binding) : () => {};
      return fence({
        ...{ tools: toolSetOf(binding.adapter), scope: binding.scope, checkpoint, settled, allowed },
        send: (name, args, signal) => client.call(name, args, { signal }),
        close: async () => unfollow(),
      });
    },

    async close() {
      watch.close();
      await set.close();
    },
  };
}

function openOrRefuse(set: ConnectorSet, binding: TargetBinding) {
  try {
    return set.open(binding.connectorId, binding.agentId);
  } catch (error) {
    if (isHostError(error, 'BROWSER_CONNECTOR_UNAVAILABLE')) throw error;
    return refuse('BROWSER_CONNECTOR_UNAVAILABLE', { connector: binding.connectorId });
  }
}

const byTimer: GrantWatchDeps['every'] = (ms, call) => {
  const timer = setInterval(call, ms).unref();
  return () => clearInterval(timer);
};
