/** `task_cancel`: an end that undoes nothing. What is in doubt stays on record as doubt. */
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller, TaskSnapshot } from '../../sdk/contract/task.ts';
import { forItsEnd, unstarted, withDropped, withoutQueue } from './command-queue.ts';
import type { Room } from './deps.ts';
import type { Dispatcher } from './dispatcher.ts';
import { refuseUnderHandoff } from './handoff.ts';
import { isUncertain } from './known-stops.ts';
import { owned, ownedForChange } from './ownership.ts';
import { step, type TaskChange } from './task-book.ts';
import { isActive } from './transitions.ts';

export interface Cancel {
  taskId: string;
  replacedByTaskId?: string;
  by?: 'user' | 'agent';
}

export async function cancel(
  room: Room,
  dispatcher: Dispatcher,
  caller: Caller,
  request: Cancel,
): Promise<TaskSnapshot> {
  ownedForChange(room, caller, request.taskId);
  if (request.replacedByTaskId !== undefined) owned(room, caller, request.replacedByTaskId);
  if (request.replacedByTaskId === request.taskId) refuse('INVALID_INPUT', { path: 'replaced_by_task_id' });
  const by = request.by ?? 'agent';
  const task = await room.book.change(request.taskId, (current) => {
    if (by === 'agent') refuseUnderHandoff(current);
    const already = current.state === 'cancelled' || current.cancellation !== undefined;
    return already ? undefined : cancelled(room, current, by, request.replacedByTaskId);
  });
  dispatcher.stop(task.taskId, 'cancel');
  dispatcher.wake();
  return room.book.snapshot(task);
}

function cancelled(room: Room, current: TaskRecord, by: 'user' | 'agent', replacedBy: string | undefined): TaskChange {
  const now = room.clock.now();
  const next = step(current, isUncertain(current) ? 'cancelUncertain' : 'cancel');
  const { question: _, ...kept } = next;
  const ended = next.state === 'cancelled';
  const dropped = withoutQueue(room, current, unstarted(room, current));
  const text = withDropped('Cancelled: nothing more is sent.', dropped.text);
  return {
    record: {
      ...(ended ? kept : forItsEnd(kept, dropped.text)),
      queue: [],
      cancellation: { requestedBy: by, requestedAt: now },
      ...(ended ? { outcome: 'cancelled' as const } : {}),
      ...(ended || dropped.text !== undefined
        ? { progress: { text, observedAt: now, source: 'runtime' as const } }
        : {}),
      ...(replacedBy === undefined ? {} : { replacedByTaskId: replacedBy }),
      session: isActive(next.state) ? current.session : { ...current.session, closedAt: now, closedReason: by },
    },
    events: dropped.events,
    changes: dropped.changes,
    audit: 'task.cancelled',
    auditData: { by },
  };
}
