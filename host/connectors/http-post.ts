/**
 * One POST to a tool server, and the one JSON-RPC answer to it.
 *
 * Threat: the server, or somebody on the way, is hostile. Redirects are never followed, because the credential would go
 * with them; an answer is cut off at its limit while it arrives, a declared length over the limit is not read at all;
 * nothing of a body ends up in an error. The SDK's client does more than a step needs and costs a good part of a
 * millisecond per call, so the two protocol generations are spoken here directly.
 */
import type { Dispatcher } from 'undici';
import { HostError, refuse } from '../../sdk/contract/errors.ts';

/** Characters of one tool reply (wire-contracts 1.1), with room for the envelope. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const CONNECT_REFUSED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export interface PostOptions {
  dispatcher: Dispatcher;
  url: URL;
  authorization: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  signal: AbortSignal;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The JSON-RPC message that answers the request; undefined when the body held none. */
  message?: Record<string, unknown>;
}

/**
 * @throws ADAPTER_TIMEOUT when the signal ended the wait, INVALID_BROWSER_RESPONSE for an answer over the limit,
 * BROWSER_CONNECTOR_UNAVAILABLE when no connection came about (nothing was sent), ADAPTER_FAILURE otherwise.
 */
export async function post(options: PostOptions): Promise<Answer> {
  const { dispatcher, url, body, signal } = options;
  try {
    const response = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        ...options.headers,
        authorization: options.authorization,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(body),
      signal,
    });
    const status = response.statusCode;
    if (status >= 300 && status < 400) {
      response.body.on('error', () => {}).destroy();
      refuse('ADAPTER_FAILURE', { status, problem: 'a redirect' });
    }
    const text = await readCapped(response.body, Number(response.headers['content-length'] ?? 0));
    const message = messageIn(text, String(response.headers['content-type'] ?? ''), body.id);
    return { status, headers: response.headers, ...(message ? { message } : {}) };
  } catch (error) {
    if (error instanceof HostError) throw error;
    if (signal.aborted) throw new HostError('ADAPTER_TIMEOUT', {}, { cause: error });
    const code = (error as { code?: string }).code;
    if (code !== undefined && CONNECT_REFUSED.has(code)) {
      throw new HostError('BROWSER_CONNECTOR_UNAVAILABLE', {}, { cause: error });
    }
    throw new HostError('ADAPTER_FAILURE', {}, { cause: error });
  }
}

export async function readCapped(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  declared: number,
  limit = MAX_ANSWER_BYTES,
): Promise<string> {
  if (declared > limit) {
    body.destroy();
    refuse('INVALID_BROWSER_RESPONSE', { bytes: declared, limit });
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) refuse('INVALID_BROWSER_RESPONSE', { bytes: size, limit });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Either the body is the message, or it is a stream of events of which one carries the message. */
function messageIn(text: string, type: string, id: unknown): Record<string, unknown> | undefined {
  const candidates = type.startsWith('text/event-stream') ? eventData(text) : [text];
  for (const candidate of candidates) {
    const value = parseObject(candidate);
    if (value && value.id === id && ('result' in value || 'error' in value)) return value;
  }
  return undefined;
}

function eventData(text: string): string[] {
  return text.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
      .join('\n'),
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
