/**
 * The stand-in for the evaluation provider: an HTTP server that speaks the true wire contract, so that the host in front
 * of it cannot tell the difference. For this machine only; it listens on the loopback interface.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from './engine.ts';
import { type FaultName, faults, isFaultName } from './faults.ts';
import { MAX_BODY_BYTES, models, readWireRequest, resolvedModel, WireError, type WireRequest } from './wire.ts';

export interface EvaluatorOptions {
  engine: Engine;
  /** 0 takes a free one. */
  port?: number;
  /** Milliseconds that every answer waits before it is sent. */
  latencyMs?: number;
  /** When set, requests must carry it as a bearer token. Without it any authorization is ignored. */
  apiKey?: string;
  fault?: FaultName;
  /** Told of every evaluation that was answered or refused. */
  onRequest?: (seen: { path: string; headers: IncomingMessage['headers']; body: unknown; status: number }) => void;
}

export interface Evaluator {
  url: string;
  port: number;
  /** Evaluations received. */
  readonly received: number;
  /** From now on every answer has this fault, or only the next `times`. Undefined ends it. */
  setFault(name: FaultName | undefined, times?: number): void;
  close(): Promise<void>;
}

const EVALUATE = new Map([
  ['/v1/systemone', false],
  ['/v1/jev/evaluate', true],
]);

export async function startEvaluator(options: EvaluatorOptions): Promise<Evaluator> {
  let received = 0;
  let fault = options.fault;
  let faultsLeft = Number.POSITIVE_INFINITY;

  const takeFault = (request: IncomingMessage): FaultName | undefined => {
    const asked = request.headers['x-evaluator-fault'];
    if (isFaultName(asked)) return asked;
    if (fault === undefined || faultsLeft <= 0) return undefined;
    faultsLeft -= 1;
    return fault;
  };

  async function evaluate(request: IncomingMessage, response: ServerResponse, upstream: boolean): Promise<void> {
    received += 1;
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    let body: unknown;
    let status = 200;
    try {
      checkKey(request, options.apiKey);
      body = await readJson(request);
      const images = request.headers['typesafe-danger-zone-images'] === 'true';
      const wire = readWireRequest(body, upstream, images);
      const name = takeFault(request);
      if (options.latencyMs) await delay(options.latencyMs, undefined, { signal: closed.signal });
      const answer = await answerOf(options.engine, wire, upstream, closed.signal);
      const chosen = name === undefined ? undefined : faults[name];
      if (chosen?.kind === 'response') {
        chosen.respond({ request, response, wire, answer });
        return;
      }
      send(response, 200, chosen ? chosen.change(answer, wire) : answer);
    } catch (error) {
      if (closed.signal.aborted) return;
      const failure = error instanceof WireError ? error : new WireError(500, { detail: 'The stand-in failed.' });
      status = failure.status;
      send(response, status, failure.body);
      if (!(error instanceof WireError)) throw error;
    } finally {
      options.onRequest?.({ path: request.url ?? '', headers: request.headers, body, status });
    }
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const upstream = EVALUATE.get(path);
    if (upstream !== undefined && request.method === 'POST') {
      evaluate(request, response, upstream).catch((error) => process.emitWarning(error));
    } else if (request.method === 'GET' && path === '/v1/models') {
      send(response, 200, { models });
    } else if (request.method === 'GET' && (path === '/healthz' || path === '/readyz')) {
      send(response, 200, { status: 'ok', engine: options.engine.name, received });
    } else {
      send(response, upstream === undefined ? 404 : 405, { detail: 'Not Found' });
    }
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get received() {
      return received;
    },
    setFault(name, times = Number.POSITIVE_INFINITY) {
      fault = name;
      faultsLeft = times;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answerOf(
  engine: Engine,
  wire: WireRequest,
  upstream: boolean,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const reply = await engine.answer(wire, signal);
  const characters = JSON.stringify([wire.state, wire.questions]).length;
  return {
    model: resolvedModel(wire.model),
    answers: reply.answers,
    usage: reply.usage ?? { input_tokens: Math.ceil(characters / 4), output_tokens: Object.keys(reply.answers).length },
    ...(upstream ? { request_id: wire.requestId, requested_model: wire.model } : {}),
    ...(reply.readout === undefined ? {} : { x_readout: reply.readout }),
  };
}

function checkKey(request: IncomingMessage, apiKey: string | undefined): void {
  if (apiKey === undefined || request.headers.authorization === `Bearer ${apiKey}`) return;
  const missing = request.headers.authorization === undefined;
  throw new WireError(missing ? 403 : 401, {
    detail: { error_type: 'authentication_error', message: missing ? 'Missing API key.' : 'Invalid API key.' },
  });
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new WireError(413, { detail: 'Request body too large.' });
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new WireError(422, { detail: [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error' }] });
  }
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-typesafe-request-id': randomUUID(),
  });
  response.end(text);
}
