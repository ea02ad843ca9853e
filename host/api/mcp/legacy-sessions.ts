/**
 * Clients of the session-based revisions (2025-11-25 and before) on the same endpoint.
 *
 * Threat: a session id is a bearer in disguise. A session answers only the caller that opened it; for anybody else, and
 * after it ended, it does not exist (404), so that the client opens a new one. Sessions and what they keep for resuming
 * are bounded per caller; the one that was idle longest goes first.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import type { AuthInfo, Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../../sdk/contract/task.ts';
import { createEventBuffer } from './event-buffer.ts';

/** Sessions of one caller. */
export const MAX_SESSIONS_PER_CALLER = 32;
/** Milliseconds after which a session without a call ends. */
export const IDLE_MS = 30 * 60 * 1000;

interface LegacySession {
  owner: string;
  transport: NodeStreamableHTTPServerTransport;
  server: Server;
  usedAt: number;
  open: number;
}

export interface LegacySessions {
  /** Answers the request, or returns false when it belongs to no session and opens none. */
  handle(
    caller: Caller,
    request: IncomingMessage & { auth?: AuthInfo },
    response: ServerResponse,
    body: unknown,
  ): Promise<boolean>;
  close(): Promise<void>;
  count(): number;
}

export function createLegacySessions(deps: {
  serverFor(caller: Caller): Server;
  now(): number;
  uuid(): string;
}): LegacySessions {
  const sessions = new Map<string, LegacySession>();
  const ownerOf = (caller: Caller) => JSON.stringify([caller.principalId, caller.agentId, caller.sessionId]);

  const end = async (id: string) => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.server.close();
  };

  const makeRoom = async (owner: string) => {
    const idle = [...sessions].filter(([, { open, usedAt }]) => open === 0 && usedAt + IDLE_MS < deps.now());
    for (const [id] of idle) await end(id);
    const own = [...sessions]
      .filter(([, session]) => session.owner === owner)
      .sort((a, b) => a[1].usedAt - b[1].usedAt);
    for (const [id] of own.slice(0, Math.max(0, own.length - MAX_SESSIONS_PER_CALLER + 1))) await end(id);
  };

  const openSession = async (caller: Caller): Promise<LegacySession> => {
    const owner = ownerOf(caller);
    await makeRoom(owner);
    const session: LegacySession = {
      owner,
      server: deps.serverFor(caller),
      transport: new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: deps.uuid,
        eventStore: createEventBuffer(),
        onsessioninitialized: (id) => void sessions.set(id, session),
        onsessionclosed: (id) => end(id),
      }),
      usedAt: deps.now(),
      open: 0,
    };
    await session.server.connect(session.transport);
    return session;
  };

  return {
    async handle(caller, request, response, body) {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? sessions.get(id) : undefined;
      const mine = known?.owner === ownerOf(caller) ? known : undefined;
      const session = isInitialize(body) ? await openSession(caller) : mine;
      if (!session) {
        if (id === undefined) return false;
        notFound(response, body);
        return true;
      }
      session.usedAt = deps.now();
      session.open += 1;
      response.once('close', () => {
        session.open -= 1;
        session.usedAt = deps.now();
      });
      await session.transport.handleRequest(request, response, body);
      return true;
    },
    async close() {
      await Promise.all([...sessions.keys()].map(end));
    },
    count: () => sessions.size,
  };
}

function isInitialize(body: unknown): boolean {
  const messages = Array.isArray(body) ? body : [body];
  return messages.some((message) => (message as { method?: unknown } | null)?.method === 'initialize');
}

function notFound(response: ServerResponse, body: unknown): void {
  const id = (body as { id?: unknown } | null | undefined)?.id;
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      jsonrpc: '2.0',
      error: { code: -32001, message: 'Session not found; initialize again.' },
      id: typeof id === 'string' || typeof id === 'number' ? id : null,
    }),
  );
}
