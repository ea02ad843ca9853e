import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { PrivateNames } from '../credentials/private-names.ts';
import { createCredentialResolver } from '../credentials/resolver.ts';
import { RemovedExperience, ThinkingConfig } from './thinking-config.ts';
import { createThinkingProvider } from './thinking-provider.ts';

const closing: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const KEY = 'canary-thinking-key';

async function model(answer: RequestListener, settings: Record<string, unknown> = {}) {
  const seen: { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    seen.push({
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const keyFile = join(mkdtempSync(join(tmpdir(), 'thinking-')), 'key');
  writeFileSync(keyFile, `${KEY}\n`, { mode: 0o600 });
  const dispatcher = new Agent();
  closing.push(
    () => dispatcher.destroy(),
    () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  );
  const { port } = server.address() as AddressInfo;
  let config: ThinkingConfig | undefined = v.parse(ThinkingConfig, {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    model: 'small-text',
    apiKeyFile: keyFile,
    ...settings,
  });
  const provider = createThinkingProvider({
    config: () => config,
    credentials: createCredentialResolver({ env: {}, privateNames: new PrivateNames() }),
    dispatcher,
  });
  const ask = (signal = new AbortController().signal) =>
    provider.complete(
      {
        messages: [
          { role: 'system', content: 'rules' },
          { role: 'user', content: 'data' },
        ],
      },
      signal,
    );
  return {
    seen,
    ask,
    provider,
    reload(next: ThinkingConfig | undefined) {
      config = next;
    },
    config: () => config,
  };
}

const json =
  (body: unknown, status = 200): RequestListener =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' })
      .end(JSON.stringify(body));
const openai = (content: unknown, finish_reason = 'stop') =>
  json({ choices: [{ message: { content }, finish_reason }] });

describe('the connection to the Thinking model', () => {
  it('speaks openai-chat with a bearer', async () => {
    const { seen, ask } = await model(openai('hello'));
    expect(await ask()).toEqual({ text: 'hello', stop: 'stop' });
    expect(seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
      body: {
        model: 'small-text',
        max_tokens: 4096,
        messages: [{ role: 'system' }, { role: 'user', content: 'data' }],
      },
    });
  });

  it('speaks anthropic-messages with x-api-key and the rules as system', async () => {
    const { seen, ask } = await model(json({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'hello' }] }), {
      api: 'anthropic-messages',
    });
    expect(await ask()).toEqual({ text: 'hello', stop: 'end_turn' });
    expect(seen[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': KEY },
      body: { system: 'rules', messages: [{ role: 'user', content: 'data' }] },
    });
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['a text that was cut off', openai('half a', 'length'), 'BROWSER_TEXT_INVALID_RESPONSE'],
    ['no text', openai(null), 'BROWSER_TEXT_INVALID_RESPONSE'],
    ['another shape', json({ text: 'hello' }), 'BROWSER_TEXT_INVALID_RESPONSE'],
    ['too much', openai('x'.repeat(70_000)), 'BROWSER_TEXT_INVALID_RESPONSE'],
    [
      'an event stream',
      ((_q, r) =>
        void r.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: x\n\n')) as RequestListener,
      'BROWSER_TEXT_INVALID_RESPONSE',
    ],
    ['a refusal', json({ error: { message: KEY } }, 401), 'BROWSER_TEXT_HTTP_401'],
    ['a slow-down', json({}, 429), 'BROWSER_TEXT_HTTP_429'],
    ['an odd status', json({}, 418), 'BROWSER_TEXT_HTTP_ERROR'],
    [
      'a redirect',
      ((_q, r) => void r.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()) as RequestListener,
      'BROWSER_TEXT_HTTP_ERROR',
    ],
    ['a closed connection', ((q) => void q.socket.destroy()) as RequestListener, 'BROWSER_TEXT_UNAVAILABLE'],
  ])('turns %s into a code and never into a text', async (_name, answer, code) => {
    const { ask, seen } = await model(answer);
    const failure = await ask().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code });
    expect(JSON.stringify(failure)).not.toContain(KEY);
    expect(seen).toHaveLength(1);
  });

  it('ends a model that does not answer, and frees its slot', async () => {
    const { ask, provider } = await model(() => {}, { timeoutMs: 1000, maxConcurrentRequests: 1 });
    await expect(ask()).rejects.toMatchObject({ code: 'BROWSER_TEXT_TIMEOUT' });
    expect(provider.stats()).toMatchObject({ active: 0, waiting: 0, failed: { BROWSER_TEXT_TIMEOUT: 1 } });
  });

  it('ends at once when the run is cancelled', async () => {
    const cancel = new AbortController();
    const { ask } = await model(() => cancel.abort());
    await expect(ask(cancel.signal)).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
  });

  it('drops an answer when the configuration changed on its way', async () => {
    const state: { reload?: () => void } = {};
    const made = await model((request, response) => {
      state.reload?.();
      openai('late')(request, response);
    });
    state.reload = () => made.reload({ ...(made.config() as ThinkingConfig) });
    await expect(made.ask()).rejects.toMatchObject({ code: 'THINKING_CHANGED' });
  });

  it('refuses a question beyond its size before anything is sent', async () => {
    const { provider, seen } = await model(openai('hello'));
    const big = provider.complete(
      { messages: [{ role: 'user', content: 'x'.repeat(300_000) }] },
      new AbortController().signal,
    );
    await expect(big).rejects.toMatchObject({ code: 'BROWSER_TEXT_INPUT_TOO_LARGE' });
    expect(seen).toHaveLength(0);
  });

  it('says so when no model is set up', async () => {
    const { ask, reload, provider } = await model(openai('hello'));
    reload(undefined);
    expect(provider.configured).toBe(false);
    await expect(ask()).rejects.toMatchObject({ code: 'THINKING_NOT_CONFIGURED' });
  });
});

describe('gateway.jev.thinking', () => {
  const good = { baseUrl: 'https://models.example/v1', model: 'm', apiKeyEnv: 'JEV_TEXT_API_KEY' };
  it.each([
    ['a plain address', { ...good, baseUrl: 'http://models.example/v1' }],
    ['a password in the address', { ...good, baseUrl: 'https://u:p@models.example/v1' }],
    ['a query', { ...good, baseUrl: 'https://models.example/v1?key=1' }],
    ['no credential', { baseUrl: good.baseUrl, model: 'm' }],
    ['two credentials', { ...good, apiKeyFile: '/k' }],
    ['a relative key file', { baseUrl: good.baseUrl, model: 'm', apiKeyFile: 'k' }],
    ['an unknown key', { ...good, temperature: 0 }],
    ['a variable of the system', { ...good, apiKeyEnv: 'PATH' }],
  ])('refuses %s', (_name, config) => {
    expect(v.safeParse(ThinkingConfig, config).success).toBe(false);
  });

  it('takes the documented form', () => {
    expect(v.parse(ThinkingConfig, good)).toMatchObject({ api: 'openai-chat', timeoutMs: 15_000 });
  });

  it('refuses the removed experience setting by saying that it was removed', () => {
    const section = v.strictObject({ experience: RemovedExperience });
    expect(v.safeParse(section, {}).success).toBe(true);
    expect(v.safeParse(section, { experience: { enabled: false } }).issues?.[0].message).toContain('removed');
  });
});
