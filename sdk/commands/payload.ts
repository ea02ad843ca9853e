/**
 * Commands that carry a text: searching and typing.
 *
 * The text is exactly what the user wrote. Where it is not certain what belongs to it, nothing is read and the whole
 * command goes to the decision.
 */
import { canonical, QUOTE, quotations, restAfter } from './canonical-text.ts';
import { commandKey, withoutFillers, withoutPoliteEnding } from './normalise.ts';
import { DESTINATION, SEARCH_VERBS, TYPE_VERBS } from './phrases.ts';

/** UTF-16 units of a text without quotes. */
export const MAX_PAYLOAD = 500;
/** UTF-16 units of a quoted text: what one field takes. */
export const MAX_QUOTED_PAYLOAD = 2000;

interface Verb {
  readonly word: string;
  readonly joins: boolean;
}

/** Two commands in one: the decision reads them, no fast path does. */
const CONNECTED = /\s(?:แล้ว|จากนั้น)|\s(?:and\s+)?then\s/i;
const ENDING = /^[\s.!?。…]*$/u;

/** The text that a searching command looks for, or undefined. */
export function searchText(command: string): string | undefined {
  const rest = restAfterVerb(command, SEARCH_VERBS);
  if (rest === undefined) return undefined;
  const quoted = wholeQuotation(rest);
  return quoted ?? plain(withoutPoliteEnding(rest));
}

/**
 * The text that a typing command names, or undefined. A quoted text may be followed by where it goes
 * (`type "hello" in the name field`); which field that is, is for the decision.
 */
export function typeText(command: string): string | undefined {
  const rest = restAfterVerb(command, TYPE_VERBS);
  if (rest === undefined) return undefined;
  const [only, ...others] = quotations(rest);
  if (
    only &&
    only.start === 0 &&
    others.length === 0 &&
    (wholeQuotation(rest) || goesSomewhere(rest.slice(only.end)))
  ) {
    return quotable(only.text);
  }
  return plain(rest);
}

const goesSomewhere = (rest: string) => DESTINATION.test(` ${canonical(rest).trim()} `);

const isVerb = (key: string) => [...SEARCH_VERBS, ...TYPE_VERBS].some(({ word }) => word === key);

function restAfterVerb(command: string, verbs: readonly Verb[]): string | undefined {
  const found = restAfter(
    withoutFillers(command),
    verbs.map(({ word }) => word),
  );
  // A verb alone, or with nothing but politeness behind it, carries no text.
  if (!found || isVerb(commandKey(command))) return undefined;
  const apart = /^\s/.test(found.rest) || QUOTE.test(found.rest[0] ?? '');
  const text = found.rest.trim();
  // One joined Thai token may be a word of its own, so a space must show that there is more to it.
  const joined = verbs.some(({ word, joins }) => word === found.word && joins) && /\s/.test(text);
  return apart || joined ? text : undefined;
}

function wholeQuotation(text: string): string | undefined {
  const [first] = quotations(text);
  if (first?.start !== 0) return undefined;
  return ENDING.test(withoutPoliteEnding(text.slice(first.end))) ? quotable(first.text) : undefined;
}

function quotable(text: string): string | undefined {
  return text.trim() !== '' && text.length <= MAX_QUOTED_PAYLOAD && !QUOTE.test(text) ? text : undefined;
}

function plain(text: string): string | undefined {
  if (text === '' || text.length > MAX_PAYLOAD || /[\r\n]/.test(text)) return undefined;
  const around = ` ${canonical(text)} `;
  return QUOTE.test(text) || DESTINATION.test(around) || CONNECTED.test(around) ? undefined : text;
}
