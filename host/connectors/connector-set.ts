/** The connectors that exist now: those of the configuration, those of bindings with an endpoint, and embedded devices. */
import { Agent } from 'undici';
import type { Fences } from '../../core/authorization/fences.ts';
import type { CredentialReference } from '../../core/credentials/reference.ts';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import type { BrowserBinding, ConnectorConfig } from './config.ts';
import { createMcpClient, type McpClient } from './mcp-client.ts';

export interface Connector {
  id: string;
  url: URL;
  adapter: 'browser' | 'computer';
  resourcesPath: string;
  agents: readonly string[] | '*';
  /** Whether every user of an enabled agent discovers its approved targets. */
  shared: boolean;
  /** The whole header value, read at the moment of use. */
  authorization(): Promise<string>;
  /** Changes when the connector becomes another one. */
  fingerprint: string;
}

/** A device of this host, or another server that is not in the configuration file. */
export interface EmbeddedConnector {
  id: string;
  url: string;
  adapter: 'browser' | 'computer';
  secret(): string | Promise<string>;
  agents?: readonly string[] | '*';
}

export interface OpenConnector extends Connector {
  client: McpClient;
  dispatcher: Agent;
}

export interface ConnectorSetConfig {
  connectors: readonly ConnectorConfig[];
  bindings: readonly BrowserBinding[];
}

export interface ConnectorSet {
  list(): Connector[];
  /** @throws BROWSER_CONNECTOR_UNAVAILABLE when there is none of that id for the agent. */
  open(id: string, agentId: string): OpenConnector;
  usable(id: string, agentId: string): boolean;
  reconfigure(config: ConnectorSetConfig): void;
  register(embedded: EmbeddedConnector): void;
  unregister(id: string): void;
  close(): Promise<void>;
}

export interface ConnectorSetDeps {
  config: ConnectorSetConfig;
  fences: Fences;
  resolve(reference: CredentialReference): Promise<string>;
}

/** Connections to one server; more calls wait. */
const MAX_CONNECTIONS = 16;

export function createConnectorSet({ config, fences, resolve }: ConnectorSetDeps): ConnectorSet {
  const connectors = new Map<string, Connector>();
  const embedded = new Map<string, Connector>();
  const open = new Map<string, OpenConnector>();

  const bearer = (reference: CredentialReference) => async () => `Bearer ${await credential(resolve, reference)}`;

  function fromConfig(entry: ConnectorConfig): Connector {
    return {
      id: entry.id,
      url: new URL(entry.url),
      adapter: entry.resourcesPath === '/v1/computer-grants' ? 'computer' : 'browser',
      resourcesPath: entry.resourcesPath,
      agents: entry.agents,
      shared: entry.sharing === 'agent',
      authorization: bearer(entry.authorization),
      fingerprint: JSON.stringify([entry.url, entry.authorization, entry.agents, entry.resourcesPath, entry.sharing]),
    };
  }

  function fromBinding(binding: BrowserBinding): Connector[] {
    const { endpoint, apiKeyFile, apiKeyEnv } = binding;
    if (endpoint === undefined) return [];
    const reference = apiKeyFile !== undefined ? { file: apiKeyFile } : { env: apiKeyEnv ?? '' };
    return [
      {
        ...{ id: endpointConnectorId(binding.id), url: new URL(endpoint), adapter: 'browser', shared: false },
        ...{ resourcesPath: '/v1/grants', agents: [binding.agentId], authorization: bearer(reference) },
        fingerprint: JSON.stringify([endpoint, reference]),
      },
    ];
  }

  function replaceAll(next: ConnectorSetConfig): void {
    const wanted = [...next.connectors.map(fromConfig), ...next.bindings.flatMap(fromBinding)];
    for (const [id, before] of connectors) {
      if (wanted.find((one) => one.id === id)?.fingerprint === before.fingerprint) continue;
      connectors.delete(id);
      drop(id);
    }
    for (const connector of wanted) if (!connectors.has(connector.id)) connectors.set(connector.id, connector);
  }

  /** Running work on it ends; nobody waits for what is still on its way. */
  function drop(id: string): void {
    fences.withdraw(`connector:${id}`);
    const gone = open.get(id);
    open.delete(id);
    if (gone) void gone.client.close().finally(() => gone.dispatcher.close());
  }

  const find = (id: string, agentId: string): Connector | undefined => {
    const connector = embedded.get(id) ?? connectors.get(id);
    return connector && (connector.agents === '*' || connector.agents.includes(agentId)) ? connector : undefined;
  };

  replaceAll(config);

  return {
    list: () => [...embedded.values(), ...connectors.values()],
    usable: (id, agentId) => find(id, agentId) !== undefined,
    open(id, agentId) {
      const connector = find(id, agentId) ?? refuse('BROWSER_CONNECTOR_UNAVAILABLE', { connector: id });
      const known = open.get(id);
      if (known) return known;
      const dispatcher = new Agent({ connections: MAX_CONNECTIONS, connect: { timeout: 10_000 } });
      const client = createMcpClient({ dispatcher, url: connector.url, authorization: connector.authorization });
      const opened = { ...connector, dispatcher, client };
      open.set(id, opened);
      return opened;
    },
    reconfigure: replaceAll,
    register(device) {
      const { id, adapter, agents = '*' } = device;
      drop(id);
      embedded.set(id, {
        ...{ id, adapter, agents, url: new URL(device.url), shared: true, fingerprint: device.url },
        resourcesPath: adapter === 'computer' ? '/v1/computer-grants' : '/v1/grants',
        authorization: async () => `Bearer ${await device.secret()}`,
      });
    },
    unregister(id) {
      embedded.delete(id);
      drop(id);
    },
    async close() {
      const all = [...open.values()];
      open.clear();
      await Promise.all(all.map((one) => one.client.close().finally(() => one.dispatcher.destroy())));
    },
  };
}

export const endpointConnectorId = (bindingId: string): string => `endpoint:${bindingId}`;

async function credential(resolve: ConnectorSetDeps['resolve'], reference: CredentialReference): Promise<string> {
  try {
    return await resolve(reference);
  } catch (error) {
    throw new HostError('BROWSER_CREDENTIAL_UNAVAILABLE', {}, { cause: error });
  }
}
