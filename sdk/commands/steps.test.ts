import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collapse } from './canonical-text.ts';
import { goldenCommands } from './golden/commands.ts';
import { goldenParts, goldenSteps } from './golden/steps.ts';
import { MAX_STEP, splitParts, splitSteps } from './steps.ts';

describe('a step list', () => {
  for (const { about, message, steps } of goldenSteps) {
    it(`${about}: ${steps ? `${steps.length} steps` : 'one command'}`, () => {
      expect(splitSteps(message)).toEqual(steps);
    });
  }
  for (const { step, parts } of goldenParts) {
    it(`has the parts ${parts.join(' | ')}`, () => expect(splitParts(step)).toEqual(parts));
  }

  const word = fc.constantFrom(
    'open',
    'lazada',
    'เลื่อน',
    'ลง',
    'แมว',
    'search',
    '1,000',
    '"a, then b"',
    '“แล้ว ไป”',
    'next.example.com',
    '東京',
    'เสร็จแล้ว',
    '👩‍👩‍👧',
  );
  const step = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => `go ${words.join(' ')}`);
  const separator = fc.constantFrom(
    ', ',
    ',  ',
    ' แล้ว',
    ' แล้ว ',
    ' จากนั้น',
    ' แล้วก็',
    ' then ',
    ' and then ',
    ', then ',
    '\n',
    '、',
    '，',
  );

  it('loses and moves no word, whatever separates the steps', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 2, maxLength: 12 }),
        fc.infiniteStream(separator),
        (steps, separators) => {
          const message = steps.reduce((text, next) => text + separators.next().value + next);
          expect(splitSteps(message)).toEqual(steps);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('keeps numbered and bulleted items exactly, whatever separates their parts', () => {
    const mark = fc.constantFrom(
      (index: number) => `${index + 1}. `,
      (index: number) => `${index + 1}) `,
      () => '- ',
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), mark, (steps, write) => {
        expect(splitSteps(steps.map((text, index) => write(index) + text).join('\n'))).toEqual(steps);
      }),
      { numRuns: 500 },
    );
  });

  it('joins its parts from nothing but the words of the step, in order', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(' แล้ว', ' จากนั้นก็', ' then ', ' and then '),
        (parts, join) => {
          expect(splitParts(parts.join(join))).toEqual(parts);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of any text is made of pieces of that text, in their order, within its limits', () => {
    const pieces = fc.array(
      fc.oneof(
        word,
        separator,
        fc.constantFrom('if', 'Steps:', '1. ', '2) ', '- ', '\n\n', '"', ': ', 'You are', '.'),
        fc.string({ unit: 'grapheme', maxLength: 8 }),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const message = parts.join(' ');
        const steps = splitSteps(message);
        if (!steps) return;
        // Lines lose the spaces around them, inside a quotation too.
        const line = collapse(message);
        let from = 0;
        for (const text of steps.map(collapse)) {
          const at = line.indexOf(text, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + text.length;
        }
        expect(steps.length).toBeGreaterThanOrEqual(2);
        expect(steps.length).toBeLessThanOrEqual(12);
        for (const text of steps) expect(text.length).toBeLessThanOrEqual(MAX_STEP);
      }),
      { numRuns: 3000 },
    );
  });

  it('is never one where every phrase of the command table stands alone', () => {
    const withSeparator = /,|，|、|\n|\s(?:แล้ว|จากนั้น)|\sthen\s/;
    for (const { phrases } of goldenCommands) {
      for (const phrase of phrases)
        if (!withSeparator.test(phrase)) expect([phrase, splitSteps(phrase)]).toEqual([phrase, undefined]);
    }
  });
});
