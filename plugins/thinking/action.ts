/** One action, chosen from listed options with the screen in view. Used where a typed decision was not certain. */
import type * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';
import type { ActionRequest, ThinkingReply } from '../../sdk/contract/thinking.ts';
import { type Ask, only, question } from './ask.ts';

const rules = [
  'You choose the next action of a task from the listed options, with the screen in view.',
  'Choose the option that brings the whole goal nearest. If none does, it is null.',
  'Answer with exactly one JSON object: {"choice": "an option key"} or {"choice": null}.',
];

export async function chooseAction(request: v.InferOutput<typeof ActionRequest>, ask: Ask): Promise<ThinkingReply> {
  const { goal, options, state, image } = request;
  const messages = question(rules, { goal, options, state }, image);
  for (let attempt = 0; attempt < 2; attempt++) {
    const choice = only('choice', await ask(messages));
    if (choice === null) return { choice: null };
    if (typeof choice === 'string' && Object.hasOwn(options, choice)) return { choice };
  }
  throw new HostError('BROWSER_TEXT_INVALID_RESPONSE');
}
