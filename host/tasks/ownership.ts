/**
 * Whose task it is. A task of another agent, principal or conversation answers exactly as one that does not exist, for
 * every call and every right.
 */
import type { Access } from '../../core/authorization/authorization.ts';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import type { Room } from './deps.ts';

export function owned(room: Room, caller: Caller, taskId: string): TaskRecord {
  const task = room.book.get(taskId);
  return task && room.authorization.may(caller, 'read', task) ? task : refuse('TASK_NOT_FOUND', {});
}

/** The same for a change, which also needs the right to make one. */
export function ownedForChange(room: Room, caller: Caller, taskId: string, access: Access = 'write'): TaskRecord {
  const task = owned(room, caller, taskId);
  return room.authorization.may(caller, access, task) ? task : refuse('EXECUTION_DENIED', {});
}

export function atRevision(task: TaskRecord, expected: number): void {
  if (task.revision !== expected) refuse('REVISION_CONFLICT', { revision: task.revision });
}
