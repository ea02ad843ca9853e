/**
 * Generated bodies over every route and every tool. Whatever is sent: no 500, an answer within bounds, a code from the
 * catalogue, and nothing reaches a room unless the schema let it through.
 *
 * `FUZZ_RUNS=100000 npx vitest run test/api/fuzz.test.ts` is the long run; a failing run prints its seed.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCode } from '../../sdk/contract/codes.ts';
import { apiFixture, type Fixture, KEYS, SPAWN } from './fixture.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 300);
const BOUND_MS = 30_000 + RUNS * 20;
/** Milliseconds for one answer. */
const ANSWER_MS = 5_000;

let fixture: Fixture;
let taskId: string;
beforeAll(async () => {
  fixture = await apiFixture({ limits: { requestsPerMinute: 1_000_000, concurrentRequests: 10_000, streams: 1000 } });
  const { body } = await fixture.http('POST', `${SESSION}/tasks`, { key: KEYS.writer, body: SPAWN });
  taskId = body.task.taskId;
});
afterAll(() => fixture.close());

const SESSION = '/api/v1/agents/assistant/sessions/default';
const UUID = '00000000-0000-4000-8000-000000000000';

/** Bodies that are nearly right reach further than noise: a good one with one thing changed. */
const GOOD: Record<string, object> = {
  'POST /api/v1/jev/evaluate': {
    agentId: 'assistant',
    state: 'Hello',
    questions: { a: { type: 'noul', instructions: '?' } },
    requestId: 'r',
  },
  [`POST ${SESSION}/tasks`]: { ...SPAWN, request_id: 'fuzz', browser_fields: [{ label: 'A', text: 'B' }] },
  [`POST ${SESSION}/tasks/ID/updates`]: { expected_revision: 1, instruction: 'Go.', mode: 'when_ready' },
  [`POST ${SESSION}/tasks/ID/answers`]: { question_id: 'q', answer: 'a', field_text: 'x' },
  [`POST ${SESSION}/tasks/ID/cancel`]: { replaced_by_task_id: UUID },
  [`POST ${SESSION}/tasks/ID/control`]: { id: UUID, action: 'revise', expectedRevision: 1, text: 'Next' },
  [`POST ${SESSION}/browser-bindings`]: {
    connectorId: 'c',
    name: 'n',
    scope: { device_id: 'd', grant_id: 'g', tab_id: 't' },
  },
  'POST /api/v1/agents/assistant/sessions': { sessionId: 'fuzz' },
  [`POST ${SESSION}/ticket`]: {},
  'POST /api/v1/agents/assistant/messages': { session_id: 'default', text: 'hi', request_id: 'm' },
};

const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    '__proto__',
    'constructor',
    '\u0000',
    '\ud800',
    ''.padEnd(9000, 'x'),
    -1,
    1e308,
    Number.MAX_SAFE_INTEGER + 2,
    [],
    {},
    null,
    true,
    { toString: 1 },
    ['__proto__'],
    { __proto__x: { polluted: true } },
    '../../etc/passwd',
    '[31mred[0m',
  ),
);

/** One value somewhere in a copy of the body is replaced, removed, or joined by a key that does not belong. */
function mutated(body: object): fc.Arbitrary<unknown> {
  const paths = pathsOf(body);
  return fc
    .tuple(fc.constantFrom(...paths), hostile, fc.constantFrom('replace', 'remove', 'add'), fc.string())
    .map(([path, value, how, name]) => {
      const copy = structuredClone(body) as Record<string, unknown>;
      let at = copy;
      for (const part of path.slice(0, -1)) at = at[part] as Record<string, unknown>;
      const last = path.at(-1) as string;
      if (how === 'remove') delete at[last];
      else if (how === 'add') Object.defineProperty(at, name, { value, enumerable: true, configurable: true });
      else at[last] = value;
      return copy;
    });
}

function pathsOf(value: object, prefix: string[] = []): string[][] {
  return Object.entries(value).flatMap(([key, entry]) => [
    [...prefix, key],
    ...(entry !== null && typeof entry === 'object' ? pathsOf(entry, [...prefix, key]) : []),
  ]);
}

const codeOf = (body: { error?: unknown }) => {
  const error = body?.error;
  return typeof error === 'string' ? error : (error as { code?: unknown } | undefined)?.code;
};

describe('whatever body is sent', () => {
  it(
    'every route answers with a documented status and a code of the catalogue',
    async () => {
      const route = fc.constantFrom(...Object.keys(GOOD)).chain((name) => {
        const good = GOOD[name] as object;
        const body = Object.keys(good).length > 0 ? fc.oneof(mutated(good), hostile) : hostile;
        return fc.tuple(fc.constant(name), body, fc.constantFrom(KEYS.writer, KEYS.admin, KEYS.reader));
      });
      await fc.assert(
        fc.asyncProperty(route, async ([name, body, key]) => {
          const [method = '', path = ''] = name.split(' ');
          const response = await fetch(fixture.url + path.replace('ID', taskId), {
            method,
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify(body) ?? '',
            signal: AbortSignal.timeout(ANSWER_MS),
          });
          const answer = (await response.json()) as { error?: unknown };
          expect([200, 201, 202, 400, 403, 409, 413, 429]).toContain(response.status);
          if (response.status >= 400) expect(isCode(codeOf(answer))).toBe(true);
        }),
        { numRuns: RUNS },
      );
    },
    BOUND_MS,
  );

  it(
    'text that is no JSON is refused everywhere and reaches nothing',
    async () => {
      const calls = fixture.tasks.calls.length + fixture.evaluations.length;
      const garbage = fc.oneof(
        fc.string({ minLength: 1 }),
        fc.constantFrom('{', '[1,', '"', '{"a":1}{', '\u0000', '['.repeat(5000), '{"a":'.repeat(5000)),
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...Object.keys(GOOD), 'POST /mcp'), garbage, async (name, text) => {
          fc.pre(!isJson(text));
          const [method = '', path = ''] = name.split(' ');
          const { status } = await fixture.http(method, path.replace('ID', taskId), { key: KEYS.writer, raw: text });
          expect(status).toBe(400);
        }),
        { numRuns: Math.ceil(RUNS / 4) },
      );
      expect(fixture.tasks.calls.length + fixture.evaluations.length).toBe(calls);
    },
    BOUND_MS,
  );

  it(
    'every tool answers with a result or a refusal that names a code',
    async () => {
      const TOOLS: Record<string, object> = {
        jev_evaluate: { state: 'Hello', questions: { a: { type: 'noul', instructions: '?' } } },
        capabilities_list: { scope: 'browser', query: 'a', offset: 0 },
        task_spawn: GOOD[`POST ${SESSION}/tasks`] as object,
        task_status: { task_id: taskId, wait_ms: 0, after_version: 1, acknowledge: ['n'] },
        task_update: { task_id: taskId, expected_revision: 1, instruction: 'Go.', mode: 'when_ready' },
        task_answer: { task_id: taskId, question_id: 'q', answer: 'a' },
        task_cancel: { task_id: taskId },
        task_question: { action: 'ask', question_ids: ['q'], text: 'x' },
      };
      const call = fc
        .constantFrom(...Object.keys(TOOLS))
        .chain((name) => fc.tuple(fc.constant(name), fc.oneof(mutated(TOOLS[name] as object), hostile)));
      await fc.assert(
        fc.asyncProperty(call, fc.constantFrom(KEYS.writer, KEYS.reader), async ([name, args], key) => {
          const { status, body } = await fixture.http('POST', '/mcp', {
            key,
            body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: shortWait(args) } },
            headers: { accept: 'application/json, text/event-stream' },
          });
          expect([200, 400]).toContain(status);
          const message = typeof body === 'string' ? JSON.parse(/^data: (\{.*)$/m.exec(body)?.[1] ?? 'null') : body;
          if (message.error) expect([-32600, -32602]).toContain(message.error.code);
          else if (message.result.isError) {
            const refused = JSON.parse(message.result.content[0].text);
            expect(isCode(refused.error) && refused.error !== 'INTERNAL').toBe(true);
          } else expect(message.result.structuredContent).toBeDefined();
        }),
        { numRuns: RUNS },
      );
    },
    BOUND_MS,
  );

  it(
    'messages that are no calls are refused by the protocol',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(hostile, mutated(CALL)), async (message) => {
          const text = JSON.stringify(message) ?? 'null';
          const { status } = await fixture.http('POST', '/mcp', {
            key: KEYS.writer,
            raw: text,
            headers: { accept: 'application/json, text/event-stream' },
          });
          expect(status).toBeLessThan(500);
        }),
        { numRuns: Math.ceil(RUNS / 2) },
      );
      expect(fixture.logged.filter((line) => line.startsWith('error'))).toEqual([]);
    },
    BOUND_MS,
  );
});

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/list',
  params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
};

/** A wait that the schema allows would make the test wait. */
function shortWait(args: unknown): unknown {
  const wait = (args as { wait_ms?: unknown } | null)?.wait_ms;
  return typeof wait === 'number' && wait > 0 && wait <= 60_000 ? { ...(args as object), wait_ms: 0 } : args;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
