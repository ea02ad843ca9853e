/**
 * Approving tabs of the host's own browser device.
 *
 * Threat: whoever may use a tab approves it for himself. Only the local owner and admin keys of every agent are the
 * device's owner here; a connector's key and an agent's key never are.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as v from 'valibot';
import { refuse } from '../../../sdk/contract/errors.ts';
import { checked, int, text } from '../input.ts';
import type { ApiDeps } from '../ports.ts';
import { ADMIN, needOperator } from './admin.ts';

/** Milliseconds that one approval may hold. */
const MAX_TTL_MS = 24 * 60 * 60 * 1000;

const Grant = v.strictObject({
  tab_id: text(120),
  control: v.optional(v.boolean(), true),
  ttlMs: v.optional(int(60_000, MAX_TTL_MS), 60 * 60 * 1000),
});

export function deviceRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const owner = (request: FastifyRequest) => {
    needOperator(request);
    return deps.device?.() ?? refuse('DEVICE_NOT_RUNNING');
  };

  app.get(`${ADMIN}/device/tabs`, async (request) => owner(request).tabs());

  app.post(`${ADMIN}/device/grants`, async (request, reply) => {
    const device = owner(request);
    const grant = await device.grant(checked(Grant, request.body));
    reply.status(201);
    return grant;
  });

  app.delete<{ Params: { grantId: string } }>(`${ADMIN}/device/grants/:grantId`, async (request, reply) => {
    const device = owner(request);
    await device.revoke(checked(text(120), request.params.grantId));
    return reply.status(204).send();
  });
}
