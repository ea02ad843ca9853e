/**
 * The value of one field.
 *
 * A value counts only if it is one: not a refusal in words, not a placeholder, of the field's kind, and either the
 * owner's own words or judged, in a question of its own, to follow from them. A value that fails is asked for once more;
 * after that the answer is null, and the owner is asked.
 */

import type * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';
import { type FieldTextRequest, MAX_FIELD_TEXT, type ThinkingReply } from '../../sdk/contract/thinking.ts';
import { type Ask, only, question } from './ask.ts';

export type FieldText = v.InferOutput<typeof FieldTextRequest>;

const rules = [
  'You give the value of one form field for a task in a browser.',
  'The goal in the data is the only authority on what is wanted. The value must follow from the goal, or from the goal together with the actions already taken.',
  'Names, addresses, numbers, dates and credentials are never guessed. If the goal does not determine the value, it is null.',
  'Write the value as the field takes it: no quotes around it, no explanation.',
  'Answer with exactly one JSON object: {"text": "the value"} or {"text": null}.',
];

const meaningRules = [
  'You check a value that is about to be typed into one form field for a task in a browser.',
  'It fits only if it says what the goal says for this very field: the right thing of the goal (an origin is not a destination, a name is not an address), nothing added, nothing guessed.',
  'Another language, another notation of the same date or number, or a shorter name of the same thing fits.',
  'Answer with exactly one JSON object: {"fits": true} or {"fits": false}.',
];

export async function writeFieldText(request: FieldText, ask: Ask): Promise<ThinkingReply> {
  const { kind: _kind, ...data } = request;
  let rejected: { text?: string; because: string } | undefined;
  let malformed = 0;
  for (let attempt = 0; attempt < 2; attempt++) {
    const answer = await ask(question(rules, rejected ? { ...data, rejected_value: rejected } : data));
    const text = only('text', answer);
    if (text === null) return { text: null };
    if (typeof text !== 'string') {
      malformed += 1;
      rejected = { because: 'the answer was not the one JSON object that was asked for' };
      continue;
    }
    const problem = problemOf(text, request);
    if (problem === undefined && (await fits(text, request, ask))) return { text };
    rejected = { text: text.slice(0, 200), because: problem ?? 'it does not follow from the goal for this field' };
  }
  // Two answers that could not be read are a fault of the model. Two values that do not hold are a missing value.
  if (malformed === 2) throw new HostError('BROWSER_TEXT_INVALID_RESPONSE');
  return { text: null };
}

const refusals =
  /^(?:null|none|n\/?a|nil|undefined|unknown|unspecified|not (?:provided|specified|available|given|known|applicable|sure)|tbd|to be (?:determined|provided)|missing|empty|blank|-+|\?+|ไม่ทราบ|ไม่ระบุ|ไม่มีข้อมูล|不明|未知|なし)[.!]?$/iu;
const refusalSentence =
  /\b(?:i(?:['’]m| am)? (?:can ?not|can['’]t|unable|sorry|do not know|don['’]t know|need (?:more|the))|as an ai|cannot (?:determine|provide|be determined)|could you (?:please )?(?:provide|tell)|please (?:provide|specify|clarify)|no (?:value|information) (?:is |was )?(?:provided|given|available)|not enough information|the goal does not)\b/iu;
const placeholder =
  /^[[<{(].{0,60}[\]>})]$|^(?:your|enter|insert|type)[\s_-](?:\w+[\s_-]?){1,4}(?:here)?$|^(?:lorem ipsum|xxx+|foo|bar|test123)\b/iu;

/** Why this is no value for the field, or undefined. */
export function problemOf(text: string, { field }: Pick<FieldText, 'field'>): string | undefined {
  const value = text.trim();
  if (value === '') return 'it is empty';
  if (text.length > MAX_FIELD_TEXT) return `it is longer than ${MAX_FIELD_TEXT} characters`;
  if (refusals.test(value) || refusalSentence.test(value)) return 'it is a refusal, not a value; null says that';
  if (placeholder.test(value)) return 'it is a placeholder';
  switch (field.type) {
    case 'email':
      return /^[^\s@]+@[^\s@]+\.[^\s@]+$/u.test(value) ? undefined : 'it is not an e-mail address';
    case 'number':
    case 'range':
      return /^[+-]?\d+(?:[.,]\d+)?$/u.test(value) ? undefined : 'it is not a number';
    case 'tel':
      return /^[+\d][\d\s().\-/]{2,}$/u.test(value) ? undefined : 'it is not a telephone number';
    case 'url':
      return /^https?:\/\/\S+$/iu.test(value) ? undefined : 'it is not a web address';
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/u.test(value) ? undefined : 'it is not a date such as 2026-03-09';
    default:
      return /\n/u.test(value) && field.role !== 'textbox' && field.type !== 'textarea' && field.type !== undefined
        ? 'it has several lines and the field has one'
        : undefined;
  }
}

/** Whether the value is what the goal says for this field. The owner's own words need no second question. */
async function fits(text: string, request: FieldText, ask: Ask): Promise<boolean> {
  if (isOwnersWord(text, request)) return true;
  const { goal, field, recent_actions } = request;
  const answer = await ask(question(meaningRules, { goal, field, recent_actions, value: text }));
  return only('fits', answer) === true;
}

/**
 * The value stands in the goal right beside the field's own name. Standing anywhere in the goal is not enough: the two
 * cities of a journey both do.
 */
function isOwnersWord(text: string, { goal, field }: FieldText): boolean {
  const plain = (value: string) => value.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  const label = plain(field.label).replace(/[\s*:]+$/u, '');
  if (label.length < 2) return false;
  const said = plain(goal);
  const value = plain(text);
  return [
    `${label} ${value}`,
    `${label}: ${value}`,
    `${label} is ${value}`,
    `${label} "${value}"`,
    `${label} “${value}”`,
  ].some((words) => said.includes(words));
}
