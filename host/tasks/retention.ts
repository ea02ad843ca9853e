/**
 * What goes when its time is over: finished tasks with everything of theirs, page observations, old events, old entries of
 * the audit log.
 *
 * Never goes: an open task, a receipt with an action in doubt, and the ids of operations, since an id that was ever used
 * must never be accepted again. What goes leaves a note in the audit log in the same write.
 */
import { MAX_PRUNED, pruneAudit } from '../../core/receipts/audit-pruning.ts';
import { RECEIPTS_PRUNED } from '../../core/receipts/audit-verification.ts';
import { type TaskRecord, taskTables } from '../../core/receipts/task-record.ts';
import type { Change } from '../../core/store/store.ts';
import type { RetentionConfig } from './config.ts';
import type { Room } from './deps.ts';
import { isOpen } from './known-stops.ts';
import { isFinished } from './transitions.ts';

const DAY_MS = 86_400_000;
/** Milliseconds between two passes. */
export const RETENTION_PAUSE_MS = 3_600_000;
/** Tasks that one pass removes at most; the next pass goes on. */
const MAX_PER_PASS = 2000;
/** Parts of the audit log that one pass removes at most. */
const AUDIT_PASSES = 10;
/** Tasks that one write removes. */
const BATCH = 50;

export interface RetentionReport {
  tasks: number;
  evidence: number;
  events: number;
  audit: number;
}

export async function prune(room: Room, config: RetentionConfig): Promise<RetentionReport> {
  const now = room.clock.now();
  const old = finishedBefore(room, now - config.tasksDays * DAY_MS).filter((task) => !inDoubt(room, task));
  for (let at = 0; at < old.length; at += BATCH) {
    const batch = old.slice(at, at + BATCH);
    await room.store.commit(
      batch.flatMap((task) => removal(room, task, now)),
      batch.map((task) => room.book.unchanged(task.taskId)),
    );
  }
  room.audit.kick();
  const emptied = new Set(old.map((task) => task.conversationId));
  return {
    tasks: old.length,
    evidence: await pruneEvidence(room, now - config.evidenceDays * DAY_MS),
    events: (await pruneEvents(room, config.eventsPerConversation)) + (await emptyConversations(room, emptied)),
    audit: await pruneChain(room, now - config.auditDays * DAY_MS, now),
  };
}

async function pruneChain(room: Room, before: number, now: number): Promise<number> {
  let gone = 0;
  for (let pass = 0; pass < AUDIT_PASSES; pass++) {
    const count = await pruneAudit(room.store, room.audit, before, now);
    gone += count;
    if (count < MAX_PRUNED) break;
  }
  return gone;
}

/** The last event of a conversation without tasks stays: the numbers of later ones go on from it. */
async function emptyConversations(room: Room, conversations: ReadonlySet<string>): Promise<number> {
  let count = 0;
  for (const conversationId of conversations) {
    if (room.book.list(conversationId, 1).length > 0) continue;
    const gone = room.events.prune(conversationId, 1);
    if (gone.length > 0) await room.store.commit(gone);
    count += gone.length;
  }
  return count;
}

function finishedBefore(room: Room, time: number): TaskRecord[] {
  const finished = room.store.table<null>(taskTables.finished);
  const found: TaskRecord[] = [];
  for (const { key } of finished.range({ limit: MAX_PER_PASS })) {
    if (Number(key[0]) >= time) break;
    const task = room.book.get(String(key[1]));
    if (task && isFinished(task.state)) found.push(task);
  }
  return found;
}

const inDoubt = (room: Room, { taskId }: TaskRecord): boolean =>
  room.receipts
    .list(taskId)
    .some(({ status, requestId }) => status === 'running' || room.receipts.mutations(taskId, requestId).some(isOpen));

function removal(room: Room, task: TaskRecord, now: number): Change[] {
  const { taskId, conversationId, principalId, agentId } = task;
  const { store } = room;
  const under = (name: keyof typeof taskTables): Change[] => {
    const table = store.table<unknown>(taskTables[name]);
    return [...table.range({ prefix: [taskId] })].map((row) => table.remove(row.key));
  };
  const byTarget = store.table<string>(taskTables.byTarget);
  const notices = store.table<{ taskId?: string }>(taskTables.notices);
  return [
    store.table(taskTables.tasks).remove([taskId]),
    store.table(taskTables.byConversation).remove([conversationId, task.createdAt, taskId]),
    store.table(taskTables.byTime).remove([task.createdAt, taskId]),
    store.table(taskTables.finished).remove([task.updatedAt, taskId]),
    ...(byTarget.get([task.target.targetId]) === taskId ? [byTarget.remove([task.target.targetId])] : []),
    ...(task.requestId === undefined
      ? []
      : [store.table(taskTables.spawnRequests).remove([principalId, agentId, conversationId, task.requestId])]),
    ...[...notices.range({ prefix: [conversationId] })]
      .filter((row) => row.value.taskId === taskId)
      .map((row) => notices.remove(row.key)),
    ...under('revisions'),
    ...under('controls'),
    ...under('evidence'),
    ...room.receipts.remove(taskId),
    room.audit.note({ at: now, kind: RECEIPTS_PRUNED, principalId, agentId, conversationId, taskId }),
  ];
}

async function pruneEvidence(room: Room, time: number): Promise<number> {
  const evidence = room.store.table<{ at: number }>(taskTables.evidence);
  const gone: Change[] = [];
  for (const { key } of room.store.table<null>(taskTables.finished).range({ limit: MAX_PER_PASS })) {
    if (Number(key[0]) >= time) break;
    for (const row of evidence.range({ prefix: [String(key[1])] })) gone.push(evidence.remove(row.key));
  }
  if (gone.length > 0) await room.store.commit(gone);
  return gone.length;
}

async function pruneEvents(room: Room, keep: number): Promise<number> {
  let count = 0;
  for (const conversationId of room.events.conversations()) {
    const gone = room.events.prune(conversationId, keep);
    if (gone.length > 0) await room.store.commit(gone);
    count += gone.length;
  }
  return count;
}

/** A pass now and one every hour. A pass that fails is told to the log; the next one tries again. */
export function keepPruning(room: Room, config: () => RetentionConfig): { stop(): void } {
  const pass = () => {
    prune(room, config()).catch((error: unknown) => room.log?.('retention_failed', { error: String(error) }));
  };
  const timer = setInterval(pass, RETENTION_PAUSE_MS);
  timer.unref();
  const first = setTimeout(pass, 1000);
  first.unref();
  return {
    stop() {
      clearInterval(timer);
      clearTimeout(first);
    },
  };
}
