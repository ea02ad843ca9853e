/** One token from a server that speaks the OpenAI chat contract, with its alternatives where the server tells them. */
import { request } from 'undici';
import { WireError } from '../wire.ts';

/** Alternatives that the contract allows to ask for. */
const TOP_LOGPROBS = 20;
const MAX_RESPONSE_BYTES = 1024 * 1024;

export interface ChatServer {
  /** Up to and including the version: `http://127.0.0.1:11434/v1`. */
  baseUrl: string;
  model: string;
  apiKey?: string;
}

export interface OneToken {
  text: string;
  /** Token and natural logarithm of its probability, when the server gave them. */
  alternatives?: { token: string; logprob: number }[];
  usage: { input: number; output: number };
}

/** @throws WireError 503 when the server fails or answers something else: a client of ours sees an unavailable provider. */
export async function oneToken(
  server: ChatServer,
  system: string,
  user: string,
  signal: AbortSignal,
): Promise<OneToken> {
  const response = await request(`${server.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(server.apiKey === undefined ? {} : { authorization: `Bearer ${server.apiKey}` }),
    },
    body: JSON.stringify({
      model: server.model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      max_tokens: 1,
      temperature: 0,
      logprobs: true,
      top_logprobs: TOP_LOGPROBS,
    }),
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw unavailable('The model server does not answer.');
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw unavailable('The model server answered too much.');
    chunks.push(chunk);
  }
  if (response.statusCode !== 200) throw unavailable(`The model server answered ${response.statusCode}.`);
  return read(Buffer.concat(chunks).toString('utf8'));
}

interface Completion {
  choices?: {
    message?: { content?: unknown };
    logprobs?: { content?: { top_logprobs?: { token?: unknown; logprob?: unknown }[] }[] } | null;
  }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown };
}

function read(text: string): OneToken {
  let completion: Completion;
  try {
    completion = JSON.parse(text) as Completion;
  } catch {
    throw unavailable('The model server did not answer JSON.');
  }
  const choice = completion.choices?.[0];
  if (!choice) throw unavailable('The model server answered without a choice.');
  const alternatives = (choice.logprobs?.content?.[0]?.top_logprobs ?? []).flatMap(({ token, logprob }) =>
    typeof token === 'string' && typeof logprob === 'number' ? [{ token, logprob }] : [],
  );
  const { prompt_tokens: input, completion_tokens: output } = completion.usage ?? {};
  return {
    text: typeof choice.message?.content === 'string' ? choice.message.content : '',
    ...(alternatives.length > 0 ? { alternatives } : {}),
    usage: { input: count(input), output: count(output) },
  };
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

function unavailable(detail: string): WireError {
  return new WireError(503, { detail });
}
