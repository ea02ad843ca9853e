/** Commands that wait behind the user's running one: first in, first out, verbatim, never merged and never replayed. */
import type { QueuedCommand, TaskRecord } from '../../core/receipts/task-record.ts';
import type { Change } from '../../core/store/store.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Room } from './deps.ts';
import type { NewEvent } from './event-log.ts';
import { changedInput } from './input-receipt.ts';

/** Commands that may wait. */
export const MAX_QUEUED = 20;

/** @throws COMMAND_QUEUE_FULL. */
export function enqueued(task: TaskRecord, command: QueuedCommand): TaskRecord {
  if (task.queue.length >= MAX_QUEUED) refuse('COMMAND_QUEUE_FULL', { limit: MAX_QUEUED });
  return { ...task, queue: [...task.queue, command] };
}

/** The user's words that are the newest revision and have not reached a run yet. */
export function unstarted(room: Pick<Room, 'book'>, task: TaskRecord): QueuedCommand[] {
  if (task.revision <= task.appliedRevision) return [];
  const newest = room.book.revision(task.taskId, task.revision);
  if (newest?.mode !== 'command' || newest.origin === undefined) return [];
  return [{ id: newest.origin, text: newest.correction?.texts[0] ?? newest.instructions, at: newest.at }];
}

export interface Dropped {
  /** The task without its queue. */
  record: TaskRecord;
  /** The sentence that lists what was not sent; absent when nothing was waiting. */
  text?: string;
  events: NewEvent[];
  changes: Change[];
}

/**
 * Ends the queue, and says so: in a sentence, in an event, and in the receipt of each command.
 *
 * @param also commands that will not be sent either, before those of the queue.
 */
export function withoutQueue(
  room: Pick<Room, 'store'>,
  task: TaskRecord,
  also: readonly QueuedCommand[] = [],
): Dropped {
  const { taskId } = task;
  const dropped = [...also, ...task.queue];
  if (dropped.length === 0) return { record: task, events: [], changes: [] };
  const listed = dropped.map(({ text }) => `"${text}"`).join(', ');
  const count = dropped.length === 1 ? '1 queued command was' : `${dropped.length} queued commands were`;
  const receipts = dropped.map(({ id }) =>
    changedInput(room, taskId, id, { status: 'needs_agent', code: 'COMMAND_NOT_SENT' }),
  );
  const commands = dropped.map(({ id, text }) => ({ id, text }));
  return {
    record: { ...task, queue: [] },
    text: `${count} not sent: ${listed}.`,
    events: [
      { type: 'task.command_queue_dropped', taskId, data: { count: dropped.length, commands } },
      ...receipts.flatMap(({ events }) => events),
    ],
    changes: receipts.flatMap(({ changes }) => changes),
  };
}

/** The run that is still at work ends with a line of its own, which must not hide what was dropped before it. */
export const forItsEnd = (task: TaskRecord, dropped: string | undefined): TaskRecord =>
  dropped === undefined ? task : { ...task, notSent: dropped };

/** One line that ends with what was not sent. */
export const withDropped = (line: string, dropped: string | undefined): string =>
  dropped === undefined ? line : `${line} ${dropped}`.trim();
