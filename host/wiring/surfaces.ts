/** The surfaces, bound to the rooms behind them. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { DependencyContainer } from 'tsyringe';
import { LOCAL_OWNER } from '../../core/authorization/authorization.ts';
import { createApi } from '../api/api.ts';
import { createSessions } from '../api/sessions.ts';
import { createTickets } from '../api/tickets.ts';
import { createBindingRoutes } from '../connectors/binding-routes.ts';
import {
  API,
  AUTHORIZATION,
  CONFIG,
  CONNECTORS,
  DEVICES,
  JEV,
  LOG,
  PLUGINS,
  SESSIONS,
  STATE,
  STORE,
  SURROUNDINGS,
  TASKS,
  USAGE,
} from '../tokens.ts';
import { accessOf } from './access.ts';
import { adminReads } from './admin.ts';
import { contributedPorts } from './contributed-ports.ts';
import { BROWSER_CONNECTOR, deviceOwner } from './device.ts';
import { metricsOf } from './metrics.ts';
import { once } from './registry.ts';

export function registerSurfaces(container: DependencyContainer): void {
  once(container, SESSIONS, (from) => createSessions(from.resolve(STORE), { now: Date.now, uuid: randomUUID }));
  once(container, API, (from) => {
    const config = from.resolve(CONFIG);
    const authorization = from.resolve(AUTHORIZATION);
    const { port, version } = from.resolve(SURROUNDINGS);
    const plugins = from.resolve(PLUGINS);
    const access = accessOf(from);
    return createApi({
      config: () => ({ ...config.current.gateway.api, ...(port !== undefined && { port }) }),
      access,
      store: from.resolve(STORE),
      sessions: from.resolve(SESSIONS),
      tickets: createTickets(access, { now: Date.now, randomBytes }),
      // The owner of the data directory may act as any of its keys, since it may also replace them.
      owner(keyId) {
        const principal = keyId === undefined ? LOCAL_OWNER : authorization.principal(`api:${keyId}`);
        return principal && { principal };
      },
      jev: from.resolve(JEV),
      jevImages: () => config.current.gateway.jev?.images.enabled === true,
      usage: from.resolve(USAGE),
      tasks: from.resolve(TASKS),
      receipts: from.resolve(TASKS),
      bindings: createBindingRoutes({
        connectors: from.resolve(CONNECTORS),
        authorization,
        clock: { now: Date.now },
        ids: { uuid: randomUUID },
      }),
      plugins: {
        list: () => plugins.tools(),
        call: (pluginId, tool, args, caller, signal) => {
          const { principalId, agentId, conversationId } = caller;
          return plugins.callContributed(pluginId, tool, args, {
            runId: randomUUID(),
            ports: contributedPorts(from, caller, pluginId),
            authority: { principalId, agentId, conversationId },
            signal,
          });
        },
      },
      admin: adminReads(from),
      device() {
        const running = from.resolve(DEVICES).browser();
        return (
          running &&
          deviceOwner(running, (grantId) => from.resolve(CONNECTORS).grantWithdrawn(BROWSER_CONNECTOR, grantId))
        );
      },
      health: { ready: () => from.resolve(STATE).ready, metrics: () => metricsOf(from) },
      log: from.resolve(LOG),
      now: Date.now,
      randomBytes,
      uuid: randomUUID,
      version,
    });
  });
}
