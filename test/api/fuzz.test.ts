/**
 * Generated bodies over every route and every tool, with the real task service behind them. Whatever is sent: no 500, an
 * answer within bounds, a code from the catalogue, and nothing of what was refused is written anywhere.
 *
 * `JEV_HOST_FUZZ_RUNS=100000 npx vitest run test/api/fuzz.test.ts` is the long run. The name of the group tells the seed;
 * `JEV_HOST_SEED` sends the same again.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asWrite } from '../../core/store/change.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import type { Store } from '../../core/store/store.ts';
import { createSessions } from '../../host/api/sessions.ts';
import { isCode } from '../../sdk/contract/codes.ts';
import { buyer, caller, createTestRoom, settled, type TestRoom } from '../tasks/room.ts';
import { apiFixture, type Fixture, KEYS, SPAWN } from './fixture.ts';

const RUNS = Number(process.env.JEV_HOST_FUZZ_RUNS ?? 300);
const SEED = Number(process.env.JEV_HOST_SEED ?? Date.now() % 2 ** 31);
const BOUND_MS = 30_000 + RUNS * 20;
/** Milliseconds for one answer. */
const ANSWER_MS = 5_000;

/** Placeholders that the bodies hold and that are filled when they are sent. */
const REVISION = '@revision';
const NOTICE = '@notice';
const FRESH = '@fresh';

let fixture: Fixture;
let room: TestRoom;
let taskId: string;
/** Rows that were written so far; moving notes into the audit chain writes nothing new. */
let written = 0;
const writer = caller({ principalId: 'api:writer', conversationId: 'conversation:assistant:writer' });
const spawnBody = {
  ...SPAWN,
  gateway_target: { adapter: 'browser', session_id: `tab-${writer.principalId}-${writer.conversationId}` },
};

async function newTask(): Promise<void> {
  const { body } = await fixture.http('POST', `${SESSION}/tasks`, { key: KEYS.writer, body: spawnBody });
  taskId = body.task.taskId;
  await room.until(taskId, settled, writer);
}

const look = () => room.service.status(writer, { taskId }, new AbortController().signal);

/** The body as it is sent: with the task's revision, one of its notices, and ids that nobody used. */
async function filled(body: unknown): Promise<string> {
  const { task, notices } = await look();
  return (JSON.stringify(body) ?? '')
    .replaceAll(`"${REVISION}"`, String(task?.revision))
    .replaceAll(NOTICE, notices[0]?.noticeId ?? UUID)
    .replaceAll(FRESH, randomUUID())
    .replaceAll('@task', taskId);
}

beforeAll(async () => {
  const store = counting(createMemoryStore());
  const keys = (['read', 'write', 'admin'] as const).map((access) => ({
    ...{ id: { read: 'reader', write: 'writer', admin: 'admin' }[access], sha256: '0'.repeat(64) },
    ...{ agents: '*' as const, access },
  }));
  room = createTestRoom({ store, controller: buyer, keys });
  await room.service.start();
  fixture = await apiFixture(
    { limits: { requestsPerMinute: 1_000_000, concurrentRequests: 10_000, streams: 1000 } },
    {
      ...{ store, tasks: room.service, receipts: room.service },
      sessions: createSessions(store, { now: Date.now, uuid: randomUUID }),
    },
  );
  await newTask();
});
afterAll(async () => {
  await fixture.close();
  await room.service.stop();
});

/** Says of every row that is written that it was. */
function counting(store: Store): Store {
  return {
    ...store,
    async commit(changes, conditions) {
      const done = await store.commit(changes, conditions);
      const rows = changes.map(asWrite);
      const moved = rows.some(({ table }) => table === 'audit');
      if (done && !moved) written += rows.length;
      return done;
    },
  };
}

/** What an accepted request set in motion has come to rest. */
async function quiet(): Promise<void> {
  for (let before = -1; before !== written; ) {
    before = written;
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Sends, and holds that a refusal left no row behind. */
async function refusedLeavesNothing<T>(send: () => Promise<T>, refused: (answer: T) => boolean): Promise<T> {
  await quiet();
  const before = written;
  const evaluations = fixture.evaluations.length;
  const answer = await send();
  await quiet();
  if (refused(answer)) {
    // The evaluation service looks at what the schema let through; nothing else does.
    expect([written, fixture.evaluations.length - evaluations]).toEqual([before, expect.toBeOneOf([0, 1])]);
  } else if ((await look()).task?.automationSession.status === 'closed') await newTask();
  return answer;
}

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
  [`POST ${SESSION}/tasks`]: { ...spawnBody, request_id: 'fuzz', browser_fields: [{ label: 'A', text: 'B' }] },
  [`POST ${SESSION}/tasks/ID/updates`]: {
    expected_revision: REVISION,
    instruction: FRESH,
    mode: 'when_ready',
    notice_id: NOTICE,
  },
  [`POST ${SESSION}/tasks/ID/answers`]: { question_id: 'q', answer: 'a', field_text: 'x' },
  [`POST ${SESSION}/tasks/ID/cancel`]: { replaced_by_task_id: UUID },
  [`POST ${SESSION}/tasks/ID/control`]: { id: FRESH, action: 'revise', expectedRevision: REVISION, text: 'Next' },
  [`POST ${SESSION}/browser-bindings`]: {
    connectorId: 'c',
    name: 'n',
    scope: { device_id: 'd', grant_id: 'g', tab_id: 't' },
  },
  'POST /api/v1/agents/assistant/sessions': { sessionId: 'fuzz' },
  [`POST ${SESSION}/ticket`]: {},
  'POST /api/v1/agents/assistant/messages': {
    session_id: 'default',
    text: 'hi',
    request_id: FRESH,
    execution_task_id: '@task',
  },
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
      else if (how === 'add' && Array.isArray(at)) at.push(value);
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

describe(`whatever body is sent (seed ${SEED})`, () => {
  it(
    'every route answers with a documented status and a code of the catalogue',
    async () => {
      let accepted = 0;
      const route = fc.constantFrom(...Object.keys(GOOD)).chain((name) => {
        const good = GOOD[name] as object;
        const body =
          Object.keys(good).length > 0
            ? fc.oneof({ weight: 4, arbitrary: mutated(good) }, hostile, fc.constant(good))
            : hostile;
        return fc.tuple(fc.constant(name), body, fc.constantFrom(KEYS.writer, KEYS.admin, KEYS.reader));
      });
      await fc.assert(
        fc.asyncProperty(route, async ([name, body, key]) => {
          const [method = '', path = ''] = name.split(' ');
          const text = await filled(body);
          const { response, answer } = await refusedLeavesNothing(
            async () => {
              const response = await fetch(fixture.url + path.replace('ID', taskId), {
                method,
                headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
                body: text,
                signal: AbortSignal.timeout(ANSWER_MS),
              });
              return { response, answer: (await response.json()) as { error?: unknown } };
            },
            ({ response }) => response.status >= 400,
          );
          expect([200, 201, 202, 400, 403, 404, 409, 413, 429]).toContain(response.status);
          if (response.status >= 400) expect(isCode(codeOf(answer))).toBe(true);
          accepted += response.status < 400 ? 1 : 0;
        }),
        { numRuns: RUNS, seed: SEED },
      );
      // Bodies that only ever fail at the door would prove nothing of the rooms behind it.
      expect(accepted).toBeGreaterThan(0);
    },
    BOUND_MS,
  );

  it(
    'text that is no JSON is refused everywhere and reaches nothing',
    async () => {
      const garbage = fc.oneof(
        fc.string({ minLength: 1 }),
        fc.constantFrom('{', '[1,', '"', '{"a":1}{', '\u0000', '['.repeat(5000), '{"a":'.repeat(5000)),
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...Object.keys(GOOD), 'POST /mcp'), garbage, async (name, text) => {
          fc.pre(!isJson(text));
          const [method = '', path = ''] = name.split(' ');
          const { status } = await refusedLeavesNothing(
            () => fixture.http(method, path.replace('ID', taskId), { key: KEYS.writer, raw: text }),
            () => true,
          );
          expect(status).toBe(400);
        }),
        { numRuns: Math.ceil(RUNS / 4), seed: SEED },
      );
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
        task_status: { task_id: '@task', wait_ms: 0, after_version: 1, acknowledge: [NOTICE] },
        task_update: { task_id: '@task', expected_revision: REVISION, instruction: FRESH, mode: 'when_ready' },
        task_answer: { task_id: '@task', question_id: 'q', answer: 'a' },
        task_cancel: { task_id: '@task' },
        task_question: { action: 'ask', question_ids: ['q'], text: 'x' },
      };
      const call = fc
        .constantFrom(...Object.keys(TOOLS))
        .chain((name) => fc.tuple(fc.constant(name), fc.oneof(mutated(TOOLS[name] as object), hostile)));
      await fc.assert(
        fc.asyncProperty(call, fc.constantFrom(KEYS.writer, KEYS.reader), async ([name, args], key) => {
          const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: shortWait(args) } };
          const raw = await filled(call);
          const { status, message } = await refusedLeavesNothing(
            async () => {
              const headers = { accept: 'application/json, text/event-stream' };
              const { status, body } = await fixture.http('POST', '/mcp', { key, raw, headers });
              const message = typeof body === 'string' ? JSON.parse(/^data: (\{.*)$/m.exec(body)?.[1] ?? 'null') : body;
              return { status, message };
            },
            ({ message }) => message.error !== undefined || message.result.isError === true,
          );
          expect([200, 400]).toContain(status);
          if (message.error) expect([-32600, -32602]).toContain(message.error.code);
          else if (message.result.isError) {
            const refused = JSON.parse(message.result.content[0].text);
            expect(isCode(refused.error) && refused.error !== 'INTERNAL').toBe(true);
          } else expect(message.result.structuredContent).toBeDefined();
        }),
        { numRuns: RUNS, seed: SEED },
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
          const headers = { accept: 'application/json, text/event-stream' };
          const { status } = await refusedLeavesNothing(
            () => fixture.http('POST', '/mcp', { key: KEYS.writer, raw: text, headers }),
            () => true,
          );
          expect(status).toBeLessThan(500);
        }),
        { numRuns: Math.ceil(RUNS / 2), seed: SEED },
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
