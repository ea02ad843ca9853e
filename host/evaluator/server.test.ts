import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validateAnswer } from '../../core/jev/answer-validation.ts';
import { validateRequest } from '../../core/jev/request-validation.ts';
import type { JevQuestion } from '../../sdk/contract/jev.ts';
import { request as anyRequest } from '../../test/jev/arbitraries.ts';
import { lexicalEngine } from './lexical/lexical-engine.ts';
import { type Evaluator, startEvaluator } from './server.ts';

let server: Evaluator;
beforeAll(async () => {
  server = await startEvaluator({ engine: lexicalEngine });
});
afterAll(() => server.close());

async function post(
  body: unknown,
  { path = '/v1/systemone', headers = {} as Record<string, string>, to = server.url } = {},
) {
  const response = await fetch(to + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}
const ask = (questions: Record<string, JevQuestion>, state: unknown = 's') => ({
  model: 'jev-latest',
  state,
  questions,
});
const options = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`o${i}`, null]));
const limits = { maxInputBytes: 1_048_576, maxQuestions: 256, images: { enabled: false, maxImageBytes: 1 } };

describe('the stand-in as a provider', () => {
  it('ignores authorization when it has no key, and refuses wrong and missing ones when it has', async () => {
    const body = ask({ q: { type: 'noul', instructions: 'x' } });
    expect((await post(body, { headers: { authorization: 'Bearer anything' } })).status).toBe(200);
    const locked = await startEvaluator({ engine: lexicalEngine, apiKey: 'right' });
    try {
      const at = (headers: Record<string, string>) => post(body, { to: locked.url, headers });
      expect((await at({ authorization: 'Bearer right' })).status).toBe(200);
      expect((await at({ authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await at({})).status).toBe(403);
    } finally {
      await locked.close();
    }
  });

  it.each([
    ['jev-latest', 'jev-1.13.0'],
    ['jev-1.13', 'jev-1.13.0'],
    ['jev-1.13.0', 'jev-1.13.0'],
    ['jev-preview', 'jev-1.14.0'],
    ['vendor/path/jev-1.13.0', 'jev-1.13.0'],
  ])('takes the model %s and names the version %s', async (model, version) => {
    expect((await post({ ...ask({ q: { type: 'noul', instructions: 'x' } }), model })).body.model).toBe(version);
  });

  it.each<[string, JevQuestion, unknown]>([
    ['two options', { type: 'choice', instructions: 'x', criteria: options(2) }, 's'],
    ['one option', { type: 'choice', instructions: 'x', criteria: options(1) }, 's'],
    ['255 options', { type: 'choice', instructions: 'x', criteria: options(255) }, 's'],
    ['two levels', { type: 'score', instructions: 'x', criteria: ['a', 'b'] }, 's'],
    ['ten levels', { type: 'score', instructions: 'x', criteria: Array(10).fill('same') }, 's'],
    ['levels of objects', { type: 'score', instructions: 'x', criteria: [{ a: 1 }, ['b'], 'c'] }, 's'],
    [
      'an object as state and instructions',
      { type: 'choice', instructions: { ask: 'x' }, criteria: { a: { of: 1 }, b: [2] } },
      { of: 1 },
    ],
    ['a list as state and instructions', { type: 'noul', instructions: ['x'] }, ['s', 1, null]],
    ['one side of a noul', { type: 'noul', instructions: 'x', criteria: { true: 'it is' } }, 's'],
    [
      'keys that are no names',
      { type: 'choice', instructions: 'x', criteria: { ' a b.c ': null, ก: null, '0': null } },
      's',
    ],
    ['long text', { type: 'noul', instructions: 'x' }, 'word '.repeat(20_000)],
    ['no text', { type: 'noul', instructions: '' }, ''],
  ])('answers %s exactly', async (_, question, state) => {
    const { status, body } = await post(ask({ 'the id': question }, state));
    expect(status).toBe(200);
    const { plan } = validateRequest({ state: 's', questions: { 'the id': question } }, limits);
    const { answers } = validateAnswer(body, { plan, requestedModel: 'jev-latest', wireRequestId: 'w' });
    const answer = answers['the id'];
    if (answer && 'probabilities' in answer) {
      const sum = Object.values(answer.probabilities).reduce((total, value) => total + value, 0);
      expect(Math.abs(sum - 1)).toBeLessThan(1e-9);
    }
    if (answer?.type === 'score' && question.type === 'score') {
      const texts = question.criteria.map((level) => (typeof level === 'string' ? level : JSON.stringify(level)));
      expect(Object.values(answer.legend)).toEqual(texts);
    }
  });

  it('names only its own extensions with x_', async () => {
    const { body, headers } = await post(ask({ q: { type: 'noul', instructions: 'x' } }));
    const known = ['model', 'answers', 'usage'];
    for (const key of Object.keys(body)) expect(known.includes(key) || key.startsWith('x_'), key).toBe(true);
    expect(headers.get('x-typesafe-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('echoes what identifies an upstream’s request, and needs it', async () => {
    const body = { ...ask({ q: { type: 'noul', instructions: 'x' } }), model: 'cat/jev-1.13.0', request_id: 'abc' };
    const answer = await post(body, { path: '/v1/jev/evaluate' });
    expect(answer.body).toMatchObject({ request_id: 'abc', requested_model: 'cat/jev-1.13.0', model: 'jev-1.13.0' });
    const { request_id: _, ...without } = body;
    expect((await post(without, { path: '/v1/jev/evaluate' })).status).toBe(422);
  });

  it('answers each question by itself: order and names of questions change nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, async ({ state, questions }) => {
        const forward = (await post({ model: 'm', state, questions })).body.answers;
        const backward = Object.fromEntries(Object.entries(questions).reverse());
        expect((await post({ model: 'm', state, questions: backward })).body.answers).toEqual(forward);
      }),
      { numRuns: 10 },
    );
  });

  it.each<[string, unknown, number, unknown]>([
    ['an unknown type', ask({ q: { type: 'essay' } as never }), 400, 'Invalid request.'],
    [
      '256 options',
      ask({ q: { type: 'choice', instructions: 'x', criteria: options(256) } }),
      400,
      'Too many choices. Must have at most 255 choices.',
    ],
    [
      'no options',
      ask({ q: { type: 'choice', instructions: 'x', criteria: {} } }),
      400,
      'Choice question must have at least one choice: q',
    ],
    [
      'eleven levels',
      ask({ q: { type: 'score', instructions: 'x', criteria: Array(11).fill('a') } }),
      400,
      'Too many score levels. Must have at most 10 levels.',
    ],
    ['levels as an object', ask({ q: { type: 'score', instructions: 'x', criteria: {} } as never }), 422, undefined],
    ['a number as state', ask({ q: { type: 'noul', instructions: 'x' } }, 3), 422, undefined],
    ['no questions', { model: 'm', state: 's', questions: {} }, 400, undefined],
    ['no model', { state: 's', questions: { q: { type: 'noul', instructions: 'x' } } }, 422, undefined],
    ['no JSON', '{"model":', 422, undefined],
    ['a box without the preview', ask({ q: { type: 'box', instructions: 'x' } }), 400, undefined],
  ])('refuses %s with %3$s', async (_, body, status, message) => {
    const refused = await post(body);
    expect(refused.status).toBe(status);
    if (message) expect(JSON.stringify(refused.body)).toContain(message);
  });

  it('takes images and boxes only with the preview’s header and a model that has them', async () => {
    const image = { type: 'image', format: 'png', data_base64: 'AAAA' };
    const box = {
      model: 'jev-1.14.0',
      state: 'see img',
      questions: { b: { type: 'box', instructions: 'x' } },
      assets: { img: image },
    };
    const headers = { 'typesafe-danger-zone-images': 'true' };
    expect((await post(box, { headers })).body.answers).toMatchObject({ b: { type: 'box', confidence: 0 } });
    expect((await post(box)).status).toBe(400);
    expect((await post({ ...box, model: 'jev-1.13.0' }, { headers })).status).toBe(400);
    expect((await post({ ...box, state: 'nothing' }, { headers })).status).toBe(400);
  });

  it('never fails on bad input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), fc.string(), async (questions, criteria, type) => {
        const bodies = [
          questions,
          { model: 'm', state: 's', questions },
          { model: 'm', state: 's', questions: { q: { type, instructions: 'x', criteria } } },
          { model: 'm', state: 's', questions: { q: { type: 'choice', instructions: criteria, criteria } } },
        ];
        for (const body of bodies) expect((await post(body)).status).toBeLessThan(500);
      }),
      { numRuns: 15 },
    );
  });

  it('tells its models and that it is alive, and nothing else', async () => {
    const get = async (path: string) => (await fetch(server.url + path)).json();
    expect(await get('/v1/models')).toMatchObject({ models: [{ name: 'jev-1.13.0' }, { name: 'jev-1.14.0' }, {}] });
    expect(await get('/healthz')).toMatchObject({ status: 'ok', engine: 'lexical' });
    expect((await fetch(`${server.url}/v1/chat/completions`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${server.url}/v1/systemone`)).status).toBe(405);
  });

  it('breaks one answer when a request asks for it, and the next so many when told', async () => {
    const body = ask({ q: { type: 'noul', instructions: 'x' } });
    expect((await post(body, { headers: { 'x-evaluator-fault': 'status-529' } })).status).toBe(529);
    server.setFault('status-503', 2);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(body)).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect((await post(body, { headers: { 'x-evaluator-fault': 'no-such-fault' } })).status).toBe(200);
  });
});
