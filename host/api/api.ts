/**
 * The HTTP server: what happens to every request, in order. Host and Origin, then the key, then the limits, then the
 * body, then the route. Nothing of a body is kept before its sender is known.
 */
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Server } from '@modelcontextprotocol/server';
import { type FastifyInstance, fastify } from 'fastify';
import { readTlsFiles } from '../../core/credentials/tls-files.ts';
import type { Store } from '../../core/store/store.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import { type Sender, senderOf } from './authenticate.ts';
import type { ApiConfig } from './config.ts';
import { parseJsonBody } from './json-body.ts';
import { createCatalog } from './mcp/catalog.ts';
import { MCP_BODY_BYTES, mcpRoutes } from './mcp/endpoint.ts';
import { createMcpServer } from './mcp/server.ts';
import { createRequestCounter } from './metrics.ts';
import { checkOrigin, originRules } from './origin.ts';
import type { ApiDeps } from './ports.ts';
import { createQuestionAgenda } from './question-agenda.ts';
import { createRateLimits } from './rate-limits.ts';
import { sendRefusal } from './replies.ts';
import { adminRoutes } from './routes/admin.ts';
import { agentRoutes } from './routes/agents.ts';
import { bindingRoutes } from './routes/bindings.ts';
import { CONSOLE_ROUTE, consoleRoute } from './routes/console.ts';
import { deviceRoutes } from './routes/device.ts';
import { eventRoutes } from './routes/events.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import { healthRoutes, OPEN_ROUTES } from './routes/health.ts';
import { jevRoutes } from './routes/jev.ts';
import { messageRoutes } from './routes/messages.ts';
import { metadataRoutes, publicUrl, RESOURCE_METADATA } from './routes/resource-metadata.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { taskRoutes } from './routes/tasks.ts';
import { toolRoutes } from './routes/tools.ts';
import type { Sessions } from './sessions.ts';
import type { Tickets } from './tickets.ts';
import { closeServer, listenOnSocket } from './unix-socket.ts';

/** Bytes of a body where the route says nothing else. */
const BODY_BYTES = 256 * 1024;
const TLS_NAMES = { certFile: 'gateway.api.tls.certFile', keyFile: 'gateway.api.tls.keyFile' };
/** Milliseconds to receive a whole request. */
const RECEIVE_MS = 60_000;

export interface Api {
  /** Begins to answer. @returns the real address. */
  listen(): Promise<string>;
  /** Serves the same routes on a Unix socket. `owner` marks the local owner's, where no key is needed. */
  listenOn(path: string, kind: 'shared' | 'owner'): Promise<void>;
  toolsChanged(): void;
  close(): Promise<void>;
}

export interface ApiOptions extends ApiDeps {
  /** Read at every request where it can change while the host runs. */
  config(): ApiConfig;
  store: Store;
  sessions: Sessions;
  tickets: Tickets;
  /** Who the local owner is, from the header that names a key. */
  owner?(keyId: string | undefined): Sender | undefined;
  /** Serves one caller over MCP; the tools of the host unless a test mounts others. */
  mcpServer?(caller: Caller): Server;
}

export function createApi(options: ApiOptions): Api {
  const { sessions, tickets, access, log } = options;
  const limits = createRateLimits(() => options.config().limits, options.now);
  const counter = createRequestCounter();
  const ownerSockets = new WeakSet<Socket>();
  const stopping = new AbortController();
  const tls = options.config().tls;

  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: BODY_BYTES,
    requestTimeout: RECEIVE_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: false },
    ...(tls && { https: readTlsFiles(tls, TLS_NAMES) }),
    frameworkErrors: (error, request, reply) => sendRefusal(error, request, reply, replyDeps),
  });
  const replyDeps = {
    log,
    uuid: options.uuid,
    challenge: (host: string | undefined) =>
      `Bearer resource_metadata="${publicUrl(options.config(), host)}${RESOURCE_METADATA}"`,
  };

  app.decorateRequest('sender', undefined);
  app.decorateRequest('gone');
  app.decorateRequest('fromOwner', false);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) =>
    text === '' ? undefined : parseJsonBody(text),
  );
  app.addContentTypeParser('*', { parseAs: 'string' }, async (_request: unknown, text: string) =>
    text === '' ? undefined : refuse('INVALID_INPUT', { problem: 'the body must be application/json' }),
  );

  app.addHook('onRequest', async (request, reply) => {
    const started = options.now();
    const gone = new AbortController();
    const cleanups: (() => void)[] = [];
    request.gone = AbortSignal.any([gone.signal, stopping.signal]);
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort();
      for (const cleanup of cleanups) cleanup();
      counter.done(request.routeOptions.url ?? 'none', reply.raw.statusCode, (options.now() - started) / 1000);
    });
    reply.headers({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });

    const isOwner = ownerSockets.has(request.raw.socket);
    if (!isOwner) checkOrigin(originRules(options.config()), request.headers);
    const url = request.routeOptions.url;
    const open =
      url !== undefined && (OPEN_ROUTES.has(url) || url === CONSOLE_ROUTE || url.startsWith('/.well-known/'));
    const { authorization } = request.headers;
    request.fromOwner = isOwner && authorization === undefined;
    if (!open || authorization !== undefined)
      request.sender = request.fromOwner
        ? ownerOf(request.headers['jev-host-key'])
        : senderOf(authorization, access, tickets);
    // After the key, so that nobody without one learns more than that a host is here.
    if (!open && !options.health.ready()) refuse('NOT_READY');
    const keyId = request.sender?.principal.keyId;
    if (keyId !== undefined && url !== undefined) {
      limits.take(keyId);
      cleanups.push(limits.open(keyId, 'request'));
    }
    // Compressed bodies would pass the cap as something larger.
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity')
      refuse('INVALID_INPUT', { path: 'Content-Encoding', problem: 'a compressed body is not accepted' });
  });

  const ownerOf = (keyId: string | string[] | undefined): Sender =>
    options.owner?.(typeof keyId === 'string' ? keyId : undefined) ?? refuse('UNAUTHORIZED');

  app.setErrorHandler((error, request, reply) => {
    if (request.gone?.aborted && !stopping.signal.aborted) {
      reply.hijack();
      reply.raw.destroy();
      return;
    }
    sendRefusal(error, request, reply, replyDeps);
  });
  app.setNotFoundHandler(() => refuse('NOT_FOUND'));

  const agenda = createQuestionAgenda({ store: options.store, tasks: options.tasks, now: options.now });
  const catalog = createCatalog(options, agenda);
  const mcpDeps = { catalog, tasks: options.tasks, log, uuid: options.uuid, version: options.version };
  const mcp = mcpRoutes(
    app,
    options,
    sessions,
    options.mcpServer ?? ((caller) => createMcpServer(caller, mcpDeps)),
    MCP_BODY_BYTES,
  );
  healthRoutes(app, options, counter);
  metadataRoutes(app, options.config);
  jevRoutes(app, options);
  sessionRoutes(app, options, sessions, tickets);
  taskRoutes(app, options, sessions);
  toolRoutes(app, options, sessions);
  evidenceRoutes(app, options, sessions);
  bindingRoutes(app, options, sessions);
  eventRoutes(app, options, sessions, limits);
  messageRoutes(app, options, sessions);
  agentRoutes(app, options, sessions);
  adminRoutes(app, options, tls ? 'https' : 'http');
  deviceRoutes(app, options);
  consoleRoute(app);

  const sockets: HttpServer[] = [];
  return {
    async listen() {
      const { host, port } = options.config();
      await app.listen({ host, port });
      const address = app.server.address() as AddressInfo;
      return `${tls ? 'https' : 'http'}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
    },
    async listenOn(path, kind) {
      await app.ready();
      const server = createServer({ requestTimeout: RECEIVE_MS }, app.routing);
      if (kind === 'owner') server.on('connection', (socket) => ownerSockets.add(socket));
      await listenOnSocket(server, path, kind === 'owner' ? 0o600 : 0o666);
      sockets.push(server);
    },
    toolsChanged: () => mcp.toolsChanged(),
    async close() {
      stopping.abort();
      await mcp.close();
      await Promise.all([app.close(), ...sockets.map(closeServer)]);
    },
  };
}
