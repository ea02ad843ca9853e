/**
 * The one composition root: every room is made here, from factories by token, and nowhere else. Rooms know each other by
 * the ports that they declare.
 *
 * Order: store, authorization, evaluation, plugins and devices, connectors, tasks, surfaces. Stopping goes the other way.
 */
import 'reflect-metadata';
import { type DependencyContainer, container as root } from 'tsyringe';
import { openLmdbStore } from '../core/store/lmdb-store.ts';
import { refuse } from '../sdk/contract/errors.ts';
import type { ConfigSource } from './config/config-file.ts';
import { makeDataDirectory, ownerSocket } from './data-directory.ts';
import {
  API,
  AUTHORIZATION,
  CONFIG,
  CONNECTORS,
  CREDENTIALS,
  DECISIONS,
  DEVICES,
  DISPATCHER,
  LOG,
  PLUGINS,
  PRIVATE_NAMES,
  PROGRAMS,
  STATE,
  STORE,
  SURROUNDINGS,
  type Surroundings,
  TASKS,
  USAGE,
} from './tokens.ts';
import { registerEvaluation } from './wiring/evaluation.ts';
import { privateNames, registerFoundation } from './wiring/foundation.ts';
import { registerPrograms } from './wiring/programs.ts';
import { registerSurfaces } from './wiring/surfaces.ts';
import { connectorConfig, registerWork } from './wiring/work.ts';

export interface Host {
  /** Starts every room and begins to answer. @returns the address. */
  start(): Promise<string>;
  /** Settles what runs, then closes everything, the embedded device too. */
  stop(): Promise<void>;
}

export interface HostOptions extends Surroundings {
  /** Where the log goes. */
  log: NodeJS.WritableStream;
}

/** @throws STORE_UNAVAILABLE, STORE_NEWER or STORE_DAMAGED when the data directory cannot be used. */
export async function createHost(config: ConfigSource, options: HostOptions): Promise<Host> {
  makeDataDirectory(options.dataDir);
  const store = await openLmdbStore({ directory: options.dataDir });
  const container = root.createChildContainer();
  container.register(SURROUNDINGS, { useValue: options });
  container.register(CONFIG, { useValue: config });
  container.register(STORE, { useValue: store });
  container.register(STATE, { useValue: { ready: false, stopping: false } });
  registerFoundation(container, options.log);
  registerEvaluation(container);
  registerWork(container);
  registerPrograms(container);
  registerSurfaces(container);
  follow(container);
  return { start: () => start(container), stop: () => stop(container) };
}

async function start(container: DependencyContainer): Promise<string> {
  const log = container.resolve(LOG);
  const { dataDir } = container.resolve(SURROUNDINGS);
  const { socket } = container.resolve(CONFIG).current.gateway.api;
  // First of all, so that a supervisor sees a process that lives and is not ready; until then only /healthz and /readyz serve.
  const api = container.resolve(API);
  const url = await api.listen();
  // Tasks that waited go on as soon as they may, so what they work with is there first.
  const [plugins] = await Promise.all([container.resolve(PLUGINS).start(), container.resolve(DEVICES).start()]);
  // Stopped while it started: what is stopped already must not be started after it.
  if (container.resolve(STATE).stopping) refuse('NOT_READY');
  for (const plugin of plugins)
    if (plugin.state !== 'serving')
      log.warn({ plugin: plugin.id, state: plugin.state, reason: plugin.reason }, 'a plugin does not serve');
  await container.resolve(TASKS).start();
  if (container.resolve(STATE).stopping) refuse('NOT_READY');
  await listenForOwner(container, ownerSocket(dataDir));
  if (socket !== undefined) await api.listenOn(socket, 'shared');
  container.resolve(STATE).ready = true;
  log.info({ url }, 'ready');
  return url;
}

/** The local owner's door is a convenience: a path that is too long for a socket does not keep the host from serving. */
async function listenForOwner(container: DependencyContainer, path: string): Promise<void> {
  await container
    .resolve(API)
    .listenOn(path, 'owner')
    .catch((error: unknown) => container.resolve(LOG).warn({ path, error: String(error) }, 'no socket for the owner'));
}

/** Every part is stopped, whatever becomes of the others: one that never started must not keep the rest from ending. */
async function stop(container: DependencyContainer): Promise<void> {
  const state = container.resolve(STATE);
  state.ready = false;
  state.stopping = true;
  const steps: readonly (() => unknown)[] = [
    () => container.resolve(CONFIG).close(),
    () => container.resolve(API).close(),
    () => container.resolve(TASKS).stop(),
    () => container.resolve(PROGRAMS).stop(),
    () => container.resolve(PLUGINS).stop(),
    () => container.resolve(DEVICES).stop(),
    () => container.resolve(CONNECTORS).close(),
    () => container.resolve(USAGE).flush(),
    () => container.resolve(DECISIONS).flush(),
    () => container.resolve(DISPATCHER).close(),
    () => container.resolve(STORE).close(),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      container.resolve(LOG).error({ error: String(error) }, 'a part of the host could not be stopped in order');
    }
  }
}

/** Rooms read the live configuration; what they keep of an older one is withdrawn here. */
function follow(container: DependencyContainer): void {
  const config = container.resolve(CONFIG);
  const log = container.resolve(LOG);
  config.onChange((now, changes) => {
    container.resolve(PRIVATE_NAMES).add(privateNames(config));
    container.resolve(CREDENTIALS).forgetCommands();
    container.resolve(AUTHORIZATION).reconfigure({ keys: now.gateway.api.keys, agents: now.agents });
    container.resolve(CONNECTORS).reconfigure(connectorConfig(now));
    container
      .resolve(PLUGINS)
      .reconfigure(now.plugins)
      .catch((error: unknown) => log.error({ error: String(error) }, 'the changed plugins could not be followed'));
    log.setLevel(now.log.level);
    log.info({ changed: changes.map(({ path }) => path) }, 'the configuration changed');
    const waiting = changes.filter(({ needsRestart }) => needsRestart).map(({ path }) => path);
    if (waiting.length > 0) log.warn({ changed: waiting }, 'these changes take effect when the host is restarted');
  });
  config.onInvalid((problem) => {
    log.error({ problems: problem.problems }, 'the changed configuration is not valid; the host keeps the last one');
  });
}
