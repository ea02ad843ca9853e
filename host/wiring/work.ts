/** What carries tasks out: plugins, the helpers of their runs, connectors, and the task service itself. */
import { randomUUID } from 'node:crypto';
import type { DependencyContainer } from 'tsyringe';
import { noTasks } from '../absent-rooms.ts';
import type { HostConfig } from '../config/schema.ts';
import { createConnectors } from '../connectors/connectors.ts';
import { createPluginHost } from '../plugins/plugin-host.ts';
import { createThinkingPort } from '../plugins/thinking-port.ts';
import {
  AUTHORIZATION,
  CONFIG,
  CONNECTORS,
  CREDENTIALS,
  LOG,
  PLUGINS,
  STORE,
  TASKS,
  TEXT_MODEL,
  THINKING,
  THINKING_MODEL,
} from '../tokens.ts';
import { once } from './registry.ts';

/** Model calls that one run may cause when the operator set no number. */
const THINKING_CALLS_PER_RUN = 100;

export function registerWork(container: DependencyContainer): void {
  once(container, PLUGINS, (from) => {
    const log = from.resolve(LOG);
    return createPluginHost({
      config: from.resolve(CONFIG).current.plugins,
      store: from.resolve(STORE),
      log: ({ pluginId, runId, level, text }) => log[level]({ plugin: pluginId, run: runId }, text),
      now: Date.now,
    });
  });
  once(container, THINKING, (from) => {
    const jev = () => from.resolve(CONFIG).current.gateway.jev;
    return createThinkingPort({
      plugins: from.resolve(PLUGINS),
      provider: from.resolve(THINKING_MODEL),
      textProvider: from.resolve(TEXT_MODEL),
      hooks: () => jev()?.browser?.hooks ?? {},
      maxCallsPerRun: () => jev()?.thinking?.maxCallsPerRun ?? THINKING_CALLS_PER_RUN,
      ids: randomUUID,
    });
  });
  once(container, CONNECTORS, (from) =>
    createConnectors({
      store: from.resolve(STORE),
      fences: from.resolve(AUTHORIZATION).fences,
      config: connectorConfig(from.resolve(CONFIG).current),
      clock: { now: Date.now },
      resolve: (reference) => from.resolve(CREDENTIALS).resolve(reference),
    }),
  );
  once(container, TASKS, () => noTasks());
}

export function connectorConfig(config: HostConfig) {
  return { connectors: config.gateway.connectors, bindings: config.gateway.jev?.browser?.bindings ?? [] };
}
