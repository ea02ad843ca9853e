import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../store/memory-store.ts';
import { type AuditEntry, entryHash, receiptDigest } from './audit-entry.ts';
import { auditTables, createAuditLog } from './audit-log.ts';
import type { RunReceipt } from './receipt.ts';
import { createReceipts } from './receipts.ts';

function book(store = createMemoryStore()) {
  let now = 0;
  const clock = { now: () => ++now };
  const audit = createAuditLog(store);
  const receipts = createReceipts({ store, audit, clock });
  const begin = async (taskId = 'task', requestId = 'run') => {
    const receipt: RunReceipt = {
      ...{ taskId, requestId, revision: 1, agentId: 'assistant', principalId: 'api:a', conversationId: 'c' },
      ...{
        adapter: 'browser',
        targetId: 't',
        connectorId: 'x',
        pluginId: 'browser-use',
        status: 'running',
        startedAt: clock.now(),
      },
    };
    const { changes, conditions } = receipts.begin(receipt);
    expect(await store.commit(changes, conditions)).toBe(true);
    return { receipt, ledger: receipts.ledger(receipt) };
  };
  return { store, audit, receipts, begin };
}

describe('a checkpoint', () => {
  it('is on record before it resolves, in order, with what became of it', async () => {
    const { receipts, begin } = book();
    const { ledger } = await begin();
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const operationId of ids) {
      await ledger.checkpoint({ operationId, operation: 'page_click' });
      expect(receipts.lastMutation('task', 'run')?.operationId).toBe(operationId);
    }
    ledger.settle(ids[0]!, 'confirmed');
    ledger.settle(ids[1]!, 'not_executed');
    expect((await ledger.close()).map((one) => one.outcome)).toEqual(['confirmed', 'not_executed', undefined]);
  });

  it('refuses an operation id that was ever used, in whatever case and whichever run', async () => {
    const { begin } = book();
    const first = await begin('task', 'run');
    const second = await begin('other', 'run');
    const operationId = randomUUID();
    await first.ledger.checkpoint({ operationId, operation: 'page_click' });
    const again = { operationId: operationId.toUpperCase(), operation: 'page_type' };
    for (const { ledger } of [first, second]) {
      await expect(ledger.checkpoint(again)).rejects.toMatchObject({ code: 'BROWSER_CHECKPOINT_UNAVAILABLE' });
    }
  });

  it('refuses an operation id that a process used which then died, once the next one has ended its run', async () => {
    const store = createMemoryStore();
    const first = book(store);
    const { ledger, receipt } = await first.begin();
    const operationId = randomUUID();
    await ledger.checkpoint({ operationId, operation: 'page_click' });
    const second = book(store);
    const left = second.receipts.mutations('task', 'run');
    await store.commit(second.receipts.replace({ ...receipt, status: 'ended' }, left, 'run.interrupted'));
    const other = await second.begin('other', 'run');
    await expect(other.ledger.checkpoint({ operationId, operation: 'page_click' })).rejects.toMatchObject({
      code: 'BROWSER_CHECKPOINT_UNAVAILABLE',
    });
  });

  it('knows its ids after many runs, whatever is forgotten in memory', async () => {
    const { store, receipts, begin } = book();
    const ids: string[] = [];
    for (let run = 0; run < 12; run++) {
      const { ledger, receipt } = await begin('task', `run-${run}`);
      for (let i = 0; i < 1000; i++) {
        ids.push(randomUUID());
        await ledger.checkpoint({ operationId: ids.at(-1)!, operation: 'page_click' });
      }
      const mutations = await ledger.close();
      await store.commit(receipts.replace({ ...receipt, status: 'ended' }, mutations, 'run.ended'));
    }
    const { ledger } = await begin('task', 'last');
    for (const operationId of [ids[0]!, ids[999]!, ids[5500]!, ids.at(-1)!]) {
      await expect(ledger.checkpoint({ operationId, operation: 'page_click' })).rejects.toMatchObject({
        code: 'BROWSER_CHECKPOINT_UNAVAILABLE',
      });
    }
  });

  it('lets one of many concurrent uses of an operation id through', async () => {
    const { begin } = book();
    const { ledger } = await begin();
    const operationId = randomUUID();
    const tries = Array.from({ length: 16 }, () => ledger.checkpoint({ operationId, operation: 'page_click' }));
    expect((await Promise.allSettled(tries)).filter((one) => one.status === 'fulfilled')).toHaveLength(1);
  });

  it.each(['', 'x', '1234', `${randomUUID()}0`, `${randomUUID()}\n`, '../../../../etc/passwd'])(
    'refuses the operation id %j',
    async (operationId) => {
      const { begin } = book();
      const { ledger } = await begin();
      await expect(ledger.checkpoint({ operationId, operation: 'page_click' })).rejects.toMatchObject({
        code: 'BROWSER_CHECKPOINT_UNAVAILABLE',
      });
    },
  );

  it('is refused when the disk refuses, and after the run was closed or its receipt replaced', async () => {
    const { store, receipts, begin } = book();
    const { ledger, receipt } = await begin();
    const mutation = () => ({ operationId: randomUUID(), operation: 'page_click' });
    store.failWrites(true);
    await expect(ledger.checkpoint(mutation())).rejects.toMatchObject({ code: 'BROWSER_CHECKPOINT_UNAVAILABLE' });
    store.failWrites(false);
    await ledger.checkpoint(mutation());
    await store.commit(receipts.replace({ ...receipt, status: 'ended' }, [], 'run.ended'));
    await expect(ledger.checkpoint(mutation())).rejects.toMatchObject({ code: 'BROWSER_CHECKPOINT_UNAVAILABLE' });
    await ledger.close();
    await expect(ledger.checkpoint(mutation())).rejects.toMatchObject({ code: 'BROWSER_CHECKPOINT_UNAVAILABLE' });
  });
});

describe('the audit log', () => {
  it('is one chain of hashes, whatever the order in which changes were committed', async () => {
    const { store, audit } = book();
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        await store.commit([audit.note({ at: i, kind: 'test', data: { i } })]);
        audit.kick();
      }),
    );
    await audit.drain();
    const entries = [...audit.entries({})];
    expect(entries).toHaveLength(50);
    entries.forEach((entry, i) => {
      expect(entry.seq).toBe(i + 1);
      expect(entry.prev).toBe(entries[i - 1]?.hash ?? '0'.repeat(64));
      expect(entry.hash).toBe(entryHash(entry, entry.seq, entry.prev));
    });
    expect(audit.head()).toEqual({ seq: 50, hash: entries[49]?.hash });
  });

  it('loses no note that was committed before a crash', async () => {
    const store = createMemoryStore();
    const first = createAuditLog(store);
    await store.commit([first.note({ at: 1, kind: 'a' }), first.note({ at: 2, kind: 'b' })]);
    const second = createAuditLog(store);
    await store.commit([second.note({ at: 3, kind: 'c' })]);
    await second.drain();
    expect([...second.entries({})].map((entry) => entry.kind)).toEqual(['a', 'b', 'c']);
  });

  it('shows any change of an entry in its hash', () => {
    const note = fc.record({
      at: fc.nat(),
      kind: fc.string(),
      taskId: fc.option(fc.string(), { nil: undefined }),
      data: fc.option(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean())), {
        nil: undefined,
      }),
    }) as fc.Arbitrary<AuditEntry>;
    fc.assert(
      fc.property(note, note, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(entryHash(a, 1, 'p') === entryHash(JSON.parse(JSON.stringify(a)), 1, 'p')).toBe(true);
        if (!same && JSON.stringify(sortKeys(a)) !== JSON.stringify(sortKeys(b)))
          expect(entryHash(a, 1, 'p')).not.toBe(entryHash(b, 1, 'p'));
      }),
    );
  });

  it('holds a digest that any change of a receipt or its mutations breaks', async () => {
    const { store, audit, receipts, begin } = book();
    const { ledger, receipt } = await begin();
    await ledger.checkpoint({ operationId: randomUUID(), operation: 'page_click' });
    const mutations = await ledger.close();
    const ended = { ...receipt, status: 'ended' as const };
    await store.commit(receipts.replace(ended, mutations, 'run.ended'));
    await audit.drain();
    const [last] = audit.entries({ reverse: true, limit: 1 });
    expect(last?.receipt).toBe(receiptDigest(ended, mutations));
    expect(receiptDigest(ended, [])).not.toBe(last?.receipt);
    expect(receiptDigest({ ...ended, outcome: 'completed' }, mutations)).not.toBe(last?.receipt);
    expect(store.table(auditTables.outbox).count()).toBe(0);
  });
});

const sortKeys = (value: object): unknown =>
  Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => [key, typeof one === 'object' ? sortKeys(one) : one]);
