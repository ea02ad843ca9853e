/** `/api/v1/jev`: evaluation and usage (wire-contracts 5.3). Evaluation is a paid action, so it needs write access. */
import { type Readable, Transform } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as v from 'valibot';
import { HostError, refuse } from '../../../sdk/contract/errors.ts';
import type { JevRequest } from '../../../sdk/contract/jev.ts';
import { stillMay } from '../access.ts';
import { principalFor } from '../authenticate.ts';
import type { ApiDeps } from '../ports.ts';

/** Bytes of the body: the largest request that can be configured, and its envelope. */
export const JEV_BODY_BYTES = 1024 * 1024 + 16 * 1024;
/** With images switched on, a body carries them too. */
export const JEV_IMAGE_BODY_BYTES = 24 * 1024 * 1024;

const NAMES = new Set(['agentId', 'state', 'questions', 'assets', 'requestId']);

export function jevRoutes(app: FastifyInstance, deps: ApiDeps): void {
  // The route takes what images may need; what a request may have follows the configuration of the moment.
  const route = {
    bodyLimit: JEV_IMAGE_BODY_BYTES,
    async preParsing(request: FastifyRequest, _reply: unknown, payload: Readable): Promise<Readable> {
      if (deps.jevImages?.() === true) return payload;
      if (Number(request.headers['content-length'] ?? 0) > JEV_BODY_BYTES)
        refuse('BODY_TOO_LARGE', { limit: JEV_BODY_BYTES });
      return payload.pipe(atMost(JEV_BODY_BYTES));
    },
  };
  app.post('/api/v1/jev/evaluate', route, async (request) => {
    const body = request.body;
    if (body === null || typeof body !== 'object' || Array.isArray(body))
      return refuse('JEV_INVALID_REQUEST', { problem: 'the body must be a JSON object' });
    const { agentId, ...evaluation } = body as Record<string, unknown>;
    for (const name of Object.keys(body))
      if (!NAMES.has(name))
        refuse('JEV_INVALID_REQUEST', { path: name.slice(0, 100), problem: 'this does not exist here' });
    if (typeof agentId !== 'string') return refuse('JEV_INVALID_REQUEST', { path: 'agentId', problem: 'is missing' });
    const principal = principalFor(request, deps.access, agentId, 'write');
    return deps.jev.evaluate(
      // The service checks the request itself, with the limits of the configuration that it captures.
      evaluation as unknown as JevRequest,
      { principalId: principal.principalId, agentId, consumer: 'http' },
      {
        signal: request.gone,
        authorized: () => stillMay(deps.access, principal.principalId, agentId, 'write'),
      },
    );
  });

  app.get('/api/v1/jev/usage', async (request, reply) => {
    const query = request.query as Record<string, unknown>;
    const agentId = typeof query.agentId === 'string' ? query.agentId : '';
    principalFor(request, deps.access, agentId, 'read');
    const page = v.safeParse(Page, query);
    if (!page.success) throw new HostError('INVALID_PAGE');
    reply.header('cache-control', 'no-store');
    return deps.usage.list({ agentId, limit: page.output.limit, offset: page.output.offset });
  });
}

/** Ends a body that came without its length as soon as it is over the limit. */
function atMost(limit: number): Transform {
  let received = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received > limit) done(new HostError('BODY_TOO_LARGE', { limit }));
      else done(null, chunk);
    },
  });
}

const whole = (least: number, most: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number), v.minValue(least), v.maxValue(most));

const Page = v.strictObject({
  agentId: v.string(),
  limit: v.optional(whole(1, 100), '50'),
  offset: v.optional(whole(0, 999_999_999), '0'),
});
