/** The body of a provider request, put together from JSON texts that were made once, when the request was checked. */
import { hash } from 'node:crypto';
import type { JevProvider } from './endpoint.ts';
import type { ValidRequest } from './request-validation.ts';

/** The id that leaves the host: it names the request without telling who asked or what the caller calls it. */
export function wireRequestId(principalId: string, agentId: string, requestId: string): string {
  return hash('sha256', JSON.stringify([principalId, agentId, requestId]));
}

export function wireBody(provider: JevProvider, model: string, wireId: string, request: ValidRequest): string {
  const id = provider === 'upstream' ? `"request_id":${JSON.stringify(wireId)},` : '';
  const assets = request.assets === undefined ? '' : `,"assets":${request.assets}`;
  return `{${id}"model":${JSON.stringify(model)},"state":${request.state},"questions":${request.questions}${assets}}`;
}
