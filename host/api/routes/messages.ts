/**
 * A message of the user: to an open task as its next direct command, or to the agent (gateway.md, "Direct task control").
 * Attachments are no direct instructions; the strict body refuses them by name.
 */
import type { FastifyInstance } from 'fastify';
import * as v from 'valibot';
import { callerOf, principalFor } from '../authenticate.ts';
import { checked, text, Uuid } from '../input.ts';
import type { ApiDeps } from '../ports.ts';
import { DEFAULT_SESSION, SESSION_ID, type Sessions } from '../sessions.ts';

const Message = v.strictObject({
  session_id: v.optional(v.pipe(v.string(), v.regex(SESSION_ID, 'a session id')), DEFAULT_SESSION),
  text: text(4000),
  execution_task_id: v.optional(Uuid),
  request_id: v.optional(v.pipe(text(256), v.regex(/^[\x21-\x7e]+$/, 'printable ASCII without spaces'))),
});

export function messageRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions): void {
  app.post<{ Params: { agentId: string } }>('/api/v1/agents/:agentId/messages', async (request, reply) => {
    const { agentId } = request.params;
    const principal = principalFor(request, deps.access, agentId, 'write');
    const { session_id, text: words, execution_task_id, request_id } = checked(Message, request.body);
    const caller = callerOf(principal, sessions, agentId, session_id);
    const receipt = await deps.tasks.message(caller, {
      text: words,
      ...(execution_task_id !== undefined && { executionTaskId: execution_task_id.toLowerCase() }),
      ...(request_id !== undefined && { requestId: request_id }),
    });
    reply.status(202);
    return { receipt };
  });
}
