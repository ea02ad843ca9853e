/** The body of a provider request, put together from JSON texts that were made once, when the request was checked. */
import { hash } from 'node:crypto';
import type { JevProvider } from './endpoint.ts';
import type { ValidRequest } from './request-validation.ts';

/** The id that leaves the host: it names the request without telling who asked or what the caller calls it. */
export function wireRequestId(principalId: string, agentId: string, requestId: string): string {
  return hash('sha256', JSON.stringify([principalId, agentId, requestId]));
}

/**
 * As bytes: the parts are written where they belong instead of being joined to one more text of the same size, and what
 * waits or is on its way stands outside the heap that the collector copies.
 */
export function wireBody(provider: JevProvider, model: string, wireId: string, request: ValidRequest): Buffer {
  const id = provider === 'upstream' ? `"request_id":${JSON.stringify(wireId)},` : '';
  const parts = [`{${id}"model":${JSON.stringify(model)},"state":`, request.state, ',"questions":', request.questions];
  if (request.assets !== undefined) parts.push(',"assets":', request.assets);
  parts.push('}');
  let size = 0;
  for (const part of parts) size += Buffer.byteLength(part);
  const body = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const part of parts) at += body.write(part, at);
  return body;
}
