/**
 * What a previous process left behind, each brought to its documented state. Nothing is sent here.
 *
 * A run that was at work is interrupted: its receipt says so, and whatever it dispatched without a known end is in doubt.
 * Queued work stays queued, unless the store was restored from a backup. Waiting work stays waiting. Commands that were lined up behind a dead run are not sent.
 */
import type { RunReceipt } from '../../core/receipts/receipt.ts';
import { RESTORE_KEY, type RestoreMark, restoreTable } from '../../core/receipts/restore-mark.ts';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { unstarted, withDropped, withoutQueue } from './command-queue.ts';
import type { Room } from './deps.ts';
import { isOpen } from './known-stops.ts';
import { failureOf } from './settlement.ts';
import { step, type TaskChange } from './task-book.ts';
import { isActive } from './transitions.ts';

export async function recover(room: Room): Promise<void> {
  const unfinished = room.book.unfinished();
  await handBackRestored(room, unfinished);
  const left = unfinished.filter((task) => isActive(task.state) || task.state === 'recovering');
  for (const task of left) {
    await room.book.change(task.taskId, (current) =>
      isActive(current.state) ? interrupted(room, current) : undefined,
    );
  }
}

/**
 * A restored store is older than the world: a task that waited when the copy was made may have run since. So it waits for
 * its owner's word instead of its turn. The mark goes last: a start that is cut short here does the rest the next time.
 */
async function handBackRestored(room: Room, unfinished: readonly TaskRecord[]): Promise<void> {
  const marks = room.store.table<RestoreMark>(restoreTable);
  const mark = marks.get(RESTORE_KEY);
  if (!mark) return;
  const text = `Paused: the host was restored from a backup of ${new Date(mark.takenAt).toISOString()}. What this task did since is not on record: look at the page before going on.`;
  for (const { taskId } of unfinished) {
    await room.book.change(taskId, (current) => {
      if (current.state !== 'queued') return undefined;
      const now = room.clock.now();
      const dropped = withoutQueue(room, current, []);
      return {
        record: {
          ...step(current, 'pauseQueued'),
          queue: [],
          paused: true,
          outcome: 'interrupted',
          progress: { text: withDropped(text, dropped.text), observedAt: now, source: 'runtime' },
          session: { ...current.session, idleSince: now },
        },
        changes: dropped.changes,
        events: dropped.events,
        notices: [{ kind: 'needs_move', taskId, revision: current.revision, text }],
        audit: 'task.restored',
        auditData: { takenAt: mark.takenAt },
      };
    });
  }
  await room.store.commit([marks.remove(RESTORE_KEY)]);
}

function interrupted(room: Room, current: TaskRecord): TaskChange {
  const { receipts, clock } = room;
  const now = clock.now();
  const requestId = current.dispatch?.requestId ?? '';
  const receipt = receipts.get(current.taskId, requestId);
  const mutations = receipts.mutations(current.taskId, requestId);
  const doubt = mutations.some(isOpen);
  const cancelled = current.state === 'cancel_requested' && !doubt;
  const code = cancelled ? 'TASK_CANCELLED' : 'BROWSER_EXECUTION_INTERRUPTED';
  const failure = failureOf(code, undefined, now);
  const next = cancelled ? { ...current, state: 'cancelled' as const } : step(current, 'interruptedByRestart');
  // A question of the lost run goes with it: nobody waits for the answer.
  const { activeAttemptId: _, question: __, notSent, ...kept } = next;
  const dropped = withoutQueue(room, current, unstarted(room, current));
  const text = cancelled
    ? withDropped('Cancelled: nothing more is sent.', notSent)
    : withDropped(`Unknown: ${failure.message}`, dropped.text ?? notSent);
  const record: TaskRecord = {
    ...kept,
    queue: [],
    acted: current.acted || mutations.length > 0,
    outcome: cancelled ? 'cancelled' : doubt ? 'unknown' : 'interrupted',
    progress: { text, observedAt: now, source: 'runtime' },
    session: { ...current.session, idleSince: now, ...(cancelled ? closedBy(current, now) : {}) },
    ...(cancelled ? {} : { failure }),
    ...(current.control?.phase === 'pending' ? { control: { ...current.control, phase: 'blocked' } } : {}),
  };
  const ended: RunReceipt | undefined = receipt && {
    ...receipt,
    ...{ status: 'ended', endedAt: now, outcome: cancelled ? 'stopped' : 'unknown', code },
  };
  const { taskId, revision } = record;
  return {
    record,
    audit: 'task.interrupted',
    auditData: { code, open: mutations.filter(isOpen).length },
    changes: [
      ...(ended && receipt?.status === 'running' ? receipts.replace(ended, mutations, 'run.interrupted') : []),
      ...dropped.changes,
    ],
    notices: [{ kind: 'settled', taskId, revision, text, code }],
    events: dropped.events,
  };
}

const closedBy = (task: TaskRecord, now: number) => ({
  closedAt: now,
  closedReason: task.cancellation?.requestedBy ?? ('agent' as const),
});
