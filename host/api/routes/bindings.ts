/** Binding an approved tab of a connector to a conversation (gateway.md, wire-contracts 5.2). */
import type { FastifyInstance } from 'fastify';
import * as v from 'valibot';
import { BrowserScope } from '../../../sdk/contract/browser-run.ts';
import { refuse } from '../../../sdk/contract/errors.ts';
import { callerOf, principalFor } from '../authenticate.ts';
import { checked, text } from '../input.ts';
import type { AccessLevel, ApiDeps } from '../ports.ts';
import type { Sessions } from '../sessions.ts';

/** Identity, endpoint and secrets are derived here; a body that names them is refused by the strict schema. */
const NewBinding = v.strictObject({ connectorId: text(256), name: text(256), scope: BrowserScope });

const ROUTE = '/api/v1/agents/:agentId/sessions/:sessionId/browser-bindings';

interface Params {
  agentId: string;
  sessionId: string;
  bindingId: string;
}

export function bindingRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions): void {
  const opened = (request: Parameters<typeof principalFor>[0], need: AccessLevel) => {
    const { agentId, sessionId } = request.params as Params;
    const principal = principalFor(request, deps.access, agentId, need);
    const caller = callerOf(principal, sessions, agentId, sessionId);
    return { caller, bindings: deps.bindings ?? refuse('ORCHESTRATION_DISABLED') };
  };

  app.get(ROUTE, async (request) => {
    const { caller, bindings } = opened(request, 'read');
    return { bindings: bindings.list(caller) };
  });

  app.post(ROUTE, async (request, reply) => {
    const { caller, bindings } = opened(request, 'admin');
    const binding = await bindings.create(caller, checked(NewBinding, request.body), request.gone);
    reply.status(201);
    return { binding };
  });

  app.delete<{ Params: Params }>(`${ROUTE}/:bindingId`, async (request, reply) => {
    const { caller, bindings } = opened(request, 'admin');
    await bindings.remove(caller, request.params.bindingId);
    return reply.status(204).send();
  });
}
