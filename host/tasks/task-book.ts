/**
 * The book of tasks: every change of a task is computed purely, then written at once with its event, its notice, its
 * indexes and its audit note, in one transaction under the condition that nobody changed the task in between.
 */
import type { AuditLog } from '../../core/receipts/audit-log.ts';
import { type TaskRecord, type TaskRevision, taskTables } from '../../core/receipts/task-record.ts';
import type { Change, Condition, Store } from '../../core/store/store.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Notice, TaskSnapshot } from '../../sdk/contract/task.ts';
import type { EventLog, NewEvent } from './event-log.ts';
import { isUncertain } from './known-stops.ts';
import { snapshotOf } from './snapshot.ts';
import { isFinished, isPending, type TaskEventName, transition } from './transitions.ts';
import type { Turns } from './turns.ts';

export interface TaskChange {
  record: TaskRecord;
  revision?: TaskRevision;
  events?: NewEvent[];
  notices?: Omit<Notice, 'noticeId' | 'createdAt'>[];
  /** Further rows of the same transaction. */
  changes?: Change[];
  conditions?: Condition[];
  /** What happened, for the audit log. */
  audit: string;
  /** Codes and names for the audit log. */
  auditData?: Record<string, string | number | boolean>;
}

export interface StoredNotice extends Notice {
  conversationId: string;
}

export interface TaskBook {
  get(taskId: string): TaskRecord | undefined;
  revision(taskId: string, revision: number): TaskRevision | undefined;
  snapshot(task: TaskRecord): TaskSnapshot;
  /** Newest first. */
  list(conversationId: string, limit: number): TaskRecord[];
  /** Tasks that wait for a run or have one. Reads the store; for a start. */
  unfinished(): TaskRecord[];
  /** Ids of the tasks that wait for a run, in the order in which they came; complete once `unfinished` was read. */
  queued(): Iterable<string>;
  /** Ids of the tasks that are in doubt, in the order in which that came; complete once `unfinished` was read. */
  uncertain(): Iterable<string>;
  /** Holds while nobody changes the task. */
  unchanged(taskId: string): Condition;
  lastOfTarget(targetId: string): { taskId: string; version: number } | undefined;
  /**
   * Changes a task. The function may be called again when something else changed in between; undefined changes nothing.
   */
  change(taskId: string, compute: (task: TaskRecord) => TaskChange | undefined): Promise<TaskRecord>;
  /** Writes a new task. @returns undefined when one of the conditions did not hold. */
  create(change: TaskChange): Promise<TaskRecord | undefined>;
  /** Events that change no task. */
  tell(where: { conversationId: string; agentId: string }, events: NewEvent[]): Promise<void>;
  /** A notice that no change of a task brings, with further rows of the same transaction. */
  notify(
    where: { conversationId: string; agentId: string },
    notice: Omit<Notice, 'noticeId' | 'createdAt'>,
    also?: { changes?: Change[]; conditions?: Condition[]; events?: NewEvent[] },
  ): Promise<void>;
  notices(conversationId: string): StoredNotice[];
  acknowledge(conversationId: string, noticeIds: readonly string[]): Promise<void>;
}

export interface TaskBookDeps {
  store: Store;
  events: EventLog;
  audit: AuditLog;
  turns: Turns;
  clock: { now(): number };
  ids: { uuid(): string };
}

/** Notices that one conversation keeps; the oldest make room. */
export const MAX_NOTICES = 200;
const MAX_TRIES = 20;

/** Applies one event of the table, or refuses. */
export function step(task: TaskRecord, event: TaskEventName): TaskRecord {
  const next = transition(task.state, event);
  if ('code' in next) refuse(next.code, { state: task.state, event });
  return { ...task, state: next.state };
}

export function createTaskBook({ store, events, audit, turns, clock, ids }: TaskBookDeps): TaskBook {
  const tasks = store.table<TaskRecord>(taskTables.tasks);
  const revisions = store.table<TaskRevision>(taskTables.revisions);
  const byConversation = store.table<null>(taskTables.byConversation);
  const byTime = store.table<null>(taskTables.byTime);
  const unfinished = store.table<null>(taskTables.unfinished);
  const finished = store.table<null>(taskTables.finished);
  const byTarget = store.table<string>(taskTables.byTarget);
  const uncertain = store.table<null>(taskTables.uncertain);
  const queued = new Set<string>();
  const doubted = new Set<string>();
  const noticeTable = store.table<StoredNotice>(taskTables.notices);

  const revision = (taskId: string, number: number) => revisions.get([taskId, number]);
  const snapshot = (task: TaskRecord) => snapshotOf(task, revision(task.taskId, task.revision), clock.now());

  function indexes(before: TaskRecord | undefined, after: TaskRecord): Change[] {
    const was = before && isFinished(before.state);
    const is = isFinished(after.state);
    const changes: Change[] = [];
    if (!before) {
      changes.push(
        byConversation.put([after.conversationId, after.createdAt, after.taskId], null),
        byTarget.put([after.target.targetId], after.taskId),
        byTime.put([after.createdAt, after.taskId], null),
      );
    }
    if (before && was) changes.push(finished.remove([before.updatedAt, before.taskId]));
    if (is) changes.push(finished.put([after.updatedAt, after.taskId], null));
    const pendingBefore = before !== undefined && isPending(before.state);
    const doubtBefore = before !== undefined && isUncertain(before);
    if (doubtBefore && !isUncertain(after)) changes.push(uncertain.remove([after.taskId]));
    if (!doubtBefore && isUncertain(after)) changes.push(uncertain.put([after.taskId], null));
    if (pendingBefore && !isPending(after.state)) changes.push(unfinished.remove([after.taskId]));
    if (!pendingBefore && isPending(after.state)) changes.push(unfinished.put([after.taskId], null));
    return changes;
  }

  function noticeChanges(
    where: { conversationId: string; taskId?: string },
    added: NonNullable<TaskChange['notices']>,
  ): [Change[], NewEvent[]] {
    const made = added.map(
      (notice): StoredNotice => ({
        ...notice,
        noticeId: ids.uuid(),
        createdAt: clock.now(),
        conversationId: where.conversationId,
      }),
    );
    const puts = made.map((one) => noticeTable.put([where.conversationId, one.createdAt, one.noticeId], one));
    const rows = made.length === 0 ? [] : [...noticeTable.range({ prefix: [where.conversationId] })];
    const excess = rows.slice(0, Math.max(0, rows.length + made.length - MAX_NOTICES));
    return [
      [...puts, ...excess.map((row) => noticeTable.remove(row.key))],
      made.map((one) => ({
        type: 'task.notice',
        data: { notice: publicNotice(one) },
        ...(where.taskId === undefined ? {} : { taskId: where.taskId }),
      })),
    ];
  }

  async function write(
    before: TaskRecord | undefined,
    version: number,
    change: TaskChange,
  ): Promise<TaskRecord | undefined> {
    const now = clock.now();
    const record = { ...change.record, stateVersion: (before?.stateVersion ?? 0) + 1, updatedAt: now };
    const key = [record.taskId];
    const shown = snapshotOf(record, change.revision ?? revision(record.taskId, record.revision), now);
    const [noticeWrites, noticeEvents] = noticeChanges(record, change.notices ?? []);
    const news = [
      { type: 'task.state', taskId: record.taskId, data: { task: shown } },
      ...(change.events ?? []),
      ...noticeEvents,
    ];
    const appended = events.append(record, news, now);
    const committed = await store.commit(
      [
        tasks.put(key, record),
        ...(change.revision ? [revisions.put([record.taskId, change.revision.revision], change.revision)] : []),
        ...indexes(before, record),
        ...noticeWrites,
        ...appended.changes,
        ...(change.changes ?? []),
        audit.note({
          ...{ at: now, kind: change.audit, principalId: record.principalId, agentId: record.agentId },
          ...{ conversationId: record.conversationId, taskId: record.taskId },
          data: { from: before?.state ?? 'none', to: record.state, revision: record.revision, ...change.auditData },
        }),
      ],
      [tasks.unchanged(key, version), ...appended.conditions, ...(change.conditions ?? [])],
    );
    if (!committed) return undefined;
    if (record.state === 'queued') queued.add(record.taskId);
    else queued.delete(record.taskId);
    if (isUncertain(record)) doubted.add(record.taskId);
    else doubted.delete(record.taskId);
    audit.kick();
    events.announce(record.conversationId, appended.lastId);
    return record;
  }

  return {
    get: (taskId) => tasks.get([taskId]),
    revision,
    snapshot,
    list: (conversationId, limit) =>
      [...byConversation.range({ prefix: [conversationId], reverse: true, limit })].flatMap(
        (row) => tasks.get([String(row.key[2])]) ?? [],
      ),
    unchanged: (taskId) => tasks.unchanged([taskId], tasks.row([taskId])?.version ?? 0),
    queued: () => queued.keys(),
    uncertain: () => doubted.keys(),
    unfinished() {
      const found = [...unfinished.range()].flatMap((row) => tasks.get(row.key) ?? []);
      found.sort((a, b) => a.createdAt - b.createdAt);
      for (const task of found) if (task.state === 'queued') queued.add(task.taskId);
      for (const { key } of uncertain.range()) doubted.add(String(key[0]));
      return found;
    },
    lastOfTarget(targetId) {
      const row = byTarget.row([targetId]);
      return row && { taskId: row.value, version: row.version };
    },

    change(taskId, compute) {
      const { conversationId } = tasks.get([taskId]) ?? refuse('TASK_NOT_FOUND', {});
      return turns.take(conversationId, async () => {
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const row = tasks.row([taskId]) ?? refuse('TASK_NOT_FOUND', {});
          const change = compute(row.value);
          if (!change) return row.value;
          const written = await write(row.value, row.version, change);
          if (written) return written;
        }
        return refuse('STATE_CONFLICT', {});
      });
    },

    create: (change) => turns.take(change.record.conversationId, () => write(undefined, 0, change)),

    tell: (where, added) =>
      turns.take(where.conversationId, async () => {
        const appended = events.append(where, added, clock.now());
        if (await store.commit(appended.changes, appended.conditions)) {
          events.announce(where.conversationId, appended.lastId);
        }
      }),

    notify: (where, notice, { changes = [], conditions = [], events: told = [] } = {}) =>
      turns.take(where.conversationId, async () => {
        const [rows, news] = noticeChanges({ ...where, ...(notice.taskId && { taskId: notice.taskId }) }, [notice]);
        const appended = events.append(where, [...told, ...news], clock.now());
        const written = await store.commit(
          [...rows, ...changes, ...appended.changes],
          [...conditions, ...appended.conditions],
        );
        if (!written) refuse('STATE_CONFLICT', {});
        events.announce(where.conversationId, appended.lastId);
      }),

    notices: (conversationId) => [...noticeTable.range({ prefix: [conversationId] })].map((row) => row.value),
    async acknowledge(conversationId, noticeIds) {
      const wanted = new Set(noticeIds);
      const rows = [...noticeTable.range({ prefix: [conversationId] })].filter((row) => wanted.has(row.value.noticeId));
      if (rows.length > 0) await store.commit(rows.map((row) => noticeTable.remove(row.key)));
    },
  };
}

export function publicNotice({ conversationId: _, ...notice }: StoredNotice): Notice {
  return notice;
}
