/**
 * One request to a provider: sent once, never repeated, never redirected.
 *
 * Threat: the answer is not trusted. Its type is checked before its body is read, so that an endless event stream ends at
 * its header; its size is counted while it arrives; its error text is read only where the contract needs a code from it,
 * and is never passed on.
 */
import type { Dispatcher } from 'undici';
import { HostError, isHostError } from '../../sdk/contract/errors.ts';
import { invalidResponse } from './answer-validation.ts';
import type { Connection } from './connection.ts';
import type { EndSignal } from './deadline.ts';
import type { JevProvider } from './endpoint.ts';
import { MAX_ERROR_BYTES, providerFailure, type ResponseHeaders } from './provider-errors.ts';

/** Bytes that an answer may have. */
export const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

export interface ProviderRequest {
  provider: JevProvider;
  connection: Connection;
  wireRequestId: string;
  body: Buffer;
  /** Adds the header that opens the images preview. */
  images: boolean;
  signal: EndSignal;
}

/**
 * @returns the parsed JSON of a successful answer, not yet validated.
 * @throws a `JEV_…` HostError, or the signal's reason.
 */
export function sendToProvider(dispatcher: Dispatcher, request: ProviderRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal.aborted) return reject(signal.reason);
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: ResponseHeaders = {};
    let limit = MAX_RESPONSE_BYTES;
    let received = 0;
    const chunks: Buffer[] = [];

    // Whether the answer had begun: then the provider has worked, and may have charged for it.
    const stopped = (): unknown => {
      const { reason } = signal;
      return status > 0 && isHostError(reason)
        ? new HostError(reason.code, { ...reason.details, phase: 'response' })
        : reason;
    };
    const end = (error: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      reject(error);
      controller?.abort(error instanceof Error ? error : new Error('ended'));
    };
    const onAbort = (): void => end(stopped());
    signal.addEventListener('abort', onAbort, { once: true });

    dispatcher.dispatch(
      {
        origin: request.connection.endpoint.origin,
        path: request.connection.endpoint.path,
        method: 'POST',
        headers: requestHeaders(request),
        body: request.body,
        // The evaluation's own deadline covers both.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (signal.aborted) started.abort(new Error('ended'));
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          if (statusCode < 200) return;
          status = statusCode;
          headers = responseHeaders;
          const ok = status < 300;
          const declared = Number(headers['content-length'] ?? 0);
          if (!ok) {
            limit = MAX_ERROR_BYTES;
            const readable = request.provider === 'upstream' && isJson(headers) && declared <= limit;
            if (!readable) end(providerFailure(status, headers, undefined));
          } else if (!isJson(headers) || declared > limit) {
            end(invalidResponse('ENVELOPE', status));
          }
        },
        onResponseData(_controller, chunk) {
          received += chunk.length;
          if (received <= limit) chunks.push(chunk);
          else end(status < 300 ? invalidResponse('ENVELOPE', status) : providerFailure(status, headers, undefined));
        },
        onResponseEnd() {
          signal.removeEventListener('abort', onAbort);
          const text = (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, received))?.toString('utf8') ?? '';
          const parsed = parseJson(text);
          if (status >= 300) reject(providerFailure(status, headers, parsed));
          else if (parsed === undefined) reject(invalidResponse('ENVELOPE', status, received === 0));
          else resolve(parsed);
        },
        onResponseError(_controller, error) {
          signal.removeEventListener('abort', onAbort);
          reject(signal.aborted ? stopped() : new HostError('JEV_PROVIDER_UNAVAILABLE', cause(error)));
        },
      },
    );
  });
}

function requestHeaders(request: ProviderRequest): Record<string, string> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${request.connection.credential}`,
    'content-type': 'application/json',
    'x-request-id': request.wireRequestId,
  };
  if (request.images) headers['TypeSafe-Danger-Zone-Images'] = 'true';
  return headers;
}

function isJson(headers: ResponseHeaders): boolean {
  const type = headers['content-type'];
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return false;
  return typeof type === 'string' && /^application\/json\s*(?:;|$)/i.test(type);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A library's message can hold addresses and headers; its short code cannot. */
function cause(error: unknown): { cause?: string } {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? { cause: code } : {};
}
