/** Sessions and tickets. */
import type { FastifyInstance } from 'fastify';
import * as v from 'valibot';
import { callerOf, principalFor } from '../authenticate.ts';
import { checked } from '../input.ts';
import type { ApiDeps } from '../ports.ts';
import { SESSION_ID, type Sessions } from '../sessions.ts';
import type { Tickets } from '../tickets.ts';

const NewSession = v.optional(
  v.strictObject({ sessionId: v.optional(v.pipe(v.string(), v.regex(SESSION_ID, 'letters, digits, - and _'))) }),
  {},
);
const Nothing = v.optional(v.strictObject({}), {});

export function sessionRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions, tickets: Tickets): void {
  app.get<{ Params: { agentId: string } }>('/api/v1/agents/:agentId/sessions', async (request) => {
    const principal = principalFor(request, deps.access, request.params.agentId, 'read');
    return { sessions: sessions.list(principal, request.params.agentId) };
  });

  app.post<{ Params: { agentId: string } }>('/api/v1/agents/:agentId/sessions', async (request, reply) => {
    const principal = principalFor(request, deps.access, request.params.agentId, 'write');
    const { sessionId } = checked(NewSession, request.body ?? undefined);
    reply.status(201);
    return sessions.open(principal, request.params.agentId, sessionId);
  });

  app.post<{ Params: { agentId: string; sessionId: string } }>(
    '/api/v1/agents/:agentId/sessions/:sessionId/ticket',
    async (request, reply) => {
      const { agentId, sessionId } = request.params;
      const principal = principalFor(request, deps.access, agentId, 'read');
      const caller = callerOf(principal, sessions, agentId, sessionId);
      checked(Nothing, request.body ?? undefined);
      reply.status(201).header('cache-control', 'no-store');
      return tickets.issue(principal, agentId, caller.sessionId);
    },
  );
}
