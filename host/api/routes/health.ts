/** Is the process alive, does it serve, and what does it count. */
import type { FastifyInstance } from 'fastify';
import { principalOf } from '../authenticate.ts';
import type { RequestCounter } from '../metrics.ts';
import type { ApiDeps } from '../ports.ts';

/** Open to anyone who reaches the port: they say that a host is here and nothing more. */
export const OPEN_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export function healthRoutes(app: FastifyInstance, deps: ApiDeps, counter: RequestCounter): void {
  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_request, reply) => {
    const ready = deps.health.ready();
    reply.status(ready ? 200 : 503);
    return { status: ready ? 'ready' : 'not ready' };
  });

  app.get('/metrics', async (request, reply) => {
    principalOf(request);
    reply.type('text/plain; version=0.0.4; charset=utf-8');
    return `${[...counter.lines(), ...deps.health.metrics()].join('\n')}\n`;
  });
}
