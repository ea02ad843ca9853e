/**
 * Server-sent events of one conversation, resumable by event id.
 *
 * Threat: a reader that stops reading. Events are pulled from the task service one at a time, and the next is pulled only
 * when the socket took the last, so a slow reader costs no memory; one that takes nothing for a while is cut off and
 * resumes by id.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { refuse } from '../../../sdk/contract/errors.ts';
import { callerOf, principalFor } from '../authenticate.ts';
import type { ApiDeps } from '../ports.ts';
import type { RateLimits } from '../rate-limits.ts';
import type { Sessions } from '../sessions.ts';

/** Milliseconds between comments that keep proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;
/** Milliseconds that a reader may take nothing. */
const STALLED_MS = 30_000;

export function eventRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions, limits: RateLimits): void {
  app.get<{ Params: { agentId: string; sessionId: string }; Querystring: Record<string, unknown> }>(
    '/api/v1/agents/:agentId/sessions/:sessionId/events',
    async (request, reply) => {
      const { agentId, sessionId } = request.params;
      const principal = principalFor(request, deps.access, agentId, 'read');
      const caller = callerOf(principal, sessions, agentId, sessionId);
      const after = eventId(request.headers['last-event-id'] ?? request.query.after);
      const close = limits.open(principal.keyId, 'stream');
      const stop = new AbortController();
      const end = () => stop.abort();
      request.gone.addEventListener('abort', end, { once: true });
      reply.hijack();
      try {
        const response = reply.raw;
        response.writeHead(200, {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
          'x-content-type-options': 'nosniff',
        });
        await write(response, ': open\n\n', stop.signal);
        const keepAlive = setInterval(() => {
          // The key may have been withdrawn since; a stream outlives no right.
          const still = deps.access.principal(principal.principalId);
          if (!still || response.writableNeedDrain) return void (still ? undefined : end());
          response.write(': alive\n\n');
        }, KEEP_ALIVE_MS);
        keepAlive.unref();
        try {
          for await (const event of deps.tasks.events(caller, after, stop.signal)) {
            const data = JSON.stringify(event);
            await write(response, `id: ${event.id}\nevent: ${event.type}\ndata: ${data}\n\n`, stop.signal);
          }
        } finally {
          clearInterval(keepAlive);
        }
      } catch (error) {
        if (!stop.signal.aborted) deps.log.warn({ error: String(error) }, 'an event stream ended early');
      } finally {
        request.gone.removeEventListener('abort', end);
        close();
        reply.raw.end();
      }
    },
  );
}

function eventId(value: unknown): number {
  if (value === undefined || value === '') return 0;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value))
    refuse('INVALID_INPUT', { path: 'Last-Event-ID', problem: 'is not an event id' });
  return Number(value);
}

/** Resolves when the socket can take more. @throws when it does not within STALLED_MS, or the stream is over. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (response.write(text)) return;
  const stalled = AbortSignal.timeout(STALLED_MS);
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, stalled]) });
  } catch (error) {
    if (stalled.aborted) response.destroy();
    throw error;
  }
}
