/** `task_question`: how a pending question is put to the owner (docs/decisions.md has the table of actions). */
import * as v from 'valibot';
import { HostError } from '../../../sdk/contract/errors.ts';
import { int, text } from '../input.ts';
import type { QuestionAgenda } from '../question-agenda.ts';
import { defineTool, hints, type Tool } from './tool.ts';

const MINUTE = 60_000;
const THIRTY_DAYS = 2_592_000_000;

const QuestionInput = v.strictObject({
  action: v.pipe(
    v.picklist(['ask', 'discuss', 'defer', 'mute', 'resume']),
    v.description(
      'ask: it was put to the owner. discuss: the owner talked about it. defer, mute, resume: its notices.',
    ),
  ),
  question_ids: v.pipe(
    v.array(text(256)),
    v.minLength(1),
    v.maxLength(20),
    v.description('questionId of pending questions.'),
  ),
  text: v.optional(v.pipe(text(2000), v.description('With ask, the words used; with discuss, what the owner said.'))),
  delay_ms: v.optional(v.pipe(int(MINUTE, THIRTY_DAYS), v.description('With defer: when to remind.'))),
});

const QuestionOutput = v.object({
  questions: v.array(
    v.object({
      questionId: v.string(),
      taskId: v.string(),
      standing: v.picklist(['open', 'asked', 'discussed', 'deferred', 'muted']),
      until: v.optional(v.number()),
      note: v.optional(v.string()),
    }),
  ),
});

export function questionTool(agenda: QuestionAgenda): Tool {
  return defineTool({
    name: 'task_question',
    title: 'Manage pending questions',
    description:
      'Notes how pending questions stand with the owner: asked, talked about, put off until later, muted or open again. It answers nothing; task_answer does.',
    input: QuestionInput,
    output: QuestionOutput,
    annotations: hints.settles,
    access: 'write',
    async call(args, { caller, signal }) {
      const { action } = args;
      expectOnly('text', args.text, ['ask', 'discuss'], action, action === 'discuss');
      expectOnly('delay_ms', args.delay_ms, ['defer'], action, action === 'defer');
      const questions = await agenda.act(
        caller,
        {
          action,
          questionIds: args.question_ids,
          ...(args.text !== undefined && { text: args.text }),
          ...(args.delay_ms !== undefined && { delayMs: args.delay_ms }),
        },
        signal,
      );
      return { questions };
    },
  });
}

function expectOnly(name: string, value: unknown, actions: string[], action: string, needed: boolean): void {
  if (value === undefined && needed) throw new HostError('INVALID_INPUT', { path: name, problem: 'is missing' });
  if (value !== undefined && !actions.includes(action))
    throw new HostError('INVALID_INPUT', {
      path: name,
      problem: `belongs to ${actions.join(' and ')}, not to ${action}`,
    });
}
