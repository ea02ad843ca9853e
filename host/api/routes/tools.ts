/** Tools that plugins serve, over plain HTTP: the same tools, checks and answers as over MCP. */
import type { FastifyInstance } from 'fastify';
import { refuse } from '../../../sdk/contract/errors.ts';
import { callerOf, principalFor } from '../authenticate.ts';
import { contributedTools } from '../mcp/contributed-tools.ts';
import type { ApiDeps } from '../ports.ts';
import type { Sessions } from '../sessions.ts';

/** Bytes of one call's arguments. */
const BODY_BYTES = 1024 * 1024;

export function toolRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions): void {
  const tools = contributedTools(deps.plugins);

  app.get<{ Params: { agentId: string; sessionId: string } }>(
    '/api/v1/agents/:agentId/sessions/:sessionId/tools',
    async (request) => {
      const { agentId, sessionId } = request.params;
      callerOf(principalFor(request, deps.access, agentId, 'read'), sessions, agentId, sessionId);
      return { tools: tools().map(({ description }) => description) };
    },
  );

  app.post<{ Params: { agentId: string; sessionId: string; tool: string } }>(
    '/api/v1/agents/:agentId/sessions/:sessionId/tools/:tool',
    { bodyLimit: BODY_BYTES },
    async (request) => {
      const { agentId, sessionId, tool: name } = request.params;
      // Who may not even read learns nothing about which tools there are.
      const reader = principalFor(request, deps.access, agentId, 'read');
      const tool = tools().find(({ description }) => description.name === name);
      if (!tool) return refuse('INVALID_INPUT', { path: 'tool', problem: 'there is no such tool' });
      const principal = tool.access === 'read' ? reader : principalFor(request, deps.access, agentId, tool.access);
      const caller = callerOf(principal, sessions, agentId, sessionId);
      const signal = request.gone ?? new AbortController().signal;
      return tool.call(request.body ?? {}, { caller, signal, report: () => undefined });
    },
  );
}
