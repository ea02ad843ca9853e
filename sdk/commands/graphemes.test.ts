import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clip, graphemes, withoutLast } from './graphemes.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const segment = (text: string) => segmenter.segment(text);

describe('characters as a person counts them', () => {
  it.each([
    ['น้ำ', 1],
    ['กดทำต่อ', 5],
    ['👩‍👩‍👧', 1],
    ['🇹🇭🇯🇵', 2],
    ['e\u0301', 1],
    ['👍🏽', 1],
    ['한국', 2],
    ['すし', 2],
    ['\r\n', 1],
    ['', 0],
  ])('counts %j as %i, with and without a segmenter', (text, count) => {
    expect(graphemes(text)).toHaveLength(count);
    expect(graphemes(text, segment)).toHaveLength(count);
  });

  it('loses nothing of any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => graphemes(text).join('') === text));
  });

  it('erases whole characters', () => {
    expect(withoutLast('ab👩‍👩‍👧', 1)).toBe('ab');
    expect(withoutLast('น้ำ', 1)).toBe('');
    expect(withoutLast('a', 5)).toBe('');
  });

  it('clips between characters and never over the limit', () => {
    expect(clip('hello', 5)).toBe('hello');
    expect(clip('hello world', 6)).toBe('hello…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, max) => {
        const clipped = clip(text, max);
        expect(clipped.length).toBeLessThanOrEqual(max);
        expect(() => encodeURIComponent(clipped)).not.toThrow();
      }),
    );
  });
});
