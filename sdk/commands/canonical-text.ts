/**
 * One form for text that is compared.
 *
 * The same words reach the grammar in many encodings: keyboards and speech services send Thai SARA AM as one character
 * or two, put a tone mark before or after a vowel, slip zero-width spaces between Thai words, or use full-width Latin
 * letters. All of them become one form here, on both sides of every comparison. Text that is typed somewhere is never
 * taken from this form: it stays exactly what the user wrote.
 *
 * Runs inside the plugin sandbox: no Intl.
 */

/** Zero-width characters, direction marks and the soft hyphen: invisible, and never part of a word. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const FULL_WIDTH = /[\uff01-\uff5e]/g;
/** NIKHAHIT, an optional tone mark, SARA AA: how SARA AM looks when it was taken apart. */
const SARA_AM_APART = /\u0e4d([\u0e48-\u0e4b]?)\u0e32/g;
const ASCII_ONLY = /^[\x20-\x7e]*$/;

/** @returns the text in the one form used for comparing; letter case is kept. */
export function canonical(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .normalize('NFC')
    .replace(SARA_AM_APART, '$1\u0e33')
    .replace(FULL_WIDTH, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0));
}

/** @returns the text with every run of white space as one space and none at the ends. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Spaces beside Thai letters: Thai puts no spaces between words, so one there says nothing. */
const SPACE_BESIDE_THAI = /(?<=[\u0e00-\u0e7f]) | (?=[\u0e00-\u0e7f])/g;

/** @returns the text without the spaces that carry no meaning. Expects collapsed, canonical text. */
export function withoutThaiSpacing(text: string): string {
  return text.replace(SPACE_BESIDE_THAI, '');
}

/** Characters beyond a word's own length in which its beginning is looked for: spaces and invisible characters. */
const SLACK = 64;

const squeezed = (text: string) => withoutThaiSpacing(collapse(canonical(text)).toLowerCase());

/**
 * What follows the first of some words that a text begins with, exactly as it was written.
 *
 * @param words in the form of a command key: canonical, lower-case, without spaces beside Thai letters.
 * @returns the word and the rest, or undefined where the text begins with none of them.
 */
export function restAfter<W extends string>(text: string, words: readonly W[]): { word: W; rest: string } | undefined {
  const whole = squeezed(text);
  for (const word of words) {
    if (!whole.startsWith(word)) continue;
    const end = endOf(text, word);
    // A mark would make the last letter of the word another letter.
    if (end !== undefined && !/^\p{M}/u.test(text.slice(end))) return { word, rest: text.slice(end) };
  }
  return undefined;
}

/** Where a word at the beginning of a text ends: invisible characters behind it belong to it, spaces do not. */
function endOf(text: string, word: string): number | undefined {
  // In canonical text only spaces can differ, and the caller knows that the beginning fits: walk along it.
  if (canonical(text) === text && text.toLowerCase().length === text.length) {
    let end = 0;
    for (const letter of word) {
      while (letter !== ' ' && /\s/.test(text[end] ?? '')) end += 1;
      end += letter.length;
      while (letter === ' ' && /\s/.test(text[end] ?? '')) end += 1;
    }
    return end;
  }
  let end: number | undefined;
  const last = Math.min(text.length, word.length * 2 + SLACK);
  for (let length = word.length; length <= last; length++) {
    const beginning = text.slice(0, length);
    if (!/\s$/.test(beginning) && squeezed(beginning) === word) end = length;
    else if (end !== undefined) break;
  }
  return end;
}

const PAIRS: Record<string, string> = {
  '"': '"',
  '\u201c': '\u201d',
  '\u201d': '\u201d',
  '\u201e': '\u201c',
  '\u00ab': '\u00bb',
  '\u300c': '\u300d',
  '\u300e': '\u300f',
};
/** Any character that opens or closes a quotation. */
export const QUOTE = /["\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f]/;

export interface Quotation {
  /** Where the opening quote stands. */
  start: number;
  /** Behind the closing quote. */
  end: number;
  /** What stands between the quotes. */
  text: string;
}

/** The quotations in a text, in order. A quote that is never closed opens none. */
export function quotations(text: string): Quotation[] {
  const found: Quotation[] = [];
  for (let index = 0; index < text.length; index++) {
    const close = PAIRS[text[index] ?? ''];
    if (!close) continue;
    const end = text.indexOf(close, index + 1);
    if (end < 0) continue;
    found.push({ start: index, end: end + 1, text: text.slice(index + 1, end) });
    index = end;
  }
  return found;
}

/** @returns the text with every quotation blotted out at the same length, so that positions still fit. */
export function withoutQuotations(text: string): string {
  if (!QUOTE.test(text)) return text;
  let masked = text;
  for (const { start, end } of quotations(text)) {
    masked = masked.slice(0, start) + '\u0001'.repeat(end - start) + masked.slice(end);
  }
  return masked;
}
