/**
 * Lets the oldest part of the audit chain go, so that what stays can still be proven whole.
 *
 * Three steps, each on disk before the next. First the chain itself says where it will begin; that entry is part of every later
 * head, so a beginning that somebody else made up shows. Then, receipts that outlive their last entry are named again at the end of the
 * chain, with the digest that the old entry held: an altered one stays an altered one. Last, the entries go and the anchor
 * is written, in one transaction. A crash in between leaves more than is needed, never less.
 */
import type { Condition, Store } from '../store/store.ts';
import type { AuditEntry, AuditNote } from './audit-entry.ts';
import { type AuditAnchor, type AuditLog, auditTables } from './audit-log.ts';
import type { RunReceipt } from './receipt.ts';
import { receiptTables } from './receipts.ts';

/** The entry that says where the chain will begin: `data.seq` and `data.hash` of the last entry that goes. */
export const AUDIT_PRUNED = 'audit.pruned';
/** A receipt whose own entry goes: its last digest, said again. */
export const RECEIPT_CARRIED = 'receipt.carried';
/** Entries that one call removes at most. */
export const MAX_PRUNED = 2000;

/**
 * @param before entries older than this (milliseconds) may go, the oldest first, never one behind a younger one.
 * @returns how many went; call again while it is MAX_PRUNED.
 */
export async function pruneAudit(store: Store, audit: AuditLog, before: number, now: number): Promise<number> {
  const chain = store.table<AuditEntry>(auditTables.chain);
  const anchors = store.table<AuditAnchor>(auditTables.anchor);
  const old: AuditEntry[] = [];
  for (const { value } of chain.range({ limit: MAX_PRUNED })) {
    if (value.at >= before) break;
    old.push(value);
  }
  const last = old.at(-1);
  if (!last) return 0;
  const known = anchors.row(['anchor']);
  const pruned = { at: now, kind: AUDIT_PRUNED, data: { seq: last.seq, hash: last.hash, entries: old.length } };
  const { notes, conditions } = carried(store, old, last.seq, now);
  const said = await store.commit(
    [pruned, ...notes].map((note) => audit.note(note)),
    conditions,
  );
  if (!said) return 0;
  await audit.drain();
  const gone = await store.commit(
    [
      ...old.map(({ seq }) => chain.remove([seq])),
      anchors.put(['anchor'], { seq: last.seq, hash: last.hash, prunedAt: now }),
    ],
    [anchors.unchanged(['anchor'], known?.version ?? 0)],
  );
  return gone ? old.length : 0;
}

interface Carried {
  notes: AuditNote[];
  /** Hold while nobody writes one of the receipts: what is said of it then must come later than this. */
  conditions: Condition[];
}

/** Receipts that are still there and of which only entries that go tell. */
function carried(store: Store, old: readonly AuditEntry[], lastSeq: number, now: number): Carried {
  const receipts = store.table<RunReceipt>(receiptTables.receipts);
  const left = new Map<string, { note: AuditNote; condition: Condition }>();
  for (const { taskId, requestId, receipt, principalId, agentId, conversationId, seq } of old) {
    if (!receipt || !taskId || !requestId) continue;
    const row = receipts.row([taskId, requestId]);
    if (!row) continue;
    const note: AuditNote = {
      ...{ at: now, kind: RECEIPT_CARRIED, taskId, requestId, receipt, data: { seq } },
      ...(principalId === undefined ? {} : { principalId }),
      ...(agentId === undefined ? {} : { agentId }),
      ...(conversationId === undefined ? {} : { conversationId }),
    };
    left.set(JSON.stringify([taskId, requestId]), { note, condition: receipts.unchanged(row.key, row.version) });
  }
  if (left.size === 0) return { notes: [], conditions: [] };
  const heardLater = ({ taskId, requestId, receipt }: AuditNote) => {
    if (receipt && taskId && requestId) left.delete(JSON.stringify([taskId, requestId]));
  };
  for (const { value } of store.table<AuditEntry>(auditTables.chain).range({ after: [lastSeq] })) heardLater(value);
  for (const { value } of store.table<AuditNote>(auditTables.outbox).range()) heardLater(value);
  const found = [...left.values()];
  return { notes: found.map(({ note }) => note), conditions: found.map(({ condition }) => condition) };
}
