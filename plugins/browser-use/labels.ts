/**
 * Labels as a person compares them. Two tiers, so that a page that differs only in case or in a required mark still finds
 * its supplied value, while an exact label always wins.
 */

/** Compatibility form, one space between words, no space at the ends. */
export function normalLabel(label: string): string {
  return label.normalize('NFKC').replace(/\s+/gu, ' ').trim();
}

/** The same without case, a required mark, a colon or "(optional)". */
export function looseLabel(label: string): string {
  return normalLabel(label)
    .toLowerCase()
    .replace(/\((?:optional|required)\)/gu, ' ')
    .replace(/[\s*:：]+$/u, '')
    .replace(/^[\s*]+/u, '')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Whether the two labels name the same thing, at the given tier. */
export function sameLabel(a: string, b: string, tier: 'exact' | 'loose'): boolean {
  return tier === 'exact' ? normalLabel(a) === normalLabel(b) : looseLabel(a) === looseLabel(b);
}

/** Words of a text, lower case, letters and digits of any script. */
export function words(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}
