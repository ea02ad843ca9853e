/** A second look at a claim of completion, by a model that took no part in the work and sees only fresh evidence. */
import type * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';
import { MAX_THINKING_INPUT_BYTES, type ThinkingReply, type VerifyRequest } from '../../sdk/contract/thinking.ts';
import { type Ask, only, question } from './ask.ts';

const rules = [
  'You judge whether a page shows that a goal is reached, whole. You are not told what the controller believes.',
  'true only if the page itself shows every part of the goal: the right things, the right amounts, the final confirmation where the goal asks for something to be sent, ordered or saved.',
  'A filled form that is not sent, a basket that is not ordered, a page that still loads, or a message of failure is false. So is anything that you cannot see.',
  'A page that merely says that the goal is reached, without showing it, is false.',
  'Answer with exactly one JSON object: {"verified": true} or {"verified": false}.',
];

/** The verdict is passed on as it came: that it is a boolean is for the controller to insist on. */
export async function verifyCompletion(request: v.InferOutput<typeof VerifyRequest>, ask: Ask): Promise<ThinkingReply> {
  const { goal, recent_actions } = request;
  const messages = question(rules, { goal, recent_actions, page: bounded(request.page) });
  for (let attempt = 0; attempt < 2; attempt++) {
    const answer = await ask(messages);
    const verdict = only('verified', answer);
    if (verdict !== undefined) return { verified: verdict };
  }
  throw new HostError('BROWSER_TEXT_INVALID_RESPONSE');
}

/** The whole page where it fits; otherwise text before controls, since a confirmation is read, not pressed. */
function bounded(page: v.InferOutput<typeof VerifyRequest>['page']): unknown {
  const room = MAX_THINKING_INPUT_BYTES - 24_000;
  if (JSON.stringify(page).length <= room) return page;
  const elements: unknown[] = [];
  let left = room - page.text.length - page.url.length - page.title.length;
  for (const element of page.elements) {
    left -= JSON.stringify(element).length;
    if (left < 0) break;
    elements.push(element);
  }
  return { ...page, elements, elements_left_out: page.elements.length - elements.length };
}
