/** A store with 100,000 tasks: what starting, spawning, reading and listing cost then. Limits: 1 s to start, 5 ms each. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createAuthorization } from '../dist/core/authorization/authorization.js';
import { openLmdbStore } from '../dist/core/store/lmdb-store.js';
import { createTaskService } from '../dist/host/tasks/task-service.js';
import { markdownTable, median, quantile } from './report.mjs';

const TASKS = Number(process.argv[2] ?? 100_000);
const CONVERSATIONS = 200;
const directory = mkdtempSync(join(tmpdir(), 'bench-tasks-'));
const signal = new AbortController().signal;
const keys = [{ id: 'a', sha256: '0'.repeat(64), agents: '*', access: 'write' }];
const caller = (n) => ({
  ...{ principalId: 'api:a', agentId: 'assistant', sessionId: 'default', access: 'write' },
  conversationId: `conversation-${n % CONVERSATIONS}`,
});

/** Runs end at once, as known stops before anything was done. */
const stopped = {
  ...{ contractVersion: 1, status: 'blocked', reason: 'PAGE_CONTENT_UNAVAILABLE' },
  ...{ steps: 0, evaluations: 0, staleRetries: 0, textCalls: 0 },
};

async function openService() {
  const store = await openLmdbStore({ directory });
  const service = createTaskService({
    store,
    authorization: createAuthorization({ keys, agents: [{ id: 'assistant' }] }),
    targets: {
      discover: async () => [],
      resolve: (owner, id) => ({
        ...{
          id,
          adapter: 'browser',
          name: 'Tab',
          connectorId: 'c',
          scope: { device_id: 'd', grant_id: 'g', tab_id: id },
        },
        ...{ agentId: owner.agentId, principalId: owner.principalId, conversationId: owner.conversationId },
      }),
      open: async () => ({ call: async () => ({ content: [] }), close: async () => {} }),
    },
    plugins: { controllerFor: () => 'x', run: async () => stopped },
    jev: { allowed: () => true, evaluate: async () => Promise.reject(new Error('none')) },
    features: () => ({ browserTasks: true, computerTasks: true, browserSteps: false, computerSteps: false }),
    clock: { now: Date.now },
    ids: { uuid: randomUUID },
    limits: { concurrentRuns: 256 },
  });
  return { store, service };
}

const request = (n) => ({
  ...{ title: `Task ${n}`, instructions: 'Do what the page offers', adapter: 'browser', targetId: `tab-${n}` },
  requestId: `request-${n}`,
});

async function measure(count, work) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await work(i);
    times.push(performance.now() - start);
  }
  return times;
}

/** The kinds of work take turns, so that whatever else the machine and its disk do falls on all alike. */
async function inTurns(count, works) {
  const rows = works.map(([name]) => [name, []]);
  for (let i = 0; i < count; i++)
    for (const [n, [, work]] of works.entries()) rows[n][1].push(...(await measure(1, () => work(i))));
  return rows;
}

const first = await openService();
const filling = performance.now();
await first.service.start();
const pattern = await first.service.spawn(caller(0), request(0), signal);
for (let task = pattern; task.state !== 'failed'; ) {
  const query = { taskId: task.taskId, waitMs: 1000, afterVersion: task.stateVersion };
  ({ task } = await first.service.status(caller(0), query, signal));
}
await first.service.stop();
const ids = await multiply(first.store, pattern);
await first.store.close();
console.error(`filled with ${TASKS} tasks in ${((performance.now() - filling) / 1000).toFixed(0)} s`);

/** The rows of one real task, again and again under other ids: a store as it would be after that many tasks. */
async function multiply(store, { taskId, createdAt }) {
  const names = [
    'tasks',
    'task-revisions',
    'tasks-by-conversation',
    'tasks-by-time',
    'tasks-finished',
    'tasks-by-target',
    'spawn-requests',
  ];
  // Receipts, evidence and events are looked up by the ids of their task: their number changes nothing measured here.
  const tables = [...names, 'receipts'].map((name) => store.table({ name, version: 1 }));
  const rows = tables.flatMap((table) =>
    [...table.range()].map(({ key, value }) => ({ table, text: JSON.stringify([key, value]) })),
  );
  const made = [taskId];
  for (let n = 1; n < TASKS; ) {
    const changes = [];
    for (const end = Math.min(TASKS, n + 1000); n < end; n++) {
      const id = randomUUID();
      made.push(id);
      for (const { table, text } of rows) {
        const [key, value] = JSON.parse(
          text
            .replaceAll(taskId, id)
            .replaceAll('"tab-0"', `"tab-${n}"`)
            .replaceAll('"request-0"', `"request-${n}"`)
            .replaceAll('Task 0', `Task ${n}`)
            .replaceAll('conversation-0', caller(n).conversationId)
            .replaceAll(String(createdAt), String(createdAt + n)),
        );
        if (value?.digest) value.digest = digestOf(request(n));
        changes.push(table.put(key, value));
      }
    }
    await store.commit(changes);
  }
  return made;
}

function digestOf({ title, instructions, adapter, targetId }) {
  return createHash('sha256')
    .update(JSON.stringify([title, instructions, adapter, targetId, null, []]))
    .digest('hex');
}

const starting = performance.now();
const { store, service } = await openService();
await service.start();
const startup = performance.now() - starting;
const scale = store.table({ name: 'bench', version: 1 });
const rows = [
  ...(await inTurns(300, [
    ['a bare durable write, for scale', (i) => store.commit([scale.put([i], i)])],
    ['spawn', (i) => service.spawn(caller(i), request(TASKS + i), signal)],
  ])),
  ['spawn again (same request)', await measure(300, (i) => service.spawn(caller(i), request(i), signal))],
  ['status of one', await measure(1000, (i) => service.status(caller(i * 7), { taskId: ids[i * 7] }, signal))],
  ['list of a conversation', await measure(300, (i) => service.status(caller(i), {}, signal))],
  ['receipts of one', await measure(300, (i) => service.receipts(caller(i * 3), ids[i * 3]))],
];
console.log(
  markdownTable(
    [`with ${TASKS} tasks`, 'median ms', 'p99 ms'],
    [
      ['start', startup.toFixed(0), ''],
      ...rows.map(([name, times]) => [name, median(times).toFixed(3), quantile(times, 0.99).toFixed(3)]),
    ],
  ),
);
await service.stop();
await store.close();
rmSync(directory, { recursive: true, force: true });
if (startup > 1000 || rows.some(([, times]) => median(times) > 5)) process.exitCode = 1;
