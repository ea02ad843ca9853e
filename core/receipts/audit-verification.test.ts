import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { type AuditEntry, type AuditNote, receiptDigest } from './audit-entry.ts';
import { auditTables, createAuditLog } from './audit-log.ts';
import { verifyAudit } from './audit-verification.ts';
import type { RunReceipt } from './receipt.ts';
import { receiptTables } from './receipts.ts';

const receipt: RunReceipt = {
  taskId: 't1',
  requestId: 'task-a1',
  revision: 1,
  agentId: 'assistant',
  principalId: 'api:k',
  conversationId: 'c',
  adapter: 'browser',
  targetId: 'auto-1',
  connectorId: 'browser-device',
  pluginId: 'browser-use',
  status: 'ended',
  startedAt: 1,
  endedAt: 2,
  outcome: 'completed',
};

async function chainOf(notes: AuditNote[]): Promise<Store> {
  const store = createMemoryStore();
  const log = createAuditLog(store);
  const receipts = store.table<RunReceipt>(receiptTables.receipts);
  await store.commit([...notes.map((note) => log.note(note)), receipts.put(['t1', 'task-a1'], receipt)]);
  await log.drain();
  return store;
}

const notes: AuditNote[] = [
  { at: 1, kind: 'task.spawned', taskId: 't1', data: { revision: 1 } },
  { at: 2, kind: 'run.ended', taskId: 't1', requestId: 'task-a1', receipt: receiptDigest(receipt, []) },
  { at: 3, kind: 'task.state', taskId: 't1', data: { state: 'completed' } },
];

describe('the audit chain', () => {
  it('is whole after it was written', async () => {
    const verdict = verifyAudit(await chainOf(notes));
    expect(verdict).toMatchObject({ whole: true, entries: 3, receipts: 1, problems: [] });
  });

  it('shows any change of any field of any entry', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(notes.length - 1),
        fc.constantFrom('at', 'kind', 'taskId', 'principalId', 'data', 'prev', 'hash', 'receipt'),
        fc.string({ minLength: 1 }),
        async (index, field, text) => {
          const store = await chainOf(notes);
          const table = store.table<AuditEntry>(auditTables.chain);
          const entry = table.get([index + 1])!;
          const changed = {
            ...entry,
            [field]: field === 'at' ? entry.at + 1 : field === 'data' ? { [text]: 1 } : `${text}-changed`,
          };
          await store.commit([table.put([index + 1], changed as AuditEntry)]);
          expect(verifyAudit(store).whole).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('shows an entry that was taken out of the middle or the beginning', async () => {
    for (const seq of [1, 2]) {
      const store = await chainOf(notes);
      await store.commit([store.table<AuditEntry>(auditTables.chain).remove([seq])]);
      expect(verifyAudit(store).problems[0]).toMatchObject({ kind: 'missing', seq });
    }
  });

  it('shows a cut-off end only against a head that was exported before', async () => {
    const store = await chainOf(notes);
    const { head } = verifyAudit(store);
    await store.commit([store.table<AuditEntry>(auditTables.chain).remove([3])]);
    expect(verifyAudit(store).whole).toBe(true);
    expect(verifyAudit(store, head).problems[0]).toMatchObject({ kind: 'head_missing' });
  });

  it('shows a receipt that was changed or removed after the chain heard of it', async () => {
    const store = await chainOf(notes);
    const receipts = store.table<RunReceipt>(receiptTables.receipts);
    await store.commit([receipts.put(['t1', 'task-a1'], { ...receipt, outcome: 'unknown' })]);
    expect(verifyAudit(store).problems).toMatchObject([{ kind: 'receipt_altered' }]);
    await store.commit([receipts.remove(['t1', 'task-a1'])]);
    expect(verifyAudit(store).problems).toMatchObject([{ kind: 'receipt_missing' }]);
  });
});
