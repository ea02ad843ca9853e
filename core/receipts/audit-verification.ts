/**
 * Whether the audit chain is whole: every entry's hash is its own, every entry follows the one before, and every receipt
 * still is what the chain last said of it.
 *
 * What it cannot show by itself: that the newest entries were cut off. A head that was exported earlier shows that, because it
 * must then be part of the chain.
 */
import type { Store } from '../store/store.ts';
import { type AuditEntry, entryHash, GENESIS, receiptDigest } from './audit-entry.ts';
import { type AuditAnchor, type AuditHead, auditTables } from './audit-log.ts';
import type { Mutation, RunReceipt } from './receipt.ts';
import { receiptTables } from './receipts.ts';

export interface AuditVerdict {
  whole: boolean;
  entries: number;
  /** Where the chain ends; keep it outside the host to prove later that nothing was cut off. */
  head: AuditHead;
  /** Where the chain begins, when older entries were pruned. */
  anchor?: AuditAnchor;
  /** Receipts whose digest was compared. */
  receipts: number;
  /** What is wrong, the first of each kind first. Nothing after a broken link is trusted. */
  problems: {
    kind: 'altered' | 'missing' | 'receipt_altered' | 'receipt_missing' | 'head_missing';
    seq?: number;
    says: string;
  }[];
}

/** @param expected a head that was exported before; it must still be part of the chain. */
export function verifyAudit(store: Store, expected?: AuditHead): AuditVerdict {
  const chain = store.table<AuditEntry>(auditTables.chain);
  const anchor = store.table<AuditAnchor>(auditTables.anchor).get(['anchor']);
  const problems: AuditVerdict['problems'] = [];
  const lastDigests = new Map<string, { digest: string; seq: number; taskId: string; requestId: string }>();
  let head: AuditHead = anchor ? { seq: anchor.seq, hash: anchor.hash } : { seq: 0, hash: GENESIS };
  let entries = 0;
  let expectedSeen = expected === undefined || (expected.seq === head.seq && expected.hash === head.hash);

  for (const { value: entry } of chain.range()) {
    if (entry.seq !== head.seq + 1) {
      problems.push({
        kind: 'missing',
        seq: head.seq + 1,
        says: `Entry ${head.seq + 1} is missing; the next one is ${entry.seq}.`,
      });
      break;
    }
    if (entry.prev !== head.hash || entryHash(entry, entry.seq, entry.prev) !== entry.hash) {
      problems.push({
        kind: 'altered',
        seq: entry.seq,
        says: `Entry ${entry.seq} does not match its hash or the entry before it.`,
      });
      break;
    }
    head = { seq: entry.seq, hash: entry.hash };
    entries++;
    if (expected?.seq === head.seq) expectedSeen = expected.hash === head.hash;
    if (entry.receipt && entry.taskId && entry.requestId) {
      const { taskId, requestId, seq } = entry;
      lastDigests.set(JSON.stringify([taskId, requestId]), { digest: entry.receipt, seq, taskId, requestId });
    } else if (entry.kind === RECEIPTS_PRUNED && entry.taskId) {
      for (const [key, { taskId }] of lastDigests) if (taskId === entry.taskId) lastDigests.delete(key);
    }
  }
  if (!expectedSeen) {
    problems.push({
      kind: 'head_missing',
      says: `The exported head (entry ${expected?.seq}) is not part of the chain: entries were removed or replaced.`,
    });
  }

  let receipts = 0;
  const receiptTable = store.table<RunReceipt>(receiptTables.receipts);
  const mutationTable = store.table<Mutation>(receiptTables.mutations);
  for (const { digest, seq, taskId, requestId } of lastDigests.values()) {
    const receipt = receiptTable.get([taskId, requestId]);
    if (!receipt) {
      problems.push({
        kind: 'receipt_missing',
        seq,
        says: `The receipt of run ${requestId} is gone; entry ${seq} knows it.`,
      });
      continue;
    }
    // A run that is still going is changed by every checkpoint; the chain hears of it when it ends.
    if (receipt.status === 'running') continue;
    receipts++;
    const mutations = [...mutationTable.range({ prefix: [taskId, requestId] })].map((row) => row.value);
    if (receiptDigest(receipt, mutations) !== digest) {
      problems.push({
        kind: 'receipt_altered',
        seq,
        says: `The receipt of run ${requestId} is not what entry ${seq} says it was.`,
      });
    }
  }
  return { whole: problems.length === 0, entries, head, ...(anchor ? { anchor } : {}), receipts, problems };
}

/** The entry that retention writes when it removes a task's receipts. */
export const RECEIPTS_PRUNED = 'task.pruned';
