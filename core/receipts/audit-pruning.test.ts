import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { type AuditEntry, GENESIS } from './audit-entry.ts';
import { type AuditAnchor, auditTables, createAuditLog } from './audit-log.ts';
import { MAX_PRUNED, pruneAudit } from './audit-pruning.ts';
import { verifyAudit, verifyAuditInTurns } from './audit-verification.ts';
import type { RunReceipt } from './receipt.ts';
import { createReceipts, receiptTables } from './receipts.ts';

const receipt: RunReceipt = {
  ...{ taskId: 't1', requestId: 'r1', revision: 1, agentId: 'assistant', principalId: 'api:k', conversationId: 'c' },
  ...{ adapter: 'browser', targetId: 'auto-1', connectorId: 'd', pluginId: 'browser-use' },
  ...{ status: 'ended', startedAt: 1, endedAt: 2, outcome: 'completed' },
};

/** Entries at the times 1, 2, 3 … of which the second tells of a receipt. */
async function chainOf(count: number) {
  const store = createMemoryStore();
  const audit = createAuditLog(store);
  const receipts = createReceipts({ store, audit, clock: { now: () => 2 } });
  for (let at = 1; at <= count; at++) {
    await store.commit(
      at === 2 ? receipts.replace(receipt, [], 'run.ended') : [audit.note({ at, kind: 'thing', data: { at } })],
    );
  }
  await audit.drain();
  return { store, audit, receipts };
}

const kinds = (store: Store) =>
  [...store.table<AuditEntry>(auditTables.chain).range()].map(({ value }) => `${value.seq} ${value.kind}`);

describe('pruning the audit log', () => {
  it('takes what is old, and the rest proves itself whole and says where it begins', async () => {
    const { store, audit } = await chainOf(6);
    const { head } = verifyAudit(store);
    expect(await pruneAudit(store, audit, 5, 100)).toBe(4);
    expect(kinds(store)).toEqual(['5 thing', '6 thing', '7 audit.pruned', '8 receipt.carried']);
    const verdict = verifyAudit(store, head);
    expect(verdict).toMatchObject({ whole: true, entries: 4, receipts: 1, problems: [] });
    expect(verdict.anchor).toMatchObject({ seq: 4, prunedAt: 100 });
  });

  it('removes nothing that is young, and nothing that lies behind something young', async () => {
    const { store, audit } = await chainOf(3);
    await store.commit([audit.note({ at: 0, kind: 'late' })]);
    await audit.drain();
    expect(await pruneAudit(store, audit, 1, 100)).toBe(0);
    expect(kinds(store)).toHaveLength(4);
  });

  it('goes on over many rounds and restarts, whatever is written in between', async () => {
    const { store } = await chainOf(3);
    for (let round = 1; round <= 5; round++) {
      const audit = createAuditLog(store);
      for (let i = 0; i < 4; i++) await store.commit([audit.note({ at: round * 10 + i, kind: 'thing' })]);
      await audit.drain();
      expect(await pruneAudit(store, audit, round * 10 + 2, round * 10 + 5)).toBeGreaterThan(0);
      expect(verifyAudit(store)).toMatchObject({ whole: true, receipts: 1 });
    }
  });

  it('takes a bounded part at once', async () => {
    const { store, audit } = await chainOf(MAX_PRUNED + 10);
    expect(await pruneAudit(store, audit, 1e9, 1e9)).toBe(MAX_PRUNED);
    // What was written about the pruning is as old as the bound allows, and stays.
    expect(await pruneAudit(store, audit, 1e9, 1e9)).toBe(10);
    expect(verifyAudit(store)).toMatchObject({ whole: true });
  });

  it('may be killed between its writes: the chain is whole after each, and the next round does the rest', async () => {
    for (const allowed of [0, 1, 2]) {
      const { store, audit } = await chainOf(6);
      let writes = 0;
      const dying: Store = {
        ...store,
        commit: async (changes, conditions) => {
          if (writes++ >= allowed) throw new Error('killed');
          return store.commit(changes, conditions);
        },
      };
      const inside = createAuditLog(dying);
      await expect(pruneAudit(dying, inside, 5, 100)).rejects.toThrow('killed');
      expect(verifyAudit(store)).toMatchObject({ whole: true, receipts: 1 });
      const next = createAuditLog(store);
      expect(await pruneAudit(store, next, 5, 200)).toBe(4);
      expect(verifyAudit(store)).toMatchObject({ whole: true, receipts: 1 });
      expect(audit.head().seq).toBeGreaterThan(6);
    }
  });

  it('keeps the digest of a receipt that outlives its entry, and lets go of one that went or was told of again', async () => {
    const { store, audit, receipts } = await chainOf(6);
    const table = store.table<RunReceipt>(receiptTables.receipts);
    await pruneAudit(store, audit, 5, 100);
    await store.commit([table.put(['t1', 'r1'], { ...receipt, outcome: 'failed' })]);
    expect(verifyAudit(store).problems).toMatchObject([{ kind: 'receipt_altered', seq: 8 }]);
    await store.commit(receipts.replace({ ...receipt, outcome: 'failed' }, [], 'receipt.verified'));
    expect(verifyAudit(store).whole).toBe(true);
    await audit.drain();
    // The newest entry of the receipt stays, so nothing is carried.
    await pruneAudit(store, audit, 200, 300);
    expect(kinds(store).filter((kind) => kind.includes('carried'))).toHaveLength(1);
    expect(verifyAudit(store).whole).toBe(true);
  });

  it('does not whitewash a receipt that was altered before', async () => {
    const { store, audit } = await chainOf(6);
    const table = store.table<RunReceipt>(receiptTables.receipts);
    await store.commit([table.put(['t1', 'r1'], { ...receipt, outcome: 'failed' })]);
    await pruneAudit(store, audit, 5, 100);
    expect(verifyAudit(store).problems).toMatchObject([{ kind: 'receipt_altered' }]);
  });
});

describe('a chain that was cut by somebody else', () => {
  it.each([
    ['with an anchor that fits', (last: AuditEntry) => ({ seq: last.seq, hash: last.hash, prunedAt: 1 })],
    ['with an anchor of another hash', (last: AuditEntry) => ({ seq: last.seq, hash: GENESIS, prunedAt: 1 })],
  ])('shows %s', async (_what, forge) => {
    const { store } = await chainOf(6);
    const chain = store.table<AuditEntry>(auditTables.chain);
    const last = chain.get([3])!;
    await store.commit([
      ...[1, 2, 3].map((seq) => chain.remove([seq])),
      store.table<AuditAnchor>(auditTables.anchor).put(['anchor'], forge(last)),
    ]);
    expect(verifyAudit(store).whole).toBe(false);
  });

  it('shows when the anchor of a pruned chain is moved, or taken away', async () => {
    const { store, audit } = await chainOf(8);
    await pruneAudit(store, audit, 4, 100);
    const chain = store.table<AuditEntry>(auditTables.chain);
    const anchors = store.table<AuditAnchor>(auditTables.anchor);
    const anchor = anchors.get(['anchor'])!;
    await store.commit([anchors.remove(['anchor'])]);
    expect(verifyAudit(store).problems).toMatchObject([{ kind: 'missing', seq: 1 }]);
    const fifth = chain.get([5])!;
    await store.commit([
      ...[4, 5].map((seq) => chain.remove([seq])),
      anchors.put(['anchor'], { ...anchor, seq: 5, hash: fifth.hash }),
    ]);
    expect(verifyAudit(store).problems).toMatchObject([{ kind: 'anchor_unproven', seq: 5 }]);
  });

  it('says of a head from before the anchor that it cannot be compared any more', async () => {
    const { store, audit } = await chainOf(6);
    const early = { seq: 2, hash: createAuditLog(store).entries({ fromSeq: 2, limit: 1 }).next().value!.hash };
    await pruneAudit(store, audit, 5, 100);
    const [problem] = verifyAudit(store, early).problems;
    expect(problem).toMatchObject({ kind: 'head_missing', says: expect.stringContaining('note a newer head') });
  });
});

describe('verifying beside running work', () => {
  it('raises no alarm for what changes meanwhile: new runs, pruned entries, notes that are not in the chain yet', async () => {
    const { store, audit, receipts } = await chainOf(1500);
    const verdict = verifyAuditInTurns(store);
    await store.commit(receipts.replace({ ...receipt, outcome: 'unknown' }, [], 'receipt.inspected'));
    const second = { ...receipt, requestId: 'r2' };
    await store.commit(receipts.replace(second, [], 'run.ended'));
    await pruneAudit(store, audit, 1000, 5000);
    await store.commit(receipts.replace({ ...second, outcome: 'failed' }, [], 'receipt.verified'));
    expect(await verdict).toMatchObject({ whole: true, problems: [] });
  });

  it('compares what a killed host left outside the chain', async () => {
    const { store, receipts } = await chainOf(3);
    await store.commit(receipts.replace({ ...receipt, outcome: 'unknown' }, [], 'receipt.inspected'));
    expect(verifyAudit(store)).toMatchObject({ whole: true, receipts: 1 });
    const table = store.table<RunReceipt>(receiptTables.receipts);
    await store.commit([table.put(['t1', 'r1'], { ...receipt, outcome: 'failed' })]);
    expect(verifyAudit(store).problems).toMatchObject([
      { kind: 'receipt_altered', says: expect.stringContaining('newest') },
    ]);
  });
});
