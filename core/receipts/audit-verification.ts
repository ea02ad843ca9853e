/**
 * Whether the audit chain is whole: every entry's hash is its own, every entry follows the one before, a chain that does not
 * begin at the first entry says itself where it was cut, and every receipt still is what the chain last said of it.
 *
 * What it cannot show by itself: that the newest entries were cut off. A head that was exported earlier shows that, because it
 * must then be part of the chain.
 */
import type { Store } from '../store/store.ts';
import { type AuditEntry, type AuditNote, entryHash, GENESIS, receiptDigest } from './audit-entry.ts';
import { type AuditAnchor, type AuditHead, auditTables } from './audit-log.ts';
import { AUDIT_PRUNED } from './audit-pruning.ts';
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
    kind: 'altered' | 'missing' | 'anchor_unproven' | 'receipt_altered' | 'receipt_missing' | 'head_missing';
    seq?: number;
    says: string;
  }[];
}

/** The entry that retention writes when it removes a task's receipts. */
export const RECEIPTS_PRUNED = 'task.pruned';
/** Records that are read before others get a turn. */
const TURN = 500;

/** @param expected a head that was exported before; it must still be part of the chain. */
export function verifyAudit(store: Store, expected?: AuditHead): AuditVerdict {
  const steps = verification(store, expected);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same beside running work, which gets its turn in between. Begins again when the chain is pruned meanwhile. */
export async function verifyAuditInTurns(store: Store, expected?: AuditHead): Promise<AuditVerdict> {
  const anchors = store.table<AuditAnchor>(auditTables.anchor);
  for (;;) {
    const anchor = anchors.row(['anchor'])?.version;
    const steps = verification(store, expected);
    let step = steps.next();
    for (; !step.done; step = steps.next()) await new Promise((resolve) => setImmediate(resolve));
    if (anchors.row(['anchor'])?.version === anchor) return step.value;
  }
}

function* verification(store: Store, expected: AuditHead | undefined): Generator<void, AuditVerdict> {
  const chain = readChain(store, expected);
  yield* chain.walk();
  const suspects: Known[] = [];
  let receipts = 0;
  let compared = 0;
  for (const known of chain.digests.values()) {
    const found = compare(store, known);
    if (found === 'same') receipts++;
    else if (found !== 'running') suspects.push(known);
    if (++compared % TURN === 0) yield;
  }
  // What changed while this was read is told by the rest of the chain, and what is not in the chain yet by the outbox. From
  // here on nobody else gets a turn, so the two fit the receipts.
  for (const _turn of chain.walk());
  for (const { value } of store.table<AuditNote>(auditTables.outbox).range()) chain.hear(value, undefined);
  for (const { id } of suspects) {
    const known = chain.digests.get(id);
    const found = known && compare(store, known);
    if (found === 'same') receipts++;
    if (known && (found === 'altered' || found === 'missing')) chain.problems.push(receiptProblem(found, known));
  }
  const problems = [...chain.problems, ...chain.missing()];
  const { entries, head, anchor } = chain.state();
  return { whole: problems.length === 0, entries, head, ...(anchor ? { anchor } : {}), receipts, problems };
}

/** What the chain last said of one receipt. */
interface Known {
  id: string;
  digest: string;
  seq: number | undefined;
  taskId: string;
  requestId: string;
}

function readChain(store: Store, expected: AuditHead | undefined) {
  const chain = store.table<AuditEntry>(auditTables.chain);
  const anchor = store.table<AuditAnchor>(auditTables.anchor).get(['anchor']);
  const problems: AuditVerdict['problems'] = [];
  const digests = new Map<string, Known>();
  let head: AuditHead = anchor ? { seq: anchor.seq, hash: anchor.hash } : { seq: 0, hash: GENESIS };
  let entries = 0;
  let broken = false;
  let anchorSeen = anchor === undefined;
  let expectedSeen = expected === undefined || (expected.seq === head.seq && expected.hash === head.hash);

  /** @param seq absent for a note that is not in the chain yet. */
  function hear(note: AuditNote, seq: number | undefined): void {
    const { taskId, requestId, receipt, kind, data } = note;
    if (receipt && taskId && requestId) {
      const id = JSON.stringify([taskId, requestId]);
      digests.set(id, { id, digest: receipt, seq, taskId, requestId });
    } else if (kind === RECEIPTS_PRUNED && taskId) {
      for (const [id, known] of digests) if (known.taskId === taskId) digests.delete(id);
    } else if (kind === AUDIT_PRUNED && data?.seq === anchor?.seq && data?.hash === anchor?.hash) anchorSeen = true;
  }

  function* walk(): Generator<void> {
    for (const { value: entry } of broken ? [] : chain.range({ after: [head.seq] })) {
      const says = faultOf(entry, head);
      if (says) {
        problems.push(says);
        broken = true;
        return;
      }
      head = { seq: entry.seq, hash: entry.hash };
      entries++;
      if (expected?.seq === head.seq) expectedSeen = expected.hash === head.hash;
      hear(entry, entry.seq);
      if (entries % TURN === 0) yield;
    }
  }

  function missing(): AuditVerdict['problems'] {
    const found: AuditVerdict['problems'] = [];
    if (!anchorSeen && !broken) {
      const says = `The chain begins after entry ${anchor?.seq}, and no entry says that it was pruned there.`;
      found.push({ kind: 'anchor_unproven', seq: anchor?.seq ?? 0, says });
    }
    if (!expectedSeen) {
      const pruned = expected && anchor && expected.seq < anchor.seq;
      const why = pruned
        ? `lies before entry ${anchor.seq + 1}, where the pruned chain begins: note a newer head`
        : 'is not part of the chain: entries were removed or replaced';
      found.push({ kind: 'head_missing', says: `The exported head (entry ${expected?.seq}) ${why}.` });
    }
    return found;
  }

  return { walk, hear, missing, digests, problems, state: () => ({ entries, head, anchor }) };
}

function faultOf(entry: AuditEntry, { seq, hash }: AuditHead): AuditVerdict['problems'][number] | undefined {
  if (entry.seq !== seq + 1)
    return { kind: 'missing', seq: seq + 1, says: `Entry ${seq + 1} is missing; the next one is ${entry.seq}.` };
  if (entry.prev === hash && entryHash(entry, entry.seq, entry.prev) === entry.hash) return undefined;
  const says = `Entry ${entry.seq} does not match its hash or the entry before it.`;
  return { kind: 'altered', seq: entry.seq, says };
}

function compare(
  store: Store,
  { taskId, requestId, digest }: Pick<Known, 'taskId' | 'requestId' | 'digest'>,
): 'same' | 'altered' | 'missing' | 'running' {
  const receipt = store.table<RunReceipt>(receiptTables.receipts).get([taskId, requestId]);
  if (!receipt) return 'missing';
  // A run that is still going is changed by every checkpoint; the chain hears of it when it ends.
  if (receipt.status === 'running') return 'running';
  const rows = store.table<Mutation>(receiptTables.mutations).range({ prefix: [taskId, requestId] });
  const mutations = [...rows].map((row) => row.value);
  return receiptDigest(receipt, mutations) === digest ? 'same' : 'altered';
}

function receiptProblem(found: 'altered' | 'missing', { requestId, seq }: Known): AuditVerdict['problems'][number] {
  const entry = seq === undefined ? 'the newest note' : `entry ${seq}`;
  const at = seq === undefined ? {} : { seq };
  return found === 'missing'
    ? { kind: 'receipt_missing', ...at, says: `The receipt of run ${requestId} is gone; ${entry} knows it.` }
    : { kind: 'receipt_altered', ...at, says: `The receipt of run ${requestId} is not what ${entry} says it was.` };
}
