import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../host/evaluator/engine.ts';
import { type FaultName, faults } from '../../host/evaluator/faults.ts';
import { lexicalEngine } from '../../host/evaluator/lexical/lexical-engine.ts';
import { type Evaluator, startEvaluator } from '../../host/evaluator/server.ts';
import type { JevQuestion } from '../../sdk/contract/jev.ts';
import { png } from '../../test/jev/images.ts';
import { caller, failure, jevSection, type TestService, testService } from '../../test/jev/service.ts';
import { MAX_IDS_PER_PRINCIPAL } from './request-ledger.ts';
import type { JevCaller } from './service.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
async function evaluator(options: Partial<Parameters<typeof startEvaluator>[0]> = {}): Promise<Evaluator> {
  const started = await startEvaluator({ engine: lexicalEngine, ...options });
  open.push(started);
  return started;
}
function service(...args: Parameters<typeof testService>): TestService {
  const made = testService(...args);
  open.push(made);
  return made;
}

const questions: Record<string, JevQuestion> = {
  asks: { type: 'noul', instructions: 'Does the user ask for a refund?' },
  team: {
    type: 'choice',
    instructions: 'Which team?',
    criteria: { billing: 'refunds', technical: 'bugs', other: null },
  },
  tone: { type: 'score', instructions: 'How polite?', criteria: ['rude', 'neutral', 'polite'] },
};
const request = { state: { message: 'Please refund the charge.' }, questions };

describe('an evaluation', () => {
  it('asks TypeSafe’s shape and passes the answer on', async () => {
    const seen: { path: string; headers: IncomingHttpHeaders; body: unknown }[] = [];
    const { url } = await evaluator({ apiKey: 'test-credential-value', onRequest: (one) => seen.push(one) });
    const { service: jev } = service({ baseUrl: url });
    const result = await jev.evaluate({ ...request, requestId: 'mine-1' }, caller);
    expect(result).toMatchObject({ requestId: 'mine-1', requestedModel: 'jev-1.13.0', model: 'jev-1.13.0' });
    expect(result.answers.team).toMatchObject({ type: 'choice', choice: 'billing' });
    expect(Object.keys(result).sort()).toEqual(['answers', 'model', 'requestId', 'requestedModel', 'usage']);

    const [sent] = seen;
    expect(sent?.path).toBe('/v1/systemone');
    expect(sent?.body).toEqual({ model: 'jev-1.13.0', ...request });
    const wireId = createHash('sha256')
      .update(JSON.stringify(['api:test', 'assistant', 'mine-1']))
      .digest('hex');
    expect(sent?.headers).toEqual({
      host: new URL(url).host,
      connection: 'keep-alive',
      authorization: 'Bearer test-credential-value',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(JSON.stringify(sent?.body))),
      'x-request-id': wireId,
    });
  });

  it('asks an upstream’s shape with a hashed id and the model as it is', async () => {
    const bodies: Record<string, unknown>[] = [];
    const { url } = await evaluator({ onRequest: ({ body }) => bodies.push(body as Record<string, unknown>) });
    const { service: jev } = service({ provider: 'upstream', baseUrl: `${url}/v1`, model: 'vendor/x/jev-1.13.0' });
    const result = await jev.evaluate({ ...request, requestId: 'mine-1' }, caller);
    expect(result).toMatchObject({ requestedModel: 'vendor/x/jev-1.13.0', model: 'jev-1.13.0' });
    expect(bodies[0]?.request_id).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(bodies[0] ?? {})).toEqual(['request_id', 'model', 'state', 'questions']);
  });

  it('with an image or a box goes to the images model with its header, and text keeps its own', async () => {
    const seen: { model: unknown; assets: unknown; header: unknown }[] = [];
    const { url } = await evaluator({
      onRequest: ({ body, headers }) => {
        const { model, assets } = body as { model: unknown; assets: unknown };
        seen.push({ model, assets, header: headers['typesafe-danger-zone-images'] });
      },
    });
    const images = { enabled: true };
    const { service: jev } = service({ baseUrl: url, images });
    const assets = {
      shot: { type: 'image' as const, format: 'png' as const, data_base64: png(300, 400).toString('base64') },
    };
    const where: Record<string, JevQuestion> = { where: { type: 'box', instructions: 'the button' } };
    const withImage = await jev.evaluate({ state: 'look at shot', questions, assets }, caller);
    await jev.evaluate({ state: 'look at shot', questions: where, assets }, caller);
    await jev.evaluate(request, caller);
    expect(withImage).toMatchObject({ requestedModel: 'jev-1.14.0', model: 'jev-1.14.0' });
    expect(seen).toEqual([
      { model: 'jev-1.14.0', assets, header: 'true' },
      { model: 'jev-1.14.0', assets, header: 'true' },
      { model: 'jev-1.13.0', assets: undefined, header: undefined },
    ]);
    const upstream = service({ provider: 'upstream', baseUrl: url, images });
    const refused = await failure(upstream.service.evaluate({ state: 'look at shot', questions, assets }, caller));
    expect(refused).toMatchObject({ code: 'JEV_INVALID_REQUEST' });
    expect(seen).toHaveLength(3);
  });

  it('has at most 64 questions from an agent and 128 from a program, where the operator says nothing', async () => {
    const { url } = await evaluator();
    const { service: jev } = service({ baseUrl: url });
    const many = (count: number) => ({
      state: 's',
      questions: Object.fromEntries(
        Array.from({ length: count }, (_, n): [string, JevQuestion] => [`q${n}`, { type: 'noul', instructions: 'x' }]),
      ),
    });
    const asks = (count: number, consumer: JevCaller['consumer']) =>
      jev.evaluate(many(count), { ...caller, consumer }).then(
        ({ answers }) => Object.keys(answers).length,
        ({ code }) => code,
      );
    expect(await asks(64, 'mcp')).toBe(64);
    expect(await asks(65, 'mcp')).toBe('JEV_INVALID_REQUEST');
    expect(await asks(128, 'program')).toBe(128);
    expect(await asks(129, 'program')).toBe('JEV_INVALID_REQUEST');
    const narrow = service({ baseUrl: url, maxQuestions: 2 }).service;
    await expect(narrow.evaluate(many(3), { ...caller, consumer: 'program' })).rejects.toThrow(/at most 2/);
  });

  it('needs Jev to be on, the agent to exist and to be allowed', async () => {
    const { url } = await evaluator();
    const { service: jev, live } = service({
      baseUrl: url,
      allowedAgentIds: ['assistant', 'ghost', 'narrow', 'toolless'],
    });
    live.agents = { assistant: {}, other: {}, narrow: { jev: { enabled: false } }, toolless: { allow_tools: false } };
    for (const agentId of ['ghost', 'other', 'narrow', 'toolless']) {
      expect(jev.allowed(agentId)).toBe(false);
      expect(await failure(jev.evaluate(request, { ...caller, agentId }))).toMatchObject({ code: 'JEV_ACCESS_DENIED' });
    }
    expect(jev.allowed('assistant')).toBe(true);
    live.config = jevSection({ baseUrl: url, enabled: false });
    expect(await failure(jev.evaluate(request, caller))).toMatchObject({ code: 'JEV_DISABLED' });
  });

  it.each([
    ['after it waited in the queue', 'queue'],
    ['while the credential is read', 'credential'],
    ['before the answer is handed out', 'answer'],
  ])('is discarded when access is withdrawn %s', async (_, moment) => {
    const gate = deferred();
    const reached = deferred();
    const engine: Engine = {
      name: 'gated',
      answer: async (asked) => {
        reached.resolve();
        await gate.promise;
        return lexicalEngine.answer(asked, new AbortController().signal);
      },
    };
    const server = await evaluator({ engine });
    const made = service(
      { baseUrl: server.url, maxConcurrentRequests: 1 },
      moment === 'credential'
        ? {
            sources: {
              env: {},
              credentials: {
                resolve: async () => {
                  reached.resolve();
                  await gate.promise;
                  return 'late';
                },
                forgetCommands: () => {},
              },
            },
          }
        : {},
    );
    const first = failure(made.service.evaluate(request, caller));
    const second = moment === 'queue' ? failure(made.service.evaluate(request, caller)) : undefined;
    await reached.promise;
    made.live.agents = {};
    gate.resolve();
    expect(await first).toMatchObject({ code: 'JEV_ACCESS_DENIED' });
    if (second) expect(await second).toMatchObject({ code: 'JEV_ACCESS_DENIED' });
    expect(server.received).toBe(moment === 'credential' ? 0 : 1);
  });

  it('is discarded when the caller’s own key was taken away meanwhile', async () => {
    const { url } = await evaluator();
    const { service: jev } = service({ baseUrl: url });
    let known = true;
    const work = jev.evaluate(request, caller, { authorized: () => known });
    known = false;
    expect(await failure(work)).toMatchObject({ code: 'JEV_ACCESS_DENIED' });
  });

  it('keeps the model and the address with which it began when the configuration changes', async () => {
    const gate = deferred();
    const reached = deferred();
    const engine: Engine = {
      name: 'gated',
      answer: async (asked, signal) => {
        reached.resolve();
        await gate.promise;
        return lexicalEngine.answer(asked, signal);
      },
    };
    const old = await evaluator({ engine });
    const fresh = await evaluator();
    const { service: jev, live } = service({ baseUrl: old.url, maxConcurrentRequests: 1 });
    const running = jev.evaluate(request, caller);
    const queued = jev.evaluate(request, caller);
    await reached.promise;
    live.config = jevSection({ baseUrl: fresh.url, model: 'jev-latest' });
    gate.resolve();
    expect(await running).toMatchObject({ requestedModel: 'jev-1.13.0' });
    expect(await queued).toMatchObject({ requestedModel: 'jev-1.13.0' });
    expect(await jev.evaluate(request, caller)).toMatchObject({ requestedModel: 'jev-latest' });
    expect([old.received, fresh.received]).toEqual([2, 1]);
  });

  it('counts waiting and the credential into its deadline and frees the slot', async () => {
    const server = await evaluator({ fault: 'hang' });
    const { service: jev, live } = service({ baseUrl: server.url, timeoutMs: 300, maxConcurrentRequests: 1 });
    const both = await Promise.all([failure(jev.evaluate(request, caller)), failure(jev.evaluate(request, caller))]);
    expect(both.map(({ code }) => code)).toEqual(['JEV_DEADLINE_EXCEEDED', 'JEV_DEADLINE_EXCEEDED']);
    expect(jev.stats()).toMatchObject({ active: 0, waiting: 0 });
    server.setFault(undefined);
    live.config = jevSection({ baseUrl: server.url });
    await expect(jev.evaluate(request, caller)).resolves.toBeTruthy();
  });

  it('does not wait longer than its deadline for a credential that never comes', async () => {
    const { url } = await evaluator();
    const { service: jev } = service(
      { baseUrl: url, timeoutMs: 40 },
      { sources: { env: {}, credentials: { resolve: () => new Promise(() => {}), forgetCommands: () => {} } } },
    );
    expect(await failure(jev.evaluate(request, caller))).toMatchObject({ code: 'JEV_DEADLINE_EXCEEDED' });
    expect(jev.stats().active).toBe(0);
  });

  it('refuses at once when too many wait, and serves those that do in order', async () => {
    const gate = deferred();
    const order: unknown[] = [];
    const engine: Engine = {
      name: 'gated',
      answer: async (asked, signal) => {
        await gate.promise;
        order.push(asked.state);
        return lexicalEngine.answer(asked, signal);
      },
    };
    const server = await evaluator({ engine });
    const { service: jev } = service({ baseUrl: server.url, maxConcurrentRequests: 1, maxQueueSize: 2 });
    const work = ['a', 'b', 'c'].map((state) => jev.evaluate({ state, questions }, caller));
    expect(await failure(jev.evaluate({ state: 'd', questions, requestId: 'd' }, caller))).toMatchObject({
      code: 'JEV_QUEUE_FULL',
    });
    gate.resolve();
    await Promise.all(work);
    expect(order).toEqual(['a', 'b', 'c']);
    // Nothing was sent for it, so its id is free.
    await expect(jev.evaluate({ state: 'd', questions, requestId: 'd' }, caller)).resolves.toBeTruthy();
  });

  it('ends when its caller gives up, before, while waiting and while it is on its way, and ends the request', async () => {
    const closed = deferred();
    const reached = deferred();
    const server = createServer((incoming, response) => {
      incoming.resume();
      reached.resolve();
      response.once('close', () => closed.resolve());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({ close: async () => void server.close(() => {}) });
    const { port } = server.address() as AddressInfo;
    const { service: jev, usage } = service({ baseUrl: `http://localhost:${port}`, maxConcurrentRequests: 1 });
    expect(await failure(jev.evaluate(request, caller, { signal: AbortSignal.abort() }))).toMatchObject({
      code: 'JEV_CANCELLED',
    });
    const controllers = [new AbortController(), new AbortController()];
    const [running, waiting] = controllers.map(({ signal }) => failure(jev.evaluate(request, caller, { signal })));
    await reached.promise;
    controllers[1]?.abort();
    expect(await waiting).toMatchObject({ code: 'JEV_CANCELLED' });
    controllers[0]?.abort();
    expect(await running).toMatchObject({ code: 'JEV_CANCELLED' });
    await closed.promise;
    expect(jev.stats()).toMatchObject({ active: 0, waiting: 0 });
    expect(usage.map(({ errorCode }) => errorCode)).toEqual(['JEV_CANCELLED']);
  });

  it('refuses a used id, also for the same content, and keeps other callers’ ids apart', async () => {
    const server = await evaluator();
    const { service: jev, live } = service({ baseUrl: server.url });
    live.agents = { assistant: {}, second: {} };
    const once = { ...request, requestId: 'same' };
    await jev.evaluate(once, caller);
    expect(await failure(jev.evaluate(once, caller))).toMatchObject({ code: 'JEV_REQUEST_CONFLICT' });
    await jev.evaluate(once, { ...caller, agentId: 'second' });
    await jev.evaluate(once, { ...caller, principalId: 'api:other' });
    expect(server.received).toBe(3);
  });

  it('keeps an id after a failure that may have cost something', async () => {
    const server = await evaluator({ fault: 'status-500' });
    const { service: jev } = service({ baseUrl: server.url });
    const once = { ...request, requestId: 'same' };
    expect(await failure(jev.evaluate(once, caller))).toMatchObject({ code: 'JEV_PROVIDER_UNAVAILABLE' });
    expect(await failure(jev.evaluate(once, caller))).toMatchObject({ code: 'JEV_REQUEST_CONFLICT' });
    expect(server.received).toBe(1);
  });

  it('forgets the oldest of a caller’s ids when it has used too many', async () => {
    const server = await evaluator();
    const { service: jev } = service({ baseUrl: server.url, maxConcurrentRequests: 8, maxQueueSize: 256 });
    const small = { state: 'x', questions: { q: { type: 'noul' as const, instructions: 'y' } } };
    for (let n = 0; n <= MAX_IDS_PER_PRINCIPAL; n++) await jev.evaluate({ ...small, requestId: `r${n}` }, caller);
    await expect(jev.evaluate({ ...small, requestId: 'r0' }, caller)).resolves.toBeTruthy();
    expect(await failure(jev.evaluate({ ...small, requestId: 'r9' }, caller))).toMatchObject({
      code: 'JEV_REQUEST_CONFLICT',
    });
  });

  it('is measured once, without what was asked', async () => {
    const server = await evaluator();
    const { service: jev, usage, log } = service({ baseUrl: server.url });
    await jev.evaluate(request, { ...caller, taskId: 't1', pluginId: 'browser-use', consumer: 'controller' });
    server.setFault('sum-low');
    await failure(jev.evaluate(request, caller));
    expect(usage).toHaveLength(2);
    expect(usage[0]).toMatchObject({ outcome: 'completed', taskId: 't1', model: 'jev-1.13.0', questions: 3 });
    expect(usage[1]).toMatchObject({
      outcome: 'failed',
      errorCode: 'JEV_INVALID_RESPONSE',
      validationReason: 'DISTRIBUTION_SUM',
    });
    expect(log).toHaveLength(1);
    expect(JSON.stringify([usage, log])).not.toMatch(/refund|billing|api:test|test-credential/);
    expect(jev.stats()).toMatchObject({ completed: 1, refused: { DISTRIBUTION_SUM: 1 } });
  });
});

describe('a provider’s fault', () => {
  const image = { model: 'jev-1.14.0' };
  const expected: Record<FaultName, string> = {
    hang: 'JEV_DEADLINE_EXCEEDED',
    'hang-after-headers': 'JEV_DEADLINE_EXCEEDED',
    trickle: 'JEV_DEADLINE_EXCEEDED',
    reset: 'JEV_PROVIDER_UNAVAILABLE',
    'reset-mid-body': 'JEV_PROVIDER_UNAVAILABLE',
    close: 'JEV_PROVIDER_UNAVAILABLE',
    'not-http': 'JEV_PROVIDER_UNAVAILABLE',
    'redirect-302': 'JEV_PROVIDER_UNAVAILABLE',
    'redirect-307': 'JEV_PROVIDER_UNAVAILABLE',
    'event-stream': 'JEV_INVALID_RESPONSE ENVELOPE',
    html: 'JEV_INVALID_RESPONSE ENVELOPE',
    'no-content-type': 'JEV_INVALID_RESPONSE ENVELOPE',
    'wrong-content-type': 'JEV_INVALID_RESPONSE ENVELOPE',
    gzip: 'JEV_INVALID_RESPONSE ENVELOPE',
    empty: 'JEV_INVALID_RESPONSE ENVELOPE',
    'no-content': 'JEV_INVALID_RESPONSE ENVELOPE',
    truncated: 'JEV_INVALID_RESPONSE ENVELOPE',
    oversize: 'JEV_INVALID_RESPONSE ENVELOPE',
    'oversize-chunked': 'JEV_INVALID_RESPONSE ENVELOPE',
    'chat-completion': 'JEV_INVALID_RESPONSE ENVELOPE',
    array: 'JEV_INVALID_RESPONSE ENVELOPE',
    null: 'JEV_INVALID_RESPONSE ENVELOPE',
    'error-in-200': 'JEV_INVALID_RESPONSE ENVELOPE',
    'status-400': 'JEV_INVALID_REQUEST',
    'status-400-text': 'JEV_INVALID_REQUEST',
    'status-401': 'JEV_AUTHENTICATION_FAILED',
    'status-402': 'JEV_QUOTA_EXCEEDED',
    'status-403': 'JEV_ACCESS_DENIED',
    'status-404': 'JEV_MODEL_UNAVAILABLE',
    'status-409': 'JEV_REQUEST_CONFLICT',
    'status-413': 'JEV_INVALID_REQUEST',
    'status-422': 'JEV_INVALID_REQUEST',
    'status-429': 'JEV_RATE_LIMITED',
    'status-429-date': 'JEV_RATE_LIMITED',
    'status-429-hostile': 'JEV_RATE_LIMITED',
    'status-500': 'JEV_PROVIDER_UNAVAILABLE',
    'status-503': 'JEV_PROVIDER_UNAVAILABLE',
    'status-504': 'JEV_DEADLINE_EXCEEDED',
    'status-529': 'JEV_PROVIDER_UNAVAILABLE',
    'upstream-quota': 'JEV_QUOTA_EXCEEDED',
    'upstream-unknown-model': 'JEV_MODEL_UNAVAILABLE',
    'upstream-unknown-outcome': 'JEV_OUTCOME_UNKNOWN',
    'error-echoes-secret': 'JEV_PROVIDER_UNAVAILABLE',
    'error-oversize': 'JEV_RATE_LIMITED',
    'no-model': 'JEV_INVALID_RESPONSE ENVELOPE',
    'empty-model': 'JEV_INVALID_RESPONSE ENVELOPE',
    'no-answers': 'JEV_INVALID_RESPONSE ENVELOPE',
    'no-usage': 'JEV_INVALID_RESPONSE ENVELOPE',
    'negative-usage': 'JEV_INVALID_RESPONSE USAGE',
    'fractional-usage': 'JEV_INVALID_RESPONSE USAGE',
    'other-requested-model': 'JEV_INVALID_RESPONSE MODEL_IDENTITY',
    'other-request-id': 'JEV_INVALID_RESPONSE REQUEST_IDENTITY',
    'negative-billing': 'JEV_INVALID_RESPONSE BILLING',
    'billing-text': 'JEV_INVALID_RESPONSE BILLING',
    'missing-answer': 'JEV_INVALID_RESPONSE ANSWER_KEYS',
    'extra-answer': 'JEV_INVALID_RESPONSE ANSWER_KEYS',
    'renamed-answer': 'JEV_INVALID_RESPONSE ANSWER_KEYS',
    'null-answer': 'JEV_INVALID_RESPONSE ANSWER_TYPE',
    'other-type': 'JEV_INVALID_RESPONSE ANSWER_TYPE',
    'noul-above-1': 'JEV_INVALID_RESPONSE NOUL_RANGE',
    'noul-text': 'JEV_INVALID_RESPONSE NOUL_RANGE',
    'noul-null': 'JEV_INVALID_RESPONSE NOUL_RANGE',
    'no-confidence': 'JEV_INVALID_RESPONSE DISTRIBUTION_SHAPE',
    'confidence-above-1': 'JEV_INVALID_RESPONSE DISTRIBUTION_SHAPE',
    'no-probabilities': 'JEV_INVALID_RESPONSE DISTRIBUTION_SHAPE',
    'missing-option': 'JEV_INVALID_RESPONSE DISTRIBUTION_SHAPE',
    'extra-option': 'JEV_INVALID_RESPONSE DISTRIBUTION_SHAPE',
    'negative-probability': 'JEV_INVALID_RESPONSE DISTRIBUTION_SHAPE',
    'probability-text': 'JEV_INVALID_RESPONSE DISTRIBUTION_SHAPE',
    'sum-low': 'JEV_INVALID_RESPONSE DISTRIBUTION_SUM',
    'sum-high': 'JEV_INVALID_RESPONSE DISTRIBUTION_SUM',
    'unknown-choice': 'JEV_INVALID_RESPONSE CHOICE_MISMATCH',
    'not-the-highest': 'JEV_INVALID_RESPONSE CHOICE_MISMATCH',
    'score-off': 'JEV_INVALID_RESPONSE SCORE_MISMATCH',
    'score-above': 'JEV_INVALID_RESPONSE SCORE_MISMATCH',
    'legend-null': 'JEV_INVALID_RESPONSE SCORE_MISMATCH',
    'legend-short': 'JEV_INVALID_RESPONSE SCORE_MISMATCH',
    'box-outside': 'JEV_INVALID_RESPONSE BOX_RANGE',
    'box-upside-down': 'JEV_INVALID_RESPONSE BOX_RANGE',
  };

  it.each(Object.entries(expected))('"%s" ends as %s, once, and the slot is free again', async (fault, wanted) => {
    const server = await evaluator({ fault: fault as FaultName });
    const box = fault.startsWith('box-');
    const slow = wanted === 'JEV_DEADLINE_EXCEEDED' && !fault.startsWith('status');
    const made = service({
      ...(fault.startsWith('upstream') || fault.startsWith('error') ? { provider: 'upstream' } : {}),
      baseUrl: server.url,
      timeoutMs: slow ? 500 : 20_000,
      maxConcurrentRequests: 1,
      ...(box ? { images: { enabled: true, ...image } } : {}),
    });
    const asked = box ? { ...request, questions: { box: { type: 'box' as const, instructions: 'the cat' } } } : request;
    const found = await failure(made.service.evaluate(asked, caller));
    const { validationReason } = found.details;
    expect([found.code, validationReason].filter(Boolean).join(' ')).toBe(wanted);
    expect(found.text).not.toContain('test-credential-value');
    expect(JSON.stringify([made.log, made.usage])).not.toContain('test-credential-value');
    expect(server.received).toBe(1);
    expect(made.service.stats()).toMatchObject({ active: 0, waiting: 0 });
    server.setFault(undefined);
    if (made.live.config) made.live.config = { ...made.live.config, timeoutMs: 20_000 };
    await expect(made.service.evaluate(asked, caller)).resolves.toBeTruthy();
  });

  it('is one of more than forty', () => {
    expect(Object.keys(faults).sort()).toEqual(Object.keys(expected).sort());
    expect(Object.keys(faults).length).toBeGreaterThanOrEqual(40);
  });

  it.each([
    ['status-429', { retryAfter: '7', status: 429 }],
    ['status-429-date', { retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' }],
    ['status-529', { retryAfter: '2', status: 529 }],
    ['upstream-quota', { resetAt: '2026-12-01T00:00:00Z', status: 429 }],
  ] as const)('"%s" keeps the time that the provider named', async (fault, details) => {
    const server = await evaluator({ fault });
    const { service: jev } = service({ provider: 'upstream', baseUrl: server.url });
    expect((await failure(jev.evaluate(request, caller))).details).toMatchObject(details);
  });

  it.each([
    ['hang', undefined],
    ['hang-after-headers', 'response'],
    ['trickle', 'response'],
  ] as const)('"%s" says whether the answer had begun', async (fault, phase) => {
    const server = await evaluator({ fault });
    const { service: jev } = service({ baseUrl: server.url, timeoutMs: 500 });
    const { code, details } = await failure(jev.evaluate(request, caller));
    expect([code, details.phase]).toEqual(['JEV_DEADLINE_EXCEEDED', phase]);
  });

  it.each([
    ['empty', true],
    ['truncated', undefined],
  ] as const)('"%s" says whether there was anything in the answer', async (fault, empty) => {
    const server = await evaluator({ fault });
    const { service: jev } = service({ baseUrl: server.url });
    const { code, details } = await failure(jev.evaluate(request, caller));
    expect([code, details.status, details.empty]).toEqual(['JEV_INVALID_RESPONSE', 200, empty]);
  });

  it('"status-429-hostile" passes no text on', async () => {
    const server = await evaluator({ fault: 'status-429-hostile' });
    const { service: jev } = service({ baseUrl: server.url });
    expect((await failure(jev.evaluate(request, caller))).details).toEqual({ status: 429 });
  });
});

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
