/** The two wire shapes of a text model: what is sent, and what of the answer counts. */
import type { ProviderMessage } from '../../sdk/contract/capabilities.ts';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { MAX_OUTPUT_TOKENS, type ThinkingConfig } from './thinking-config.ts';

export interface ThinkingCall {
  messages: ProviderMessage[];
  maxTokens?: number;
  timeoutMs?: number;
}

/** What the model wrote, whole. `stop` is always the provider's word for an end of its own accord. */
export interface ThinkingText {
  text: string;
  stop: string;
}

export interface WireCall {
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

type Part = Exclude<ProviderMessage['content'], string>[number];

export function wireCall(config: ThinkingConfig, credential: string, call: ThinkingCall): WireCall {
  const url = new URL(config.baseUrl);
  const base = url.pathname.replace(/\/+$/, '');
  const max_tokens = Math.min(call.maxTokens ?? MAX_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS);
  const { model } = config;
  if (config.api === 'openai-chat') {
    return {
      origin: url.origin,
      path: `${base}/chat/completions`,
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens, messages: call.messages.map(openaiMessage) }),
    };
  }
  const system = call.messages
    .filter((message) => message.role === 'system')
    .map(plainText)
    .join('\n\n');
  return {
    origin: url.origin,
    path: `${base}/messages`,
    headers: {
      'x-api-key': credential,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      model,
      max_tokens,
      ...(system === '' ? {} : { system }),
      messages: call.messages.filter((message) => message.role !== 'system').map(anthropicMessage),
    }),
  };
}

function plainText({ content }: ProviderMessage): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function openaiMessage({ role, content }: ProviderMessage): unknown {
  if (typeof content === 'string') return { role, content };
  const part = (entry: Part) =>
    entry.type === 'text'
      ? { type: 'text', text: entry.text }
      : { type: 'image_url', image_url: { url: `data:${entry.mimeType};base64,${entry.data}` } };
  return { role, content: content.map(part) };
}

function anthropicMessage({ role, content }: ProviderMessage): unknown {
  if (typeof content === 'string') return { role, content };
  const part = (entry: Part) =>
    entry.type === 'text'
      ? { type: 'text', text: entry.text }
      : { type: 'image', source: { type: 'base64', media_type: entry.mimeType, data: entry.data } };
  return { role, content: content.map(part) };
}

/**
 * @throws BROWSER_TEXT_INVALID_RESPONSE for anything that is not one finished text. A text that was cut off is not a
 *   shorter answer, it is none.
 */
export function readText(config: ThinkingConfig, body: unknown): ThinkingText {
  return config.api === 'openai-chat' ? readOpenai(body) : readAnthropic(body);
}

function readOpenai(body: unknown): ThinkingText {
  const choices = member(body, 'choices');
  const [choice] = Array.isArray(choices) ? choices : [];
  const stop = member(choice, 'finish_reason');
  const text = member(member(choice, 'message'), 'content');
  if (stop !== 'stop' || typeof text !== 'string') return invalid();
  return { text, stop };
}

function readAnthropic(body: unknown): ThinkingText {
  const stop = member(body, 'stop_reason');
  const content = member(body, 'content');
  if (stop !== 'end_turn' || !Array.isArray(content)) return invalid();
  const texts = content.filter((part) => member(part, 'type') === 'text').map((part) => member(part, 'text'));
  const text = texts.length === 1 ? texts[0] : undefined;
  return typeof text === 'string' ? { text, stop } : invalid();
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function invalid(): never {
  return refuse('BROWSER_TEXT_INVALID_RESPONSE');
}

const hint = (value: unknown) =>
  typeof value === 'string' && value.length < 128 && /^[\w\s,:.+-]+$/.test(value) ? value : undefined;

/** What a refusal of the provider means. Nothing of its text is passed on: it can repeat what was sent. */
export function httpFailure(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): HostError {
  const code = httpCodes[status] ?? 'BROWSER_TEXT_HTTP_ERROR';
  const retryAfter = hint(headers['retry-after']);
  return new HostError(code, { status, ...(retryAfter === undefined ? {} : { retryAfter }) });
}

const httpCodes: Readonly<Record<number, `BROWSER_TEXT_HTTP_${HttpStatus}`>> = {
  400: 'BROWSER_TEXT_HTTP_400',
  401: 'BROWSER_TEXT_HTTP_401',
  402: 'BROWSER_TEXT_HTTP_402',
  403: 'BROWSER_TEXT_HTTP_403',
  404: 'BROWSER_TEXT_HTTP_404',
  408: 'BROWSER_TEXT_HTTP_408',
  413: 'BROWSER_TEXT_HTTP_413',
  422: 'BROWSER_TEXT_HTTP_422',
  429: 'BROWSER_TEXT_HTTP_429',
  500: 'BROWSER_TEXT_HTTP_500',
  502: 'BROWSER_TEXT_HTTP_502',
  503: 'BROWSER_TEXT_HTTP_503',
  504: 'BROWSER_TEXT_HTTP_504',
  529: 'BROWSER_TEXT_HTTP_529',
};
type HttpStatus = 400 | 401 | 402 | 403 | 404 | 408 | 413 | 422 | 429 | 500 | 502 | 503 | 504 | 529;
