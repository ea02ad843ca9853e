import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameLabel, seenText } from './labels.ts';

describe('a text as it looks', () => {
  it.each([
    ['Плаtform Ассерt', 'Плatform Accept'],
    ['ＯＫ', 'OK'],
    ['a\u200bb\u2060c\ufeff', 'abc'],
    ['naïve café', 'naive cafe'],
    // Marks that are letters of their own scripts stay.
    ['ยอมรับทั้งหมด', 'ยอมรับทั้งหมด'],
    ['すべて同意ガ', 'すべて同意ガ'],
    ['로봇이 아닙니다', '로봇이 아닙니다'],
  ])('%s', (text, seen) => {
    expect(seenText(text)).toBe(seen);
  });

  it('is the same for plain letters, and the same again when it is taken twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(seenText(seenText(text))).toBe(seenText(text));
      }),
    );
    expect(seenText('Accept all (1)')).toBe('Accept all (1)');
  });

  it('never makes a look-alike label the owner’s own: a supplied value is not typed into it', () => {
    expect(sameLabel('Pаsswоrd', 'Password', 'loose')).toBe(false);
  });
});
