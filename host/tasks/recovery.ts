/**
 * What a previous process left behind, each brought to its documented state. Nothing is sent here.
 *
 * A run that was at work is interrupted: its receipt says so, and whatever it dispatched without a known end is in doubt.
 * Queued work stays queued. Waiting work stays waiting. Commands that were lined up behind a dead run are not sent.
 */
import type { RunReceipt } from '../../core/receipts/receipt.ts';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { unstarted, withDropped, withoutQueue } from './command-queue.ts';
import type { Room } from './deps.ts';
import { isOpen } from './known-stops.ts';
import { failureOf } from './settlement.ts';
import { step, type TaskChange } from './task-book.ts';
import { isActive } from './transitions.ts';

export async function recover(room: Room): Promise<void> {
  const left = room.book.unfinished().filter((task) => isActive(task.state) || task.state === 'recovering');
  for (const task of left) {
    await room.book.change(task.taskId, (current) =>
      isActive(current.state) ? interrupted(room, current) : undefined,
    );
  }
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
  const { activeAttemptId: _, ...kept } = next;
  const dropped = withoutQueue(room, current, unstarted(room, current));
  const text = cancelled
    ? 'Cancelled: nothing more is sent.'
    : withDropped(`Unknown: ${failure.message}`, dropped.text);
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
