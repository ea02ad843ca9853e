/** The automation session of a task: whether its target is still held for it (wire-contracts 4.8). Reads renew nothing. */
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import type { TaskSnapshot } from '../../sdk/contract/task.ts';

type Session = TaskSnapshot['automationSession'];

export function sessionOf(task: TaskRecord, now: number): Session {
  const { idleTimeoutMs, idleSince, closedAt, closedReason } = task.session;
  const base = { idleTimeoutMs, ...(idleSince === undefined ? {} : { idleSince }) };
  if (closedAt !== undefined) return { ...base, status: 'closed', closedAt, ...(closedReason ? { closedReason } : {}) };
  if (task.state === 'cancelled' || task.state === 'cancel_requested') {
    const at = task.cancellation?.requestedAt ?? task.updatedAt;
    return { ...base, status: 'closed', closedAt: at, closedReason: task.cancellation?.requestedBy ?? 'agent' };
  }
  if (idleSince !== undefined && expires(task) && now > idleSince + idleTimeoutMs) {
    return { ...base, status: 'closed', closedAt: idleSince + idleTimeoutMs, closedReason: 'idle_timeout' };
  }
  return { ...base, status: statusOf(task) };
}

export const isClosed = (task: TaskRecord, now: number): boolean => sessionOf(task, now).status === 'closed';

function statusOf(task: TaskRecord): Session['status'] {
  switch (task.state) {
    case 'needs_reconciliation':
      return 'blocked';
    case 'completed':
    case 'failed':
    case 'waiting_input':
      return 'idle';
    default:
      return 'active';
  }
}

/** A session that waits for its user's next command stays open; one whose round failed or ended does not. */
function expires(task: TaskRecord): boolean {
  return task.controller !== 'user' || task.state !== 'waiting_input';
}
