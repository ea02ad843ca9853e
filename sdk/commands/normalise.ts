/** What is left of a spoken or typed command when politeness, hesitation and punctuation are set aside. */
import { canonical, collapse, restAfter, withoutThaiSpacing } from './canonical-text.ts';
import { LEADING_FILLERS, TRAILING_PARTICLES } from './phrases.ts';

const END = /[\s.!?。…]+$/u;
const FILLER = new RegExp(`^(?:${LEADING_FILLERS.join('|')})[\\s,、]+`, 'i');

/** @returns the text behind its leading fillers, as written. A filler said on its own is a command of its own. */
export function withoutFillers(text: string): string {
  let left = text.trim();
  if (!FILLER.test(canonical(left))) return left;
  for (;;) {
    const found = restAfter(left, LEADING_FILLERS);
    const next = found && /^[\s,，、]/.test(found.rest) ? found.rest.replace(/^[\s,，、]+/, '') : '';
    if (!next) return left;
    left = next;
  }
}

/**
 * The text without politeness behind it. A particle goes when a space sets it apart; joined, it goes only where no other
 * word ends so (ชนะ and พระเจ้า are words).
 */
export function withoutPoliteEnding(text: string): string {
  let left = text;
  for (;;) {
    const bare = left.replace(END, '');
    const particle = TRAILING_PARTICLES.find((word) => bare.endsWith(word) && isApart(bare, word));
    const next = particle ? bare.slice(0, -particle.length) : bare;
    if (next === left) return left;
    left = next;
  }
}

function isApart(text: string, word: string): boolean {
  const before = text[text.length - word.length - 1];
  return before === undefined || /\s/.test(before) || word === 'ครับ' || word === 'ค่ะ';
}

function withoutEnding(text: string): string {
  const left = text.replace(END, '');
  if (left === '') return text;
  const particle = TRAILING_PARTICLES.find((word) => left.endsWith(word));
  const shorter = particle ? left.slice(0, -particle.length).trimEnd() : left;
  return shorter || left;
}

/**
 * The command without fillers, particles, closing punctuation and superfluous spaces, in lower case.
 * A step that would leave nothing is not taken. For comparing only; what is stored, shown or decided stays verbatim.
 */
export function normalise(text: string): string {
  let left = collapse(canonical(text));
  for (;;) {
    const ended = withoutEnding(left);
    const next = ended.replace(FILLER, '') || ended;
    if (next === left) return left.toLowerCase();
    left = next;
  }
}

/** The form by which whole commands are looked up: normalised, and blind to spaces beside Thai letters. */
export function commandKey(text: string): string {
  return withoutThaiSpacing(normalise(text));
}
