/**
 * `task_answer`: the answer to the task's open question goes to the run that waits for it, or becomes a new bounded attempt
 * on the page as it is now.
 */

import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller, TaskSnapshot } from '../../sdk/contract/task.ts';
import type { Room } from './deps.ts';
import type { Dispatcher } from './dispatcher.ts';
import { refuseUnderHandoff } from './handoff.ts';
import { ownedForChange } from './ownership.ts';
import { reviseChange } from './revise.ts';
import { MAX_FIELD_CHARS } from './spawn.ts';

export interface TaskAnswer {
  taskId: string;
  questionId: string;
  answer: string;
  fieldText?: string;
  fields?: BrowserField[];
  noticeId?: string;
}

/** Characters of an answer that is not typed but read. */
const MAX_ANSWER_CHARS = 4000;

export async function answer(
  room: Room,
  dispatcher: Dispatcher,
  caller: Caller,
  given: TaskAnswer,
): Promise<TaskSnapshot> {
  ownedForChange(room, caller, given.taskId);
  const task = await room.book.change(given.taskId, (current) => {
    refuseUnderHandoff(current);
    const question = current.question;
    if (!question || question.questionId !== given.questionId) refuse('QUESTION_NOT_FOUND', {});
    if (given.answer.length > MAX_ANSWER_CHARS) refuse('INVALID_INPUT', { path: 'answer' });
    const { fieldLabel } = question;
    // Without field_text the answer itself is the text, verbatim (DECISIONS 6).
    const text = given.fieldText ?? given.answer;
    if (fieldLabel !== undefined && text.length > MAX_FIELD_CHARS) refuse('BROWSER_FIELD_VALUE_TOO_LONG', {});
    if (room.questions.awaits(question.questionId)) {
      const { question: _, ...record } = current;
      return { record, audit: 'task.answered', auditData: { questionId: question.questionId } };
    }
    const bound = fieldLabel === undefined ? [] : [{ label: fieldLabel, text }];
    const before = room.book.revision(current.taskId, current.revision);
    return reviseChange(room, current, {
      mode: 'answer',
      instructions: before?.instructions ?? current.goal,
      fields: [...(given.fields ?? []), ...bound],
      answer: {
        questionId: question.questionId,
        text: given.answer,
        ...(fieldLabel === undefined ? {} : { fieldLabel }),
      },
      ...(fieldLabel === undefined ? { guidance: `${question.text} Answer: ${given.answer}`.slice(0, 4000) } : {}),
    });
  });
  room.questions.deliver(given.questionId, given.fieldText ?? given.answer);
  const notices = room.book
    .notices(caller.conversationId)
    .filter((one) => one.taskId === task.taskId && one.kind === 'question');
  await room.book.acknowledge(
    caller.conversationId,
    notices.map((one) => one.noticeId),
  );
  dispatcher.wake();
  return room.book.snapshot(task);
}
