/**
 * `/mcp` and `/mcp/:agentId`: the current protocol revision and the session-based ones before it, on one address.
 *
 * Threat: one key's client speaks for another agent or conversation. The caller is made here, from the key or ticket, and
 * handed to the protocol layer beside the message; nothing in a message can change it.
 */
import type { IncomingMessage } from 'node:http';
import { type NodeIncomingMessageLike, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { type AuthInfo, createMcpHandler, isLegacyRequest, type Server } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Caller } from '../../../sdk/contract/task.ts';
import { mayUse } from '../access.ts';
import { callerOf } from '../authenticate.ts';
import type { ApiDeps } from '../ports.ts';
import { DEFAULT_SESSION, type Sessions } from '../sessions.ts';
import { createLegacySessions } from './legacy-sessions.ts';

/** Bytes of one message. Images in evaluations are the largest thing that is sent. */
export const MCP_BODY_BYTES = 4 * 1024 * 1024;
/** Characters of a request id that is echoed. */
const MAX_ID_CHARS = 256;

export interface McpEndpoint {
  /** Tells open subscriptions that the list of tools changed. */
  toolsChanged(): void;
  close(): Promise<void>;
  sessions(): number;
}

/** @param serverFor what serves one caller; the conformance profile mounts its own. */
export function mcpRoutes(
  app: FastifyInstance,
  deps: ApiDeps,
  sessions: Sessions,
  serverFor: (caller: Caller) => Server,
  bodyLimit: number,
): McpEndpoint {
  const report = (error: Error) => deps.log.debug({ error: error.message }, 'a message to /mcp was not served');
  const modern = createMcpHandler((context) => serverFor(callerIn(context.authInfo)), {
    // A client that never opened a session is served message by message.
    legacy: 'stateless',
    onerror: report,
  });
  const serveModern = toNodeHandler(modern, { onerror: report });
  const legacy = createLegacySessions({ serverFor, now: deps.now, uuid: deps.uuid });

  const callerFor = (request: FastifyRequest): Caller => {
    const { sender } = request;
    if (!sender) return refuse('UNAUTHORIZED');
    const { principal, ticket } = sender;
    const named = (request.params as { agentId?: string }).agentId ?? ticket?.agentId;
    const agents = deps.access.agents().filter((agent) => mayUse(principal, agent, [agent]));
    if (named === undefined && agents.length > 1) return refuse('AGENT_NOT_NAMED');
    const agentId = named ?? agents[0];
    if (agentId === undefined || !agents.includes(agentId)) return refuse('ACCESS_DENIED');
    return callerOf(principal, sessions, agentId, ticket?.sessionId ?? DEFAULT_SESSION);
  };

  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = callerFor(request);
    const body = request.body;
    checkIds(body);
    const raw = request.raw as IncomingMessage & NodeIncomingMessageLike;
    raw.auth = {
      // The secret stays here: nothing behind this line needs it.
      token: '',
      clientId: caller.principalId,
      scopes: [caller.access],
      extra: { caller },
    };
    const isLegacy =
      !claimsRevision(body) && (await isLegacyRequest(await toWebRequest(raw, body ?? undefined), body ?? undefined));
    reply.hijack();
    try {
      if (isLegacy && (await legacy.handle(caller, raw, reply.raw, body ?? undefined))) return;
      await serveModern(raw, reply.raw, body ?? undefined);
    } catch (error) {
      deps.log.error({ error: String(error) }, 'a message to /mcp failed');
      if (reply.raw.headersSent) reply.raw.destroy();
      else reply.raw.writeHead(500).end();
    }
  };

  for (const url of ['/mcp', '/mcp/:agentId'])
    app.route({ method: ['GET', 'POST', 'DELETE'], url, bodyLimit, handler: serve });

  return {
    toolsChanged: () => modern.notify.toolsChanged(),
    sessions: () => legacy.count(),
    async close() {
      await Promise.all([modern.close(), legacy.close()]);
    },
  };
}

/** A message that names its revision is the current protocol's, whichever it names; the rest is told apart with care. */
function claimsRevision(body: unknown): boolean {
  const { _meta: meta } = ((body as { params?: unknown } | null | undefined)?.params ?? {}) as { _meta?: object };
  return meta !== undefined && meta !== null && 'io.modelcontextprotocol/protocolVersion' in Object(meta);
}

function callerIn(auth: AuthInfo | undefined): Caller {
  const caller = auth?.extra?.caller as Caller | undefined;
  return caller ?? refuse('UNAUTHORIZED');
}

/** A request id is echoed, so it is bounded before anything else looks at the message. */
function checkIds(body: unknown): void {
  for (const message of Array.isArray(body) ? body : [body]) {
    const id = (message as { id?: unknown } | null | undefined)?.id;
    if (id === undefined || id === null || Number.isSafeInteger(id)) continue;
    if (typeof id !== 'string' || id.length > MAX_ID_CHARS)
      refuse('INVALID_INPUT', { path: 'id', problem: `must be an integer or a text of at most ${MAX_ID_CHARS}` });
  }
}
