/**
 * Receipts and checkpoints. The functions that return changes are for the task's own transaction; only a checkpoint
 * commits by itself, because nothing may leave before it is on disk.
 */
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { Change, Condition, Store } from '../store/store.ts';
import { type AuditNote, receiptDigest } from './audit-entry.ts';
import type { AuditLog } from './audit-log.ts';
import { isOperationId, type Mutation, type MutationOutcome, type RunReceipt } from './receipt.ts';

export const receiptTables = {
  receipts: { name: 'receipts', version: 1 },
  mutations: { name: 'mutations', version: 1 },
  operations: { name: 'operations', version: 1 },
} as const;

/**
 * Ids of operations whose row is not written yet. A checkpoint writes one row and no more; the rows by which an id is found
 * again are written with the end of its run, and until then the ids are known here. A host that starts ends what an older one left
 * running before anything is dispatched, so no id of a dead process is missing either.
 */
const MAX_LIVE_IDS = 10_000;

/** Mutations that one run may record; the budgets of every controller lie far below. */
export const MAX_MUTATIONS_PER_RUN = 2000;

/** The open book of one run. */
export interface RunLedger {
  /**
   * Resolves when the mutation is on disk and may leave.
   * @throws BROWSER_CHECKPOINT_UNAVAILABLE for a used or malformed operation id, an ended run, or a disk that refused.
   */
  checkpoint(mutation: { operationId: string; operation: string }): Promise<void>;
  /** Notes what the device said; a run waits for these notes when it ends. */
  settle(operationId: string, outcome: MutationOutcome): void;
  /** The mutations as they stand, once all notes are on disk. No checkpoint is taken any more. */
  close(): Promise<Mutation[]>;
}

export interface Receipts {
  get(taskId: string, requestId: string): RunReceipt | undefined;
  /** Oldest first. */
  list(taskId: string): RunReceipt[];
  mutations(taskId: string, requestId: string): Mutation[];
  lastMutation(taskId: string, requestId: string): Mutation | undefined;
  /** To commit before the run is dispatched. */
  begin(receipt: RunReceipt): { changes: Change[]; conditions: Condition[] };
  ledger(receipt: RunReceipt): RunLedger;
  /** To commit with the task's own change; replaces the receipt and puts its digest into the audit chain. */
  replace(receipt: RunReceipt, mutations: readonly Mutation[], kind: string): Change[];
  settleMutation(mutation: Mutation, outcome: MutationOutcome, at: number): { mutation: Mutation; change: Change };
  remove(taskId: string): Change[];
}

export interface ReceiptsDeps {
  store: Store;
  audit: AuditLog;
  clock: { now(): number };
}

export function createReceipts({ store, audit, clock }: ReceiptsDeps): Receipts {
  const receipts = store.table<RunReceipt>(receiptTables.receipts);
  const mutationTable = store.table<Mutation>(receiptTables.mutations);
  const operations = store.table<{ taskId: string; requestId: string; sequence: number }>(receiptTables.operations);
  const live = new Set<string>();
  let sweepAt = MAX_LIVE_IDS;
  const keyOf = ({ taskId, requestId }: { taskId: string; requestId: string }) => [taskId, requestId];

  const mutations = (taskId: string, requestId: string): Mutation[] =>
    [...mutationTable.range({ prefix: [taskId, requestId] })].map((row) => row.value);

  /** Takes an id for good. @returns false when it was ever used. */
  function take(id: string): boolean {
    if (live.has(id) || operations.row([id])) return false;
    if (live.size >= sweepAt) {
      for (const one of live) if (operations.row([one])) live.delete(one);
      sweepAt = Math.max(MAX_LIVE_IDS, live.size * 2);
    }
    live.add(id);
    return true;
  }

  /** The rows by which the ids of a run that ends are found again. */
  function indexed({ taskId, requestId, status }: RunReceipt): Change[] {
    if (status !== 'ended' || receipts.get([taskId, requestId])?.status !== 'running') return [];
    return mutations(taskId, requestId).map(({ operationId, sequence }) =>
      operations.put([operationId], { taskId, requestId, sequence }),
    );
  }

  const digestNote = (kind: string, receipt: RunReceipt, of: readonly Mutation[]): AuditNote => ({
    at: clock.now(),
    kind,
    principalId: receipt.principalId,
    agentId: receipt.agentId,
    conversationId: receipt.conversationId,
    taskId: receipt.taskId,
    requestId: receipt.requestId,
    data: {
      status: receipt.status,
      mutations: of.length,
      ...(receipt.outcome ? { outcome: receipt.outcome } : {}),
      ...(receipt.code ? { code: receipt.code } : {}),
    },
    receipt: receiptDigest(receipt, of),
  });

  function ledger(receipt: RunReceipt): RunLedger {
    const version = receipts.row(keyOf(receipt))?.version ?? 0;
    const pending = new Set<Promise<unknown>>();
    const known = new Map<string, Mutation>();
    let sequence = mutations(receipt.taskId, receipt.requestId).length;
    let closed = false;

    async function record(operationId: string, operation: string): Promise<void> {
      if (closed || sequence >= MAX_MUTATIONS_PER_RUN) refuse('BROWSER_CHECKPOINT_UNAVAILABLE', {});
      if (!isOperationId(operationId)) refuse('BROWSER_CHECKPOINT_UNAVAILABLE', { problem: 'the operation id' });
      const id = operationId.toLowerCase();
      // Not given back when the write fails: it is not known then what the disk has.
      if (!take(id)) refuse('BROWSER_CHECKPOINT_UNAVAILABLE', { problem: 'the operation id was used before' });
      const { taskId, requestId } = receipt;
      const recordedAt = clock.now();
      const mutation: Mutation = { taskId, requestId, sequence: sequence++, operationId: id, operation, recordedAt };
      const committed = await store.commit(
        [mutationTable.put([...keyOf(receipt), mutation.sequence], mutation)],
        [receipts.unchanged(keyOf(receipt), version)],
      );
      if (!committed) refuse('BROWSER_CHECKPOINT_UNAVAILABLE', { problem: 'the run is over' });
      known.set(id, mutation);
    }

    const tracked = <T>(work: Promise<T>): Promise<T> => {
      const settled = work.then(
        () => {},
        () => {},
      );
      pending.add(settled);
      settled.then(() => pending.delete(settled));
      return work;
    };

    return {
      checkpoint: ({ operationId, operation }) =>
        tracked(
          record(operationId, operation).catch((error: unknown) => {
            if (isHostError(error, 'BROWSER_CHECKPOINT_UNAVAILABLE')) throw error;
            throw new HostError('BROWSER_CHECKPOINT_UNAVAILABLE', {}, { cause: error });
          }),
        ),
      settle(operationId, outcome) {
        const mutation = known.get(operationId.toLowerCase());
        if (!mutation || closed) return;
        const settled = { ...mutation, outcome, settledAt: clock.now() };
        known.set(mutation.operationId, settled);
        // A note that is lost leaves the mutation open, which is the careful reading.
        const change = mutationTable.put([...keyOf(receipt), mutation.sequence], settled);
        // After the reply was handed on: the controller waits for that, and for this nobody.
        tracked(afterThis().then(() => store.commit([change]))).catch(() => {});
      },
      async close() {
        closed = true;
        while (pending.size > 0) await Promise.all(pending);
        return mutations(receipt.taskId, receipt.requestId);
      },
    };
  }

  return {
    get: (taskId, requestId) => receipts.get([taskId, requestId]),
    list: (taskId) =>
      [...receipts.range({ prefix: [taskId] })]
        .map((row) => row.value)
        .sort((a, b) => a.startedAt - b.startedAt || a.revision - b.revision),
    mutations,
    lastMutation: (taskId, requestId) =>
      mutationTable.range({ prefix: [taskId, requestId], reverse: true, limit: 1 }).next().value?.value,
    begin: (receipt) => ({
      changes: [receipts.put(keyOf(receipt), receipt), audit.note(digestNote('run.started', receipt, []))],
      conditions: [receipts.unchanged(keyOf(receipt), 0)],
    }),
    ledger,
    replace: (receipt, of, kind) => [
      receipts.put(keyOf(receipt), receipt),
      audit.note(digestNote(kind, receipt, of)),
      ...indexed(receipt),
    ],
    settleMutation(mutation, outcome, at) {
      const settled = { ...mutation, outcome, settledAt: at };
      const key = [mutation.taskId, mutation.requestId, mutation.sequence];
      return { mutation: settled, change: mutationTable.put(key, settled) };
    },
    // The operation ids stay: an id that was ever used is never accepted again.
    remove: (taskId) => [
      ...[...receipts.range({ prefix: [taskId] })].map((row) => receipts.remove(row.key)),
      ...[...mutationTable.range({ prefix: [taskId] })].map((row) => mutationTable.remove(row.key)),
    ],
  };
}

const afterThis = () => new Promise<void>((resolve) => setImmediate(resolve));
