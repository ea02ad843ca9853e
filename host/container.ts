/**
 * The one composition root: every room is made here, from factories by token, and nowhere else. Rooms know each other by
 * the ports that they declare.
 *
 * Order: store, authorization, evaluation, plugins, connectors, tasks, surfaces, device. Stopping goes the other way.
 */
import 'reflect-metadata';
import { randomBytes, randomUUID } from 'node:crypto';
import { type DependencyContainer, type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { Agent } from 'undici';
import { createAuthorization, LOCAL_OWNER } from '../core/authorization/authorization.ts';
import { PrivateNames, privateNamesIn } from '../core/credentials/private-names.ts';
import { createRedactor } from '../core/credentials/redaction.ts';
import { createCredentialResolver } from '../core/credentials/resolver.ts';
import { jevPrivateNames } from '../core/jev/config.ts';
import { createDecisionLog } from '../core/jev/decisions.ts';
import { createJevService } from '../core/jev/evaluation-service.ts';
import { localSources } from '../core/jev/local-sources.ts';
import { createUsageLog } from '../core/jev/usage.ts';
import { openLmdbStore } from '../core/store/lmdb-store.ts';
import { noPlugins, noTasks } from './absent-rooms.ts';
import { createApi } from './api/api.ts';
import { createSessions } from './api/sessions.ts';
import { createTickets } from './api/tickets.ts';
import type { ConfigSource } from './config/config-file.ts';
import { makeDataDirectory, ownerSocket } from './data-directory.ts';
import { createLog } from './log.ts';
import {
  API,
  AUTHORIZATION,
  CONFIG,
  CREDENTIALS,
  DECISIONS,
  DISPATCHER,
  JEV,
  LOG,
  PLUGINS,
  PRIVATE_NAMES,
  REDACTOR,
  SESSIONS,
  STORE,
  SURROUNDINGS,
  type Surroundings,
  TASKS,
  USAGE,
} from './tokens.ts';

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
  const once = <T>(token: InjectionToken<T>, make: (from: DependencyContainer) => T) =>
    container.register(token, { useFactory: instanceCachingFactory(make) });

  container.register(SURROUNDINGS, { useValue: options });
  container.register(CONFIG, { useValue: config });
  container.register(STORE, { useValue: store });
  once(REDACTOR, () => createRedactor());
  once(LOG, (from) => createLog(options.log, from.resolve(REDACTOR), config.current.log.level));
  once(PRIVATE_NAMES, () => new PrivateNames(privateNames(config)));
  once(CREDENTIALS, (from) =>
    createCredentialResolver({
      env: options.env,
      privateNames: from.resolve(PRIVATE_NAMES),
      redactor: from.resolve(REDACTOR),
    }),
  );
  once(DISPATCHER, () => new Agent({ connections: 64, pipelining: 1 }));
  once(AUTHORIZATION, () =>
    createAuthorization({ keys: config.current.gateway.api.keys, agents: config.current.agents }),
  );
  once(USAGE, (from) => createUsageLog({ store, ids: randomUUID, onError: reporter(from, 'usage was not recorded') }));
  once(DECISIONS, (from) =>
    createDecisionLog({ store, ids: randomUUID, onError: reporter(from, 'a decision was not recorded') }),
  );
  once(JEV, (from) =>
    createJevService({
      config: () => config.current.gateway.jev,
      agent: (id) => from.resolve(AUTHORIZATION).agent(id),
      sources: localSources({
        credentials: from.resolve(CREDENTIALS),
        env: options.env,
        dataDir: options.dataDir,
      }),
      dispatcher: from.resolve(DISPATCHER),
      clock: { now: Date.now, elapsed: () => performance.now() },
      ids: randomUUID,
      usage: from.resolve(USAGE),
      decisions: from.resolve(DECISIONS),
      log: (event) => from.resolve(LOG).warn(event, 'an evaluation failed'),
    }),
  );
  once(PLUGINS, () => noPlugins());
  once(TASKS, () => noTasks());
  once(SESSIONS, () => createSessions(store, { now: Date.now, uuid: randomUUID }));
  const state = { ready: false };
  once(API, (from) => {
    const authorization = from.resolve(AUTHORIZATION);
    const access = {
      authenticate: authorization.authenticate,
      principal: authorization.principal,
      agents: () => config.current.agents.map(({ id }) => id),
    };
    const plugins = from.resolve(PLUGINS);
    return createApi({
      config: () => ({
        ...config.current.gateway.api,
        ...(options.port !== undefined && { port: options.port }),
      }),
      access,
      store,
      sessions: from.resolve(SESSIONS),
      tickets: createTickets(access, { now: Date.now, randomBytes }),
      // The owner of the data directory may act as any of its keys, since it may also replace them.
      owner(keyId) {
        const principal = keyId === undefined ? LOCAL_OWNER : authorization.principal(`api:${keyId}`);
        return principal && { principal };
      },
      jev: from.resolve(JEV),
      usage: from.resolve(USAGE),
      tasks: from.resolve(TASKS),
      plugins: {
        list: () => plugins.tools(),
        call: (pluginId, tool, args, caller, signal) =>
          plugins.callContributed(pluginId, tool, args, {
            runId: randomUUID(),
            ports: {},
            authority: {
              principalId: caller.principalId,
              agentId: caller.agentId,
              conversationId: caller.conversationId,
            },
            signal,
          }),
      },
      health: { ready: () => state.ready, metrics: () => metricsOf(from) },
      log: from.resolve(LOG),
      now: Date.now,
      randomBytes,
      uuid: randomUUID,
      version: options.version,
    });
  });

  follow(container);
  return {
    async start() {
      const log = container.resolve(LOG);
      for (const plugin of await container.resolve(PLUGINS).start())
        if (plugin.state !== 'serving')
          log.warn({ plugin: plugin.id, state: plugin.state, reason: plugin.reason }, 'a plugin does not serve');
      await container.resolve(TASKS).start();
      const api = container.resolve(API);
      const url = await api.listen();
      await api.listenOn(ownerSocket(options.dataDir), 'owner');
      const { socket } = config.current.gateway.api;
      if (socket !== undefined) await api.listenOn(socket, 'shared');
      state.ready = true;
      log.info({ url }, 'ready');
      return url;
    },
    async stop() {
      state.ready = false;
      config.close();
      await container.resolve(API).close();
      await container.resolve(TASKS).stop();
      await container.resolve(PLUGINS).stop();
      await container.resolve(USAGE).flush();
      await container.resolve(DECISIONS).flush();
      await container.resolve(DISPATCHER).close();
      await store.close();
    },
  };
}

/** Rooms read the live configuration; what they keep of an older one is withdrawn here. */
function follow(container: DependencyContainer): void {
  const config = container.resolve(CONFIG);
  const log = container.resolve(LOG);
  config.onChange((now, changes) => {
    container.resolve(PRIVATE_NAMES).add(privateNames(config));
    container.resolve(CREDENTIALS).forgetCommands();
    container.resolve(AUTHORIZATION).reconfigure({ keys: now.gateway.api.keys, agents: now.agents });
    log.setLevel(now.log.level);
    log.info({ changed: changes.map(({ path }) => path) }, 'the configuration changed');
    const waiting = changes.filter(({ needsRestart }) => needsRestart).map(({ path }) => path);
    if (waiting.length > 0) log.warn({ changed: waiting }, 'these changes take effect when the host is restarted');
  });
  config.onInvalid((problem) => {
    log.error(
      { problems: problem.problems },
      'the changed configuration is not valid; the host goes on with the last one',
    );
  });
}

function privateNames(config: ConfigSource): string[] {
  return [...privateNamesIn(config.current), ...jevPrivateNames(config.current.gateway.jev)];
}

function reporter(from: DependencyContainer, text: string): (error: unknown) => void {
  return (error) => from.resolve(LOG).error({ error: String(error) }, text);
}

function metricsOf(from: DependencyContainer): string[] {
  const { active, waiting, completed, failed, refused } = from.resolve(JEV).stats();
  return [
    '# TYPE jev_host_evaluations_active gauge',
    `jev_host_evaluations_active ${active}`,
    '# TYPE jev_host_evaluations_waiting gauge',
    `jev_host_evaluations_waiting ${waiting}`,
    '# TYPE jev_host_evaluations_total counter',
    `jev_host_evaluations_total{outcome="completed"} ${completed}`,
    ...Object.entries(failed).map(([code, count]) => `jev_host_evaluations_total{outcome="${code}"} ${count}`),
    '# TYPE jev_host_answers_refused_total counter',
    ...Object.entries(refused).map(([reason, count]) => `jev_host_answers_refused_total{reason="${reason}"} ${count}`),
  ];
}
