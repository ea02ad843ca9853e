import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LmdbStore, openLmdbStore } from '../store/lmdb-store.ts';
import { createMemoryStore as memoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { createBoundedLog, MAX_WAITING } from './bounded-log.ts';
import { createDecisionLog, decisionsOf } from './decisions.ts';
import { createUsageLog, hashPrincipal, MAX_USAGE_RECORDS, type UsageRecord } from './usage.ts';

interface Entry {
  startedAt: number;
  n: number;
}
const log = (store: Store, max = 5) => createBoundedLog<Entry>({ store, table: 'test', version: 1, max });

describe('a bounded log', () => {
  it('lists the newest first, by time of start, and counts all of a scope', async () => {
    const entries = log(memoryStore());
    for (const [n, startedAt] of [
      [1, 30],
      [2, 10],
      [3, 20],
    ] as const)
      entries.add('a', `id${n}`, { n, startedAt });
    entries.add('b', 'x', { n: 9, startedAt: 40 });
    expect(await entries.list('a', { limit: 2, offset: 0 })).toEqual({
      records: [
        { n: 1, startedAt: 30 },
        { n: 3, startedAt: 20 },
      ],
      total: 3,
    });
    expect((await entries.list('a', { limit: 2, offset: 2 })).records.map(({ n }) => n)).toEqual([2]);
    expect(await entries.list('nobody', { limit: 2, offset: 0 })).toEqual({ records: [], total: 0 });
  });

  it('keeps no more than its bound over all scopes, and the newest ones', async () => {
    const entries = log(memoryStore(), 5);
    for (let n = 0; n < 23; n++) {
      entries.add(n % 2 ? 'odd' : 'even', `id${n}`, { n, startedAt: n });
      if (n % 4 === 0) await entries.flush();
    }
    const [odd, even] = [
      await entries.list('odd', { limit: 100, offset: 0 }),
      await entries.list('even', { limit: 100, offset: 0 }),
    ];
    expect([...odd.records, ...even.records].map(({ n }) => n).sort((a, b) => a - b)).toEqual([18, 19, 20, 21, 22]);
    expect([odd.total, even.total, entries.size]).toEqual([2, 3, 5]);
  });

  it('does not mix up records of one millisecond', async () => {
    const entries = log(memoryStore());
    for (let n = 0; n < 4; n++) entries.add('a', `id${n}`, { n, startedAt: 7 });
    expect((await entries.list('a', { limit: 9, offset: 0 })).total).toBe(4);
  });

  it('goes on with what an earlier process left, within its bound', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'log-'));
    let store: LmdbStore | undefined;
    try {
      for (let round = 0; round < 3; round++) {
        store = await openLmdbStore({ directory: folder });
        const entries = log(store, 5);
        for (let n = 0; n < 3; n++)
          entries.add('a', `r${round}n${n}`, { n: round * 10 + n, startedAt: round * 10 + n });
        await entries.flush();
        const { records, total } = await entries.list('a', { limit: 9, offset: 0 });
        expect(total).toBe(Math.min(5, 3 * (round + 1)));
        expect(records[0]?.n).toBe(round * 10 + 2);
        expect(records).toHaveLength(total);
        await store.close();
        store = undefined;
      }
    } finally {
      await store?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('counts what it lost when the disk refuses or stalls, and goes on', async () => {
    const store = memoryStore();
    let refuse = true;
    const failing: Store = {
      ...store,
      table: store.table.bind(store),
      commit: async (changes, conditions) => {
        if (refuse) throw new Error('disk full');
        return store.commit(changes, conditions);
      },
    };
    const errors: unknown[] = [];
    const entries = createBoundedLog<Entry>({
      store: failing,
      table: 't',
      version: 1,
      max: 10_000,
      onError: (e) => errors.push(e),
    });
    for (let n = 0; n < MAX_WAITING + 3; n++) entries.add('a', `id${n}`, { n, startedAt: n });
    await entries.flush();
    expect(entries.dropped).toBe(MAX_WAITING + 3);
    expect(errors).toHaveLength(1);
    refuse = false;
    entries.add('a', 'last', { n: 1, startedAt: 1 });
    expect((await entries.list('a', { limit: 9, offset: 0 })).records).toEqual([{ n: 1, startedAt: 1 }]);
  });
});

describe('a log and a store that is gone', () => {
  it('ends quietly when the store was closed while records waited', async () => {
    const store = memoryStore();
    let closed = false;
    const gone: Store = {
      ...store,
      table: (definition) => {
        const table = store.table(definition);
        const range: typeof table.range = (options) => {
          if (closed) throw new Error('closed');
          return table.range(options);
        };
        return { ...table, range };
      },
      commit: async () => {
        throw new Error('closed');
      },
    };
    const errors: unknown[] = [];
    const entries = createBoundedLog<Entry>({
      store: gone,
      table: 't',
      version: 1,
      max: 10,
      onError: (e) => errors.push(e),
    });
    entries.add('a', 'id', { n: 1, startedAt: 1 });
    closed = true;
    await entries.flush();
    expect([entries.dropped, errors.length]).toEqual([1, 2]);
  });

  it('hides what is past its bound, over a restart too, and shows the rest where it belongs', async () => {
    const store = memoryStore();
    const open = () => createBoundedLog<Entry>({ store, table: 't', version: 1, max: 100 });
    let entries = open();
    let n = 0;
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 37; i++) entries.add('a', `id${n}`, { n, startedAt: n++ });
      await entries.flush();
      if (round % 4 === 3) entries = open();
      const { records, total } = await entries.list('a', { limit: 200, offset: 0 });
      expect(total).toBe(Math.min(n, 100));
      expect(records.map((record) => record.n)).toEqual(Array.from({ length: total }, (_, i) => n - 1 - i));
      // What is hidden but still stored is less than one row.
      const stored = [...store.table<unknown[]>({ name: 't', version: 1 }).range()].flatMap(({ value }) => value);
      expect(stored.length - total).toBeLessThan(64);
    }
  });
});

describe('the usage log', () => {
  it('keeps 10,000 records of an agent and pages through them', async () => {
    const store = memoryStore();
    let made = 0;
    const usage = createUsageLog({ store, ids: () => `id${made++}` });
    const record = (startedAt: number): UsageRecord => ({
      requestId: `r${startedAt}`,
      principalId: hashPrincipal('api:x'),
      agentId: 'assistant',
      consumer: 'http',
      provider: 'typesafe',
      requestedModel: 'm',
      startedAt,
      elapsedMs: 1,
      outcome: 'completed',
      questions: 1,
    });
    for (let n = 0; n < MAX_USAGE_RECORDS + 50; n++) {
      usage.add(record(n));
      if (n % 2000 === 0) await usage.flush();
    }
    const { records, total } = await usage.list({ agentId: 'assistant', limit: 100, offset: 9_950 });
    expect(total).toBe(MAX_USAGE_RECORDS);
    expect(records).toHaveLength(50);
    expect(records.at(-1)?.startedAt).toBe(50);
    expect(JSON.stringify(records)).not.toContain('api:x');
  });
});

describe('the decision ledger', () => {
  it('shows what was chosen from how many, without the page', async () => {
    const options = Array.from({ length: 40 }, (_, i) => `e${i}`);
    const probabilities = Object.fromEntries(options.map((key, i) => [key, i === 7 ? 0.61 : 0.01]));
    const decisions = decisionsOf(
      [
        { id: 'click_target', type: 'choice', options },
        { id: 'sure', type: 'noul' },
      ],
      {
        click_target: { type: 'choice', choice: 'e7', probabilities, confidence: 0.6 },
        sure: { type: 'noul', noul: 0.9 },
      },
    );
    const ledger = createDecisionLog({ store: memoryStore(), ids: () => 'one' });
    const base = { requestId: 'r', agentId: 'a', consumer: 'controller' as const, model: 'm', startedAt: 1, decisions };
    ledger.add({ ...base, taskId: 't1' });
    ledger.add(base);
    const { records, total } = await ledger.ofTask('t1', { limit: 9, offset: 0 });
    expect(total).toBe(1);
    expect(records[0]?.decisions).toEqual([
      {
        question: 'click_target',
        type: 'choice',
        options: 40,
        chosen: 'e7',
        probability: 0.61,
        confidence: 0.6,
        probabilities: Object.values(probabilities),
      },
      { question: 'sure', type: 'noul', options: 2, probability: 0.9 },
    ]);
    expect((await ledger.ofAgent('a', { limit: 9, offset: 0 })).total).toBe(1);
    expect((await ledger.ofTask('a', { limit: 9, offset: 0 })).total).toBe(0);
  });
});
