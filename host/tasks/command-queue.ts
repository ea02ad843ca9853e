/** Commands that wait behind the user's running one: first in, first out, verbatim, never merged and never replayed. */
import type { QueuedCommand, TaskRecord } from '../../core/receipts/task-record.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { NewEvent } from './event-log.ts';

/** Commands that may wait. */
export const MAX_QUEUED = 20;

/** @throws COMMAND_QUEUE_FULL. */
export function enqueued(task: TaskRecord, command: QueuedCommand): TaskRecord {
  if (task.queue.length >= MAX_QUEUED) refuse('COMMAND_QUEUE_FULL', { limit: MAX_QUEUED });
  return { ...task, queue: [...task.queue, command] };
}

/** A task whose waiting commands will not be sent, with the words and the event that say so. */
export function withoutQueue(task: TaskRecord): { record: TaskRecord; text?: string; events: NewEvent[] } {
  const { queue, taskId } = task;
  if (queue.length === 0) return { record: task, events: [] };
  const listed = queue.map(({ text }) => `"${text}"`).join(', ');
  const count = queue.length === 1 ? '1 queued command was' : `${queue.length} queued commands were`;
  return {
    record: { ...task, queue: [] },
    text: `${count} not sent: ${listed}.`,
    events: [
      {
        type: 'task.command_queue_dropped',
        taskId,
        data: { count: queue.length, commands: queue.map(({ id, text }) => ({ id, text })) },
      },
    ],
  };
}

/** One line that ends with what was not sent. */
export const withDropped = (line: string, dropped: string | undefined): string =>
  dropped === undefined ? line : `${line} ${dropped}`;
