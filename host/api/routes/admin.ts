/**
 * What an operator may read across all principals, and the approval of plugins. For the local owner and admin keys only.
 *
 * Threat: an admin key is handed to somebody who should see one agent. It must name every agent ("*") to read here,
 * because what is read here is not of one agent.
 */
import { isAbsolute } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as v from 'valibot';
import { HostError, refuse } from '../../../sdk/contract/errors.ts';
import { principalOf } from '../authenticate.ts';
import { checked, text, Uuid } from '../input.ts';
import type { ApiDeps } from '../ports.ts';

const whole = (least: number, most: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number), v.minValue(least), v.maxValue(most));
const Page = v.strictObject({
  limit: v.optional(whole(1, 100), '50'),
  offset: v.optional(whole(0, Number.MAX_SAFE_INTEGER), '0'),
});
const AuditPage = v.strictObject({
  fromSeq: v.optional(whole(0, Number.MAX_SAFE_INTEGER), '1'),
  limit: v.optional(whole(1, 1000), '100'),
});
const Head = v.strictObject({
  head: v.optional(v.pipe(v.string(), v.regex(/^\d{1,15}:[0-9a-f]{64}$/, 'SEQ:HASH of an exported head'))),
});

const Backup = v.strictObject({
  directory: v.pipe(
    text(4096),
    v.check((path) => isAbsolute(path) && !path.includes('\0'), 'an absolute path'),
  ),
});

export const ADMIN = '/api/v1/admin';

/** @throws ACCESS_DENIED for anyone but the local owner and admin keys of every agent. */
export function needOperator(request: FastifyRequest): void {
  const { access, agents } = principalOf(request);
  if (access !== 'admin' || agents !== '*') refuse('ACCESS_DENIED');
}

export function adminRoutes(app: FastifyInstance, deps: ApiDeps, scheme: 'http' | 'https' = 'http'): void {
  const allowed = (request: FastifyRequest) => {
    needOperator(request);
    return deps.admin ?? refuse('NOT_FOUND');
  };
  const page = <const S extends v.GenericSchema>(schema: S, query: unknown): v.InferOutput<S> => {
    const parsed = v.safeParse(schema, query);
    if (!parsed.success) throw new HostError('INVALID_PAGE');
    return parsed.output;
  };

  app.get(`${ADMIN}/tasks`, async (request) => allowed(request).tasks(page(Page, request.query)));

  app.get<{ Params: { taskId: string } }>(`${ADMIN}/tasks/:taskId/receipts`, async (request) => {
    const admin = allowed(request);
    return (await admin.receipts(checked(Uuid, request.params.taskId).toLowerCase())) ?? refuse('ACCESS_DENIED');
  });

  app.get(`${ADMIN}/audit/verify`, async (request) => {
    const admin = allowed(request);
    const { head } = checked(Head, request.query);
    const [seq, hash] = head?.split(':') ?? [];
    return admin.verifyAudit(seq !== undefined && hash !== undefined ? { seq: Number(seq), hash } : undefined);
  });

  app.get(`${ADMIN}/audit`, async (request) => ({
    entries: await allowed(request).audit(page(AuditPage, request.query)),
  }));

  // Where the host answers over TCP, for a command that hands an agent its way in; with port 0 nothing else knows.
  app.get(`${ADMIN}/address`, async (request) => {
    allowed(request);
    const address = app.server.address();
    if (address === null || typeof address === 'string') refuse('NOT_FOUND');
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return { url: `${scheme}://${host}:${address.port}` };
  });

  // Threat: a path of this machine. Only who holds the data directory anyway may name one; no key over the network does.
  app.post(`${ADMIN}/backup`, async (request) => {
    const admin = allowed(request);
    if (!request.fromOwner) refuse('ACCESS_DENIED');
    const { directory } = checked(Backup, request.body);
    await admin.backup(directory);
    return { directory };
  });

  app.get(`${ADMIN}/plugins`, async (request) => ({ plugins: allowed(request).plugins() }));

  app.post<{ Params: { id: string } }>(`${ADMIN}/plugins/:id/approve`, async (request) => {
    const admin = allowed(request);
    return { plugin: await admin.approvePlugin(request.params.id) };
  });

  app.post<{ Params: { id: string } }>(`${ADMIN}/plugins/:id/enable`, async (request) => {
    const admin = allowed(request);
    return { plugin: await admin.enablePlugin(request.params.id) };
  });
}
