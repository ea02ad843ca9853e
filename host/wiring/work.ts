/** What carries tasks out: plugins, the helpers of their runs, connectors, and the task service itself. */
import { randomUUID } from 'node:crypto';
import type { DependencyContainer } from 'tsyringe';
import { taskTables } from '../../core/receipts/task-record.ts';
import type { HostConfig } from '../config/schema.ts';
import { createConnectors } from '../connectors/connectors.ts';
import { createPluginHost } from '../plugins/plugin-host.ts';
import { createRecordings } from '../plugins/recording/recordings.ts';
import { createThinkingPort } from '../plugins/thinking-port.ts';
import { createTaskService } from '../tasks/task-service.ts';
import {
  API,
  AUTHORIZATION,
  CONFIG,
  CONNECTORS,
  CREDENTIALS,
  DEVICES,
  JEV,
  LOG,
  PLUGINS,
  STATE,
  STORE,
  SURROUNDINGS,
  TASKS,
  TEXT_MODEL,
  THINKING,
  THINKING_MODEL,
} from '../tokens.ts';
import { createEmbeddedDevices } from './device.ts';
import { pluginServices, THINKING_CALLS_PER_RUN } from './plugin-services.ts';
import { once } from './registry.ts';

export function registerWork(container: DependencyContainer): void {
  once(container, PLUGINS, (from) => {
    const log = from.resolve(LOG);
    return createPluginHost({
      recordings: recordingsOf(from),
      services: pluginServices(from),
      config: from.resolve(CONFIG).current.plugins,
      store: from.resolve(STORE),
      log: ({ pluginId, runId, level, text }) => log[level]({ plugin: pluginId, run: runId }, text),
      now: Date.now,
      dev: from.resolve(SURROUNDINGS).dev === true,
      toolsChanged: () => {
        if (from.resolve(STATE).ready) from.resolve(API).toolsChanged();
      },
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
  once(container, DEVICES, (from) => createEmbeddedDevices(from));
  once(container, TASKS, (from) => {
    const thinking = from.resolve(THINKING);
    const log = from.resolve(LOG);
    return createTaskService({
      store: from.resolve(STORE),
      authorization: from.resolve(AUTHORIZATION),
      targets: from.resolve(CONNECTORS),
      plugins: from.resolve(PLUGINS),
      jev: from.resolve(JEV),
      thinking,
      features: () => features(from.resolve(CONFIG).current),
      retention: () => from.resolve(CONFIG).current.retention,
      clock: { now: Date.now },
      ids: { uuid: randomUUID },
      log: (event, details) => log.warn(details, event),
    });
  });
}

function recordingsOf(from: DependencyContainer) {
  const tasks = from.resolve(STORE).table(taskTables.tasks);
  const log = from.resolve(LOG);
  return createRecordings({
    dataDir: from.resolve(SURROUNDINGS).dataDir,
    taskExists: (taskId) => tasks.get([taskId]) !== undefined,
    failed: (problem) => log.warn({ problem }, 'a run is not recorded'),
  });
}

export function connectorConfig(config: HostConfig) {
  return { connectors: config.gateway.connectors, bindings: config.gateway.jev?.browser?.bindings ?? [] };
}

/** The documented switches: browser tasks are opted into, computer tasks are on unless switched off. */
function features({ gateway: { jev } }: HostConfig) {
  const { browserTasks, computerTasks, browserSteps, computerSteps } = jev?.features ?? {};
  return {
    browserTasks: browserTasks?.enabled === true && jev?.browser !== undefined,
    computerTasks: computerTasks?.enabled !== false,
    browserSteps: browserSteps?.enabled === true,
    computerSteps: computerSteps?.enabled === true,
    // The compatible upstream has no images.
    images: jev?.images.enabled === true && jev.provider === 'typesafe',
  };
}
