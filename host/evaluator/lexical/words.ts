/** Words of a text, in any script, made comparable. */

const segmenter = new Intl.Segmenter(['en', 'th'], { granularity: 'word' });

/** Words that say nothing about what is meant. */
const FILLER = new Set(
  'a an the to of in on at for with by from into onto it its this that these those is are be as your my our their his her you i we me us please then and or so now page button link field box tab option item items'.split(
    ' ',
  ),
);

/** Different words for one thing, in general English; nothing here belongs to a single site. */
const SAME: Readonly<Record<string, string>> = {
  cart: 'basket',
  bag: 'basket',
  trolley: 'basket',
  purchase: 'buy',
  pick: 'choose',
  select: 'choose',
  put: 'add',
  send: 'submit',
  find: 'search',
  look: 'search',
  shipping: 'delivery',
  address: 'delivery',
  ship: 'delivery',
  proceed: 'continue',
  next: 'continue',
  forward: 'continue',
  finish: 'complete',
  finalise: 'complete',
  finalize: 'complete',
  zip: 'postcode',
  login: 'signin',
};

/** All words, lower-case, in order. Filler stays in: places of words matter to some readers. */
export function words(text: string): string[] {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\bcheck[\s-]?out\b/g, 'checkout')
    .replaceAll(/\bsign[\s-]?in\b|\blog[\s-]?in\b/g, 'signin')
    .replaceAll(/['’]s\b/g, '');
  const found: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(plain)) if (isWordLike) found.push(base(segment));
  return found;
}

/** The words that carry meaning. */
export function contentWords(text: string): string[] {
  return words(text).filter((word) => !FILLER.has(word));
}

function base(word: string): string {
  const singular = word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word;
  return Object.hasOwn(SAME, singular) ? (SAME[singular] ?? singular) : singular;
}

/** Share of the first's words that the second has. */
export function share(of: readonly string[], within: ReadonlySet<string>): number {
  if (of.length === 0) return 0;
  let hits = 0;
  for (const word of of) if (within.has(word)) hits += 1;
  return hits / of.length;
}

/** Whether the words stand together, in this order. @returns the place of the first, or -1. */
export function phraseAt(phrase: readonly string[], text: readonly string[]): number {
  if (phrase.length === 0) return -1;
  for (let at = 0; at + phrase.length <= text.length; at++) {
    if (phrase.every((word, index) => text[at + index] === word)) return at;
  }
  return -1;
}

/** All text in a JSON value: strings and keys. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return Object.entries(value)
    .map(([key, entry]) => `${key.replaceAll('_', ' ')} ${textOf(entry)}`)
    .join(' ');
}
