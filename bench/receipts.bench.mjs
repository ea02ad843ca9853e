/** What one checkpoint costs, against a bare durable put of the same size to LMDB in the same run. The limit is 1.3 times. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { open } from 'lmdb';
import { createAuditLog } from '../dist/core/receipts/audit-log.js';
import { createReceipts } from '../dist/core/receipts/receipts.js';
import { openLmdbStore } from '../dist/core/store/lmdb-store.js';
import { markdownTable, median, quantile } from './report.mjs';

const WARM_UP = 1000;
const ROUNDS = 1000;
const TOGETHER = 64;
const directory = mkdtempSync(join(tmpdir(), 'bench-receipts-'));

const bare = open({
  ...{ path: join(directory, 'bare.mdb'), encoding: 'binary', keyEncoding: 'binary' },
  ...{ overlappingSync: false, eventTurnBatching: false },
});
const store = await openLmdbStore({ directory: join(directory, 'store') });
const audit = createAuditLog(store);
const receipts = createReceipts({ store, audit, clock: { now: Date.now } });
const receipt = {
  ...{
    taskId: randomUUID(),
    requestId: `task-${randomUUID()}`,
    revision: 1,
    agentId: 'assistant',
    principalId: 'api:a',
  },
  ...{ conversationId: 'c', adapter: 'browser', targetId: 't', connectorId: 'x', pluginId: 'browser-use' },
  ...{ status: 'running', startedAt: 0 },
};

/** A fresh run for every so many checkpoints: one run holds at most 2000. */
async function newLedger() {
  const mine = { ...receipt, requestId: `task-${randomUUID()}` };
  const { changes, conditions } = receipts.begin(mine);
  await store.commit(changes, conditions);
  return receipts.ledger(mine);
}

let ledger = await newLedger();
let taken = 0;
const value = Buffer.alloc(300, 7);
const bareput = () => bare.put(Buffer.from(randomUUID()), value);
const checkpoint = () => ledger.checkpoint({ operationId: randomUUID(), operation: 'page_click' });

async function time(work, times) {
  const start = performance.now();
  await work();
  times.push(performance.now() - start);
}

// A host runs for days; what is measured is not how it warms up.
for (let round = 0; round < WARM_UP; round++) {
  await bareput();
  await checkpoint();
}
ledger = await newLedger();

// The two take turns, so that whatever else the machine does falls on both alike.
const single = { bare: [], checkpoint: [] };
for (let round = 0; round < ROUNDS; round++) {
  await time(bareput, single.bare);
  await time(checkpoint, single.checkpoint);
}
const together = { bare: [], checkpoint: [] };
for (let round = 0; round < 30; round++) {
  taken += TOGETHER;
  if (taken > 1000) {
    taken = 0;
    ledger = await newLedger();
  }
  await time(() => Promise.all(Array.from({ length: TOGETHER }, bareput)), together.bare);
  await time(() => Promise.all(Array.from({ length: TOGETHER }, checkpoint)), together.checkpoint);
}

const ratio = median(single.checkpoint) / median(single.bare);
const rate = (times) => `${Math.round((TOGETHER / median(times)) * 1000)} /s`;
console.log(
  markdownTable(
    ['durable write', 'median ms', 'p99 ms', `${TOGETHER} at once`],
    [
      ['bare LMDB put', median(single.bare).toFixed(3), quantile(single.bare, 0.99).toFixed(3), rate(together.bare)],
      [
        'checkpoint',
        median(single.checkpoint).toFixed(3),
        quantile(single.checkpoint, 0.99).toFixed(3),
        rate(together.checkpoint),
      ],
      ['ratio (limit 1.3)', ratio.toFixed(2), '', (median(together.checkpoint) / median(together.bare)).toFixed(2)],
    ],
  ),
);
const alone = median(single.checkpoint) * TOGETHER;
console.log(
  `\n${TOGETHER} checkpoints at once take ${(median(together.checkpoint) / median(single.checkpoint)).toFixed(1)} times one; one after the other they would take ${alone.toFixed(0)} ms: they share flushes.`,
);
await store.close();
await bare.close();
rmSync(directory, { recursive: true, force: true });
if (ratio > 1.3) process.exitCode = 1;
