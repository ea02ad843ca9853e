/** How refusals look on each surface. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { HostError } from '../../sdk/contract/errors.ts';
import type { ApiDeps } from './ports.ts';
import { httpBody, retryAfterOf, statusOf, toolBody } from './status-codes.ts';

export type Surface = 'mcp' | 'jev' | 'api';

export function surfaceOf(url: string): Surface {
  if (/^\/mcp(?:[/?]|$)/.test(url)) return 'mcp';
  return url.startsWith('/api/v1/jev/') ? 'jev' : 'api';
}

/** The typed refusal behind what the framework or a handler threw. */
export function hostErrorOf(error: unknown, surface: Surface, limit: number): HostError | undefined {
  if (error instanceof HostError) {
    // A body that is not JSON is the evaluation service's to name.
    if (surface === 'jev' && error.code === 'INVALID_INPUT') return new HostError('JEV_INVALID_REQUEST', error.details);
    if (surface === 'jev' && error.code === 'BODY_TOO_LARGE') return bodyOverLimit(error.details.limit);
    return error;
  }
  const { code, statusCode } = error as FastifyError;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return surface === 'jev' ? bodyOverLimit(limit) : new HostError('BODY_TOO_LARGE', { limit });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HostError('INVALID_INPUT', { problem: 'the request cannot be read' });
  return undefined;
}

const bodyOverLimit = (limit: unknown) =>
  new HostError('JEV_INVALID_REQUEST', { problem: `the body is larger than ${limit} bytes` });

/** Sends the refusal. Nothing is sent to a client that went away. */
export function sendRefusal(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<ApiDeps, 'log' | 'uuid'> & { challenge(host: string | undefined): string },
): void {
  const surface = surfaceOf(request.url);
  const { code } = error as FastifyError;
  const tooLarge = code === 'FST_ERR_CTP_BODY_TOO_LARGE' || code === 'BODY_TOO_LARGE';
  let known = hostErrorOf(error, surface, request.routeOptions.bodyLimit ?? 0);
  if (!known) {
    const reference = deps.uuid();
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    deps.log.error({ reference, route: request.routeOptions.url ?? '', error: stack }, 'a request failed unexpectedly');
    known = new HostError('INTERNAL', { reference });
  }
  const status = tooLarge ? 413 : statusOf(known.code);
  const retryAfter = retryAfterOf(known);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (status === 401) reply.header('www-authenticate', deps.challenge(request.headers.host));
  reply.status(status).send(surface === 'mcp' ? rpcError(known, request.body) : httpBody(known));
}

function rpcError(error: HostError, body: unknown): Record<string, unknown> {
  const id = (body as { id?: unknown } | null | undefined)?.id;
  const notJson = error.code === 'INVALID_INPUT' && body === undefined;
  return {
    jsonrpc: '2.0',
    error: { code: notJson ? -32700 : -32600, message: error.message, data: toolBody(error) },
    id: (typeof id === 'string' && id.length <= 256) || Number.isSafeInteger(id) ? id : null,
  };
}
