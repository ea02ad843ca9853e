/**
 * The small HTTP server that device servers share: a bearer key before anything is read, JSON in and out, bodies within a
 * limit.
 *
 * Threat: any page in any browser on this machine can send requests here. The Host header must name this server, a request
 * that carries an Origin is refused (no page has business here but the owner's own), and nothing happens without a key.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** Bytes of one request's body. */
const MAX_BODY = 1024 * 1024;
/** Milliseconds for a whole request to arrive. */
const ARRIVE_MS = 30_000;

export interface Incoming {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** The parsed body; undefined when there is none. */
  body: unknown;
  /** Aborts when the caller goes away before it is answered. */
  signal: AbortSignal;
  response: ServerResponse;
}

export interface Outgoing {
  status: number;
  body?: string | undefined;
  type?: string;
  headers?: Record<string, string>;
}

/** @returns the answer; undefined when the handler answered on its own. */
export type Handler = (request: Incoming) => Promise<Outgoing | undefined>;

export interface ListenOptions {
  host: string;
  port: number;
  tls?: { cert: Buffer; key: Buffer };
  /** Decides on the headers alone, before the body is read. @returns an answer to refuse with. */
  admit(request: { method: string; path: string; headers: IncomingMessage['headers'] }): Outgoing | undefined;
  handle: Handler;
}

export interface Listening {
  url: string;
  close(): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listening> {
  const answer = (request: IncomingMessage, response: ServerResponse) => void serve(options, request, response);
  const server: Server = options.tls
    ? createTlsServer({ cert: options.tls.cert, key: options.tls.key }, answer)
    : createServer(answer);
  server.requestTimeout = ARRIVE_MS;
  server.keepAliveTimeout = 65_000;
  server.headersTimeout = 66_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const name = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `${options.tls ? 'https' : 'http'}://${name}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(options: ListenOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const method = request.method ?? 'GET';
  const target = request.url ?? '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const refused = options.admit({ method, path, headers: request.headers });
  if (refused) {
    // The rest of an unwanted body is not read.
    response.setHeader('connection', 'close');
    return send(response, refused);
  }
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  try {
    const body = await readBody(request);
    const query = new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1));
    const answer = await options.handle({
      method,
      path,
      query,
      headers: request.headers,
      body,
      signal: gone.signal,
      response,
    });
    if (answer) send(response, answer);
  } catch (error) {
    if (error instanceof BadBody) send(response, json(error.status, { error: error.code }));
    else send(response, json(500, { error: 'DEVICE_FAILURE' }));
  }
}

class BadBody extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity') {
    throw new BadBody(415, 'ENCODING_NOT_SUPPORTED');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new BadBody(413, 'BODY_TOO_LARGE');
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  const text = (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString('utf8');
  if (tooDeep(text)) throw new BadBody(400, 'BODY_TOO_DEEP');
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}

/** Stands for a body that is no JSON; protocols answer that in their own way. */
export const NOT_JSON = Symbol('not JSON');

const MAX_DEPTH = 64;

function tooDeep(text: string): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inText) {
      if (code === 92) i++;
      else if (code === 34) inText = false;
    } else if (code === 34) inText = true;
    else if (code === 91 || code === 123) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === 93 || code === 125) depth--;
  }
  return false;
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Outgoing {
  return { status, body: JSON.stringify(value), type: 'application/json', ...(headers ? { headers } : {}) };
}

function send(response: ServerResponse, { status, body, type, headers }: Outgoing): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = body === undefined ? undefined : Buffer.from(body);
  response.writeHead(status, {
    ...(bytes
      ? { 'content-type': type ?? 'application/json', 'content-length': bytes.length }
      : { 'content-length': 0 }),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(bytes);
}
