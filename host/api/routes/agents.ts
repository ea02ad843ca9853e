/** Which agents and targets a caller may use. */
import type { FastifyInstance } from 'fastify';
import * as v from 'valibot';
import { mayUse } from '../access.ts';
import { callerOf, principalFor, principalOf } from '../authenticate.ts';
import { checked, text } from '../input.ts';
import type { ApiDeps } from '../ports.ts';
import type { Sessions } from '../sessions.ts';

const TargetQuery = v.strictObject({
  adapter: v.optional(v.picklist(['browser', 'computer'])),
  query: v.optional(text(200, 0)),
  offset: v.optional(v.pipe(v.string(), v.regex(/^\d{1,7}$/, 'a number'), v.transform(Number)), '0'),
});

export function agentRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions): void {
  app.get('/api/v1/agents', async (request) => {
    const principal = principalOf(request);
    const agents = deps.access.agents().filter((id) => mayUse(principal, id, [id]));
    return { agents: agents.map((id) => ({ id, ...deps.access.agentName(id) })) };
  });

  app.get<{ Params: { agentId: string; sessionId: string } }>(
    '/api/v1/agents/:agentId/sessions/:sessionId/targets',
    async (request) => {
      const { agentId, sessionId } = request.params;
      const principal = principalFor(request, deps.access, agentId, 'read');
      const caller = callerOf(principal, sessions, agentId, sessionId);
      const { adapter, query, offset } = checked(TargetQuery, request.query);
      const { targets, nextOffset } = await deps.tasks.discover(
        caller,
        { offset, ...(adapter && { adapter }), ...(query !== undefined && { text: query }) },
        request.gone,
      );
      return { targets, next_offset: nextOffset };
    },
  );
}
