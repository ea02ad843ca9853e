/**
 * The connection to the Thinking model: messages in, text out.
 *
 * Threat: the caller is a sandboxed plugin. It names neither address nor key nor model, and it sees neither. The answer
 * comes from outside: its type and size are checked while it arrives, redirects are refused, its errors become codes.
 * A change of the configuration drops what is on its way: an answer of the old model is not passed off as the new one's.
 */
import type { Dispatcher } from 'undici';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';

import type { CredentialResolver } from '../credentials/resolver.ts';
import { createQueue } from './queue.ts';
import type { ThinkingConfig } from './thinking-config.ts';
import { httpFailure, readText, type ThinkingCall, type ThinkingText, wireCall } from './thinking-request.ts';

/** Bytes that an answer may have. */
const MAX_ANSWER_BYTES = 65_536;
/** Bytes of text that one request may have; the Thinking plugin keeps each kind of question within less. */
const MAX_INPUT_BYTES = 256 * 1024;
/** Bytes of image data that one request may carry besides its text. */
const MAX_IMAGE_BYTES = 8 * 1024 * 1024;

export interface ThinkingProvider {
  /** Whether a model is set up. */
  readonly configured: boolean;
  /**
   * Asks once; nothing is repeated.
   * @throws a `BROWSER_TEXT_…` HostError. Never resolves with a text that the model did not finish.
   */
  complete(call: ThinkingCall, signal: AbortSignal): Promise<ThinkingText>;
  stats(): { active: number; waiting: number; calls: number; failed: Readonly<Record<string, number>> };
}

export interface ThinkingProviderDeps {
  /** The live section; each call captures it once. */
  config(): ThinkingConfig | undefined;
  credentials: CredentialResolver;
  dispatcher: Dispatcher;
}

export function createThinkingProvider(deps: ThinkingProviderDeps): ThinkingProvider {
  const queue = createQueue(() => deps.config() ?? { maxConcurrentRequests: 1, maxQueueSize: 0 });
  const failed: Record<string, number> = {};
  let calls = 0;

  async function complete(call: ThinkingCall, signal: AbortSignal): Promise<ThinkingText> {
    const config = deps.config();
    if (!config) refuse('THINKING_NOT_CONFIGURED');
    checkSize(call);
    const limit = new AbortController();
    const timeoutMs = Math.min(call.timeoutMs ?? config.timeoutMs, config.timeoutMs);
    const timer = setTimeout(() => limit.abort(new HostError('BROWSER_TEXT_TIMEOUT', { timeoutMs })), timeoutMs);
    const cancel = () => limit.abort(new HostError('TASK_CANCELLED'));
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    let leave: (() => void) | undefined;
    try {
      leave = await enter(config, limit.signal);
      const credential = await resolveCredential(config, limit.signal);
      if (deps.config() !== config) refuse('THINKING_CHANGED');
      const body = await send(deps.dispatcher, wireCall(config, credential, call), limit.signal);
      if (deps.config() !== config) refuse('THINKING_CHANGED');
      return readText(config, body);
    } finally {
      leave?.();
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  async function enter(config: ThinkingConfig, signal: AbortSignal): Promise<() => void> {
    try {
      return await queue.enter(config, signal);
    } catch (error) {
      if (isHostError(error, 'JEV_QUEUE_FULL')) refuse('BROWSER_TEXT_BUSY');
      throw error;
    }
  }

  async function resolveCredential(config: ThinkingConfig, signal: AbortSignal): Promise<string> {
    const { apiKeyFile, apiKeyEnv } = config;
    const reference = apiKeyFile !== undefined ? { file: apiKeyFile } : { env: apiKeyEnv ?? '' };
    try {
      return await deps.credentials.resolve(reference, { signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new HostError('BROWSER_TEXT_CREDENTIAL_UNAVAILABLE', isHostError(error) ? error.details : {});
    }
  }

  return {
    get configured() {
      return deps.config() !== undefined;
    },
    async complete(call, signal) {
      calls += 1;
      try {
        return await complete(call, signal);
      } catch (error) {
        const failure = isHostError(error) ? error : new HostError('BROWSER_TEXT_UNAVAILABLE');
        failed[failure.code] = (failed[failure.code] ?? 0) + 1;
        throw failure;
      }
    },
    stats: () => ({ active: queue.active, waiting: queue.waiting, calls, failed }),
  };
}

function checkSize({ messages }: ThinkingCall): void {
  let images = 0;
  const texts = messages.flatMap(({ content }) => {
    if (typeof content === 'string') return [content];
    return content.map((part) => {
      if (part.type === 'text') return part.text;
      images += part.data.length;
      return '';
    });
  });
  const bytes = Buffer.byteLength(JSON.stringify(texts));
  if (bytes > MAX_INPUT_BYTES || images > MAX_IMAGE_BYTES) {
    refuse('BROWSER_TEXT_INPUT_TOO_LARGE', { bytes });
  }
}

function send(
  dispatcher: Dispatcher,
  call: { origin: string; path: string; headers: Record<string, string>; body: string },
  signal: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let received = 0;
    const chunks: Buffer[] = [];
    const end = (error: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      reject(error);
      controller?.abort(new Error('ended'));
    };
    const onAbort = (): void => end(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const { origin, path, headers, body } = call;
    dispatcher.dispatch(
      { origin, path, method: 'POST', headers, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart(started) {
          controller = started;
          if (signal.aborted) started.abort(new Error('ended'));
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          if (statusCode < 200) return;
          status = statusCode;
          // A redirect is a refusal like any other status that is not a success: the key goes to no second address.
          if (status >= 300) end(httpFailure(status, responseHeaders));
          else if (!/^application\/json\s*(?:;|$)/i.test(String(responseHeaders['content-type'] ?? ''))) {
            end(new HostError('BROWSER_TEXT_INVALID_RESPONSE'));
          }
        },
        onResponseData(_controller, chunk) {
          received += chunk.length;
          if (received <= MAX_ANSWER_BYTES) chunks.push(chunk);
          else end(new HostError('BROWSER_TEXT_INVALID_RESPONSE'));
        },
        onResponseEnd() {
          signal.removeEventListener('abort', onAbort);
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
          } catch {
            reject(new HostError('BROWSER_TEXT_INVALID_RESPONSE'));
          }
        },
        onResponseError() {
          signal.removeEventListener('abort', onAbort);
          reject(signal.aborted ? signal.reason : new HostError('BROWSER_TEXT_UNAVAILABLE'));
        },
      },
    );
  });
}
