/** The next revision of a task: a new instruction, with everything that stays true carried over. */
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Room } from './deps.ts';
import { mergeFields } from './run-input.ts';
import { isClosed } from './session.ts';
import { MAX_FIELD_CHARS } from './spawn.ts';
import { step, type TaskChange } from './task-book.ts';
import { isActive } from './transitions.ts';

export interface NewInstruction
  extends Pick<TaskRevision, 'mode' | 'instructions' | 'words' | 'confirmation' | 'correction'> {
  guidance?: string;
  fields?: readonly BrowserField[];
  answer?: TaskRevision['answers'][number];
  directCommand?: boolean;
  agentHandoff?: boolean;
  origin?: string;
}

/**
 * The change that puts the next revision on record. Where nothing runs, the task is queued at once; where a run is at
 * work, the revision waits until it has settled.
 *
 * @throws AUTOMATION_SESSION_CLOSED, STATE_CONFLICT.
 */
export function reviseChange(room: Room, task: TaskRecord, next: NewInstruction): TaskChange {
  const now = room.clock.now();
  if (isClosed(task, now)) refuse('AUTOMATION_SESSION_CLOSED', {});
  const before = room.book.revision(task.taskId, task.revision);
  const fields = mergeFields(before?.fields ?? [], next.fields ?? []);
  for (const field of fields) if (field.text.length > MAX_FIELD_CHARS) refuse('BROWSER_FIELD_VALUE_TOO_LONG', {});
  const waits = isActive(task.state);
  const moved = waits ? task : step(task, 'revise');
  const number = task.revision + 1;
  return {
    record: waits ? { ...moved, revision: number } : { ...reopened(moved), revision: number },
    revision: {
      ...{ taskId: task.taskId, revision: number, mode: next.mode, instructions: next.instructions, fields, at: now },
      answers: [...(next.answer ? [...(before?.answers ?? []), next.answer] : (before?.answers ?? []))],
      ...(next.guidance === undefined ? {} : { guidance: next.guidance }),
      ...(next.directCommand ? { directCommand: true } : {}),
      ...(next.agentHandoff ? { agentHandoff: true } : {}),
      ...(next.origin === undefined ? {} : { origin: next.origin }),
      ...(next.words === undefined ? {} : { words: next.words }),
      ...(next.confirmation && { confirmation: next.confirmation }),
      ...(next.correction && { correction: next.correction }),
    },
    audit: 'task.revised',
    auditData: { mode: next.mode },
  };
}

/** A finished round's marks do not belong to the next one; nor does a question that was not answered by it. */
function reopened(task: TaskRecord): TaskRecord {
  const { failure: _, result: __, question: ___, outcome: ____, report: _____, ...rest } = task;
  const { paused: ______, confirm: _______, ...kept } = rest;
  const { idleSince: ________, ...session } = kept.session;
  return { ...kept, session };
}
