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

/** Letters of other scripts that nobody can tell from Latin ones, and the Latin ones, place by place. */
const foreign = 'аеорсухіјѕԁһӏԛԝкмтАВЕКМНОРСТУХІЈЅαορνικυχτεΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡ';
const latin = 'aeopcyxijsdhlqwkmtABEKMHOPCTYXIJSaopvikuxteABEZHIKMNOPTYXiag';
const lookalikes = new Map([...foreign].map((letter, at) => [letter, latin[at] ?? letter]));
const lookalike = new RegExp(`[${foreign}]`, 'gu');

/**
 * A text as it looks: without what cannot be seen, with look-alike letters as the Latin ones that they pass for, and
 * without accents. Only for recognising what a page would rather not have recognised; never for finding a value.
 */
export function seenText(text: string): string {
  // Most labels of most pages.
  if (/^[\x20-\x7e]*$/u.test(text)) return text;
  return text
    .normalize('NFKD')
    .replace(/\p{Default_Ignorable_Code_Point}|[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    .replace(lookalike, (letter) => lookalikes.get(letter) ?? letter);
}
