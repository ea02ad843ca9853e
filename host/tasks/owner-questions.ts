/**
 * Questions that a controller puts to the task's owner while its run goes on. The question is on record and told before
 * anybody can answer; the run waits within its own deadline, and a newer instruction, a pause or a cancellation ends the
 * wait with the run, and so does the end of the process.
 */
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import type { OwnerQuestion } from '../../sdk/contract/capabilities.ts';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import type { Room } from './deps.ts';

export interface OwnerQuestions {
  /**
   * @returns the owner's words, as they were said.
   * @throws RUN_CANCELLED when the run is to end, before or while the owner is asked.
   */
  put(room: Room, task: TaskRecord, question: OwnerQuestion, signal: AbortSignal): Promise<string>;
  /** Whether a run waits for this answer. */
  awaits(questionId: string): boolean;
  deliver(questionId: string, answer: string): void;
}

export function createOwnerQuestions(): OwnerQuestions {
  const waiting = new Map<string, (answer: string) => void>();
  return {
    awaits: (questionId) => waiting.has(questionId),
    deliver: (questionId, answer) => waiting.get(questionId)?.(answer),

    async put(room, { taskId }, { text, fieldLabel }, signal) {
      const questionId = room.ids.uuid();
      const answered = new Promise<string>((resolve, reject) => {
        waiting.set(questionId, resolve);
        const ended = () => reject(new HostError('RUN_CANCELLED', {}));
        if (signal.aborted) ended();
        else signal.addEventListener('abort', ended, { once: true });
      });
      answered.catch(() => {});
      try {
        await room.book.change(taskId, (current) => {
          if (signal.aborted || current.state !== 'running') refuse('RUN_CANCELLED', {});
          const { revision } = current;
          const question = { questionId, revision, text, ...(fieldLabel === undefined ? {} : { fieldLabel }) };
          const progress = { text, observedAt: room.clock.now(), source: 'runtime' as const };
          return {
            record: { ...current, question, progress },
            audit: 'task.asked',
            auditData: { questionId },
            notices: [{ kind: 'question', taskId, revision, text, code: 'TASK_QUESTION' }],
          };
        });
        return await answered;
      } finally {
        waiting.delete(questionId);
      }
    },
  };
}
