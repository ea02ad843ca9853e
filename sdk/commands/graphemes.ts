/**
 * Characters as a person counts them: a letter with its marks, a flag, a family emoji is one.
 *
 * The sandbox has no Intl, so a rule of our own stands in; where the host can give a segmenter, it is used instead.
 */
export type Segment = (text: string) => Iterable<{ segment: string }>;

// A Thai vowel written behind its consonant (SARA AM) belongs to it, as Unicode's own rule says.
const CLUSTER =
  /\r\n|\p{RI}\p{RI}|[\u1100-\u115f]+[\u1160-\u11a7]*[\u11a8-\u11ff]*\p{M}*|\p{Extended_Pictographic}(?:\p{M}|\p{EMod})*(?:\u200d\p{Extended_Pictographic}(?:\p{M}|\p{EMod})*)*|\P{M}(?:\p{M}|\u200d|\u0e33|\u0eb3)*|\p{M}+/gsu;

/** @param segment a segmenter of the host, e.g. `(text) => new Intl.Segmenter().segment(text)`. */
export function graphemes(text: string, segment?: Segment): string[] {
  if (segment) return Array.from(segment(text), (part) => part.segment);
  return text.match(CLUSTER) ?? [];
}

/**
 * @param max UTF-16 units, the unit of every length limit in the contract.
 * @returns the text itself where it fits, else as many whole characters as do, ending in an ellipsis.
 */
export function clip(text: string, max: number, segment?: Segment): string {
  if (text.length <= max) return text;
  let length = 0;
  let kept = '';
  for (const part of graphemes(text.slice(0, max + 64), segment)) {
    if (length + part.length > max - 1) break;
    length += part.length;
    kept += part;
  }
  return `${kept.trimEnd()}…`;
}

/** @returns the text without its last characters, counted as a person counts them. */
export function withoutLast(text: string, count: number, segment?: Segment): string {
  const parts = graphemes(text, segment);
  return parts.slice(0, Math.max(0, parts.length - count)).join('');
}
