/**
 * One connection to a browser's debugging endpoint, for programs.
 *
 * Threat: the protocol is the whole browser. Only the operator's exact methods leave, page-scoped ones only with a session
 * that the caller names (there is no current tab to race for), few at a time, each within a limit. A connection that
 * broke is not opened again by itself: a caller that does not notice would act on a browser it knows nothing about.
 * A command that was sent cannot be taken back; cancelling it only ends the waiting.
 */
import { WebSocket } from 'ws';
import { programError, refuseProgram } from '../../sdk/programs/program-error.ts';
import type { BrowserHarnessConfig } from './config.ts';

/** Commands that may be on their way at the same time. */
export const MAX_OUTSTANDING = 16;
/** Bytes of one message of the browser. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Domains that speak to the browser, not to a page. */
const BROWSER_DOMAINS = ['Browser.', 'Target.', 'Chrome.'];

const says = {
  closed: 'Browser Harness provider closed',
  disconnected: 'Browser Harness disconnected; explicitly reconnect before retrying',
  notConnected: 'Call browser.connect before browser.cdp',
  needsSession: 'Page-scoped CDP calls require an explicit sessionId',
  full: 'Browser Harness outstanding call limit reached',
  timeout: 'Browser Harness call timed out; its effect is not known',
  cancelled: 'Browser Harness call cancelled; its effect is not known',
  unreachable: 'Browser Harness could not connect',
} as const;

function fail(why: keyof typeof says): never {
  throw problem(why);
}

export interface CdpCall {
  method: string;
  params?: Record<string, unknown>;
  sessionId?: string;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export interface HarnessDeps {
  /** Opens the socket; tests give their own. */
  open?(url: string): WebSocket;
}

export class BrowserHarness {
  readonly config: BrowserHarnessConfig;
  readonly #open: (url: string) => WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #socket: WebSocket | undefined;
  #connecting: Promise<void> | undefined;
  #wasConnected = false;
  #closed = false;
  #next = 1;

  constructor(config: BrowserHarnessConfig, { open = openSocket }: HarnessDeps = {}) {
    this.config = config;
    this.#open = open;
  }

  /** Connects once; whoever asks meanwhile, or afterwards, gets the same connection. */
  async connect(signal: AbortSignal): Promise<{ connected: true }> {
    if (this.#closed) fail('closed');
    if (signal.aborted) fail('cancelled');
    if (this.#socket?.readyState === WebSocket.OPEN) return { connected: true };
    this.#connecting ??= this.#connectNow().finally(() => {
      this.#connecting = undefined;
    });
    await orAborted(this.#connecting, signal);
    return { connected: true };
  }

  #connectNow(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = this.#open(this.config.wsUrl);
      const timer = setTimeout(() => socket.terminate(), CONNECT_TIMEOUT_MS);
      const lost = () => {
        clearTimeout(timer);
        if (this.#socket === socket) this.#disconnected();
        reject(problem('unreachable'));
      };
      socket.once('open', () => {
        clearTimeout(timer);
        // It was closed while the connection was on its way.
        if (this.#closed) {
          socket.terminate();
          reject(problem('closed'));
          return;
        }
        this.#socket = socket;
        this.#wasConnected = true;
        resolve();
      });
      socket.on('message', (data) => this.#received(String(data)));
      socket.on('error', lost);
      socket.on('close', lost);
    });
  }

  async cdp({ method, params, sessionId }: CdpCall, signal: AbortSignal): Promise<unknown> {
    if (this.#closed) fail('closed');
    if (!this.config.allowedMethods.includes(method))
      refuseProgram('PROGRAM_CALL_FAILED', `Invalid ${this.config.id}.cdp arguments: method`);
    if (sessionId === undefined && !BROWSER_DOMAINS.some((domain) => method.startsWith(domain))) fail('needsSession');
    const socket = this.#socket;
    if (!socket) fail(this.#wasConnected ? 'disconnected' : 'notConnected');
    if (this.#waiting.size >= MAX_OUTSTANDING) fail('full');
    if (signal.aborted) fail('cancelled');

    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
      };
      const aborted = () => {
        // The place stays taken until the browser answers or the time is up: the command is still on its way.
        done();
        reject(problem('cancelled'));
        const late = setTimeout(() => this.#waiting.delete(id), this.config.callTimeoutMs);
        late.unref();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        done();
        reject(problem('timeout'));
      }, this.config.callTimeoutMs);
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.set(id, {
        resolve: (result) => {
          done();
          resolve(result);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      const message = { id, method, params: params ?? {}, ...(sessionId === undefined ? {} : { sessionId }) };
      socket.send(JSON.stringify(message));
    });
  }

  #received(text: string): void {
    let message: { id?: unknown; result?: unknown; error?: { message?: unknown } };
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (typeof message?.id !== 'number') return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (!waiting) return;
    if (message.error === undefined) waiting.resolve(message.result ?? {});
    else waiting.reject(browserError(message.error.message));
  }

  #disconnected(): void {
    this.#socket = undefined;
    for (const waiting of this.#waiting.values()) waiting.reject(problem('disconnected'));
    this.#waiting.clear();
  }

  close(): void {
    this.#closed = true;
    this.#socket?.terminate();
    this.#disconnected();
  }
}

function openSocket(url: string): WebSocket {
  return new WebSocket(url, { maxPayload: MAX_MESSAGE_BYTES, followRedirects: false, perMessageDeflate: false });
}

function problem(why: keyof typeof says): Error {
  return programError('PROGRAM_CALL_FAILED', says[why]);
}

function browserError(message: unknown): Error {
  const text = typeof message === 'string' ? message.slice(0, 300) : 'failed';
  return programError('PROGRAM_CALL_FAILED', `CDP: ${text}`);
}

function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(problem('cancelled'));
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
