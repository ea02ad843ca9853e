/** Evidence of a browser task: what the receipt kept, or a fresh look at the tab. Never inference, never a replay. */
import type { FastifyInstance } from 'fastify';
import { HostError, refuse } from '../../../sdk/contract/errors.ts';
import { callerOf, principalFor } from '../authenticate.ts';
import { checked, Uuid } from '../input.ts';
import type { ApiDeps } from '../ports.ts';
import { SESSION_ID, type Sessions } from '../sessions.ts';

/** Codes that a caller may see; every other refusal says no more than that there is no evidence. */
const SHOWN = new Set(['BROWSER_EVIDENCE_UNAVAILABLE', 'BROWSER_INSPECTION_UNAVAILABLE', 'ORCHESTRATION_DISABLED']);

export function evidenceRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions): void {
  app.get<{ Params: { agentId: string; sessionId: string; taskId: string }; Querystring: Record<string, unknown> }>(
    '/api/v1/agents/:agentId/sessions/:sessionId/tasks/:taskId/browser-evidence',
    async (request, reply) => {
      const { agentId, sessionId, taskId } = request.params;
      const principal = principalFor(request, deps.access, agentId, 'read');
      const { refresh } = request.query;
      if (refresh !== undefined && refresh !== 'true' && refresh !== 'false') refuse('INVALID_REFRESH');
      if (!SESSION_ID.test(sessionId)) refuse('INVALID_INPUT', { path: 'sessionId', problem: 'is not a session id' });
      const caller = callerOf(principal, sessions, agentId, sessionId);
      reply.header('cache-control', 'no-store');
      try {
        const { evidence } = await deps.tasks.status(
          caller,
          { taskId: checked(Uuid, taskId), evidence: refresh === 'true' ? 'fresh' : 'recorded' },
          request.gone,
        );
        if (evidence) return { evidence };
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        if (error.code === 'INVALID_INPUT') throw error;
        const denied = ['ACCESS_DENIED', 'TASK_NOT_FOUND', 'EXECUTION_DENIED'].includes(error.code);
        reply.status(denied ? 403 : 503);
        if (!denied && (SHOWN.has(error.code) || error.code.startsWith('BROWSER_'))) return { error: error.code };
      }
      if (reply.statusCode === 200) reply.status(503);
      return { error: 'BROWSER_EVIDENCE_UNAVAILABLE' };
    },
  );
}
