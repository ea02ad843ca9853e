import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_TARGETS, type OfferRules, offerTargets, targetOperations } from './candidates.ts';
import type { ObservedElement } from './observation.ts';
import { button, element, field, pageWith, select } from './testing/pages.ts';

const rules: OfferRules = { goal: 'order a green hat', exhausted: () => false, withheld: () => false };
const keys = (elements: ObservedElement[], with_: Partial<OfferRules> = {}) => {
  const offer = offerTargets(pageWith(elements), { ...rules, ...with_ });
  return targetOperations.flatMap((operation) => offer[operation].map((target) => `${operation} ${target.key}`));
};

describe('what may be acted on', () => {
  it.each<[string, ObservedElement[], string[]]>([
    ['a button', [button('a')], ['CLICK a']],
    ['nothing out of view', [button('a', { in_viewport: false })], []],
    ['nothing disabled', [button('a', { disabled: true })], []],
    ['nothing sensitive', [field('p', { sensitive: true, type: 'password' })], []],
    ['no typing into a read-only field', [field('a', { readonly: true })], []],
    [
      'a click on a read-only field that allows it',
      [field('a', { readonly: true, operations: ['CLICK', 'TYPE_TEXT'] })],
      ['CLICK a'],
    ],
    ['each option of a list', [select('s', ['S', 'M'])], ['SELECT s:o0', 'SELECT s:o1']],
    ['no list whose options are cut off', [select('s', ['S'], { options_truncated: true })], []],
    [
      'no option that is chosen or disabled',
      [
        element({
          ref: 's',
          options: [
            { ref: 'a', label: 'A', disabled: true, selected: false },
            { ref: 'b', label: 'B', disabled: false, selected: true },
            { ref: 'c', label: 'C', disabled: false, selected: false },
          ],
        }),
      ],
      ['SELECT s:c'],
    ],
    [
      'a ref that is given twice only once',
      [button('a', { label: 'one' }), button('a', { label: 'two' })],
      ['CLICK a'],
    ],
    ['nothing under a key that a question uses itself', [button('NONE')], []],
    ['an operation that is listed twice only once', [button('a', { operations: ['CLICK', 'CLICK'] })], ['CLICK a']],
  ])('is %s', (_name, elements, expected) => {
    expect(keys(elements)).toEqual(expected);
  });

  it('leaves out what is exhausted for typing and what is withheld altogether', () => {
    const elements = [field('a', { operations: ['CLICK', 'TYPE_TEXT'] }), button('b')];
    expect(keys(elements, { exhausted: () => true })).toEqual(['CLICK a', 'CLICK b']);
    expect(keys(elements, { withheld: (one) => one.ref === 'b' })).toEqual(['CLICK a', 'TYPE_TEXT a']);
  });

  it('is narrowed to what shares words with the goal, in page order, and says so', () => {
    const lists = Array.from({ length: 10 }, (_, i) =>
      select(
        `s${i}`,
        Array.from({ length: 90 }, (_, n) => (n === 42 ? `Green hat ${i}` : `Thing ${n}`)),
      ),
    );
    const offer = offerTargets(pageWith(lists), rules);
    expect(offer.SELECT).toHaveLength(MAX_TARGETS);
    expect(offer.narrowed).toEqual(['SELECT']);
    expect(offer.SELECT.filter((target) => target.option?.label.startsWith('Green'))).toHaveLength(10);
    const order = offer.SELECT.map(({ key }) => key);
    expect([...order].sort((a, b) => rank(a) - rank(b))).toEqual(order);
  });

  it('never holds anything that its element does not allow, whatever a page sends', () => {
    const anyElement = fc.record({
      ref: fc.string({ maxLength: 4 }),
      label: fc.string(),
      tag: fc.constantFrom('button', 'input', 'select'),
      operations: fc.array(fc.constantFrom('CLICK' as const, 'TYPE_TEXT' as const, 'SELECT' as const), {
        maxLength: 3,
      }),
      sensitive: fc.boolean(),
      disabled: fc.boolean(),
      readonly: fc.boolean(),
      in_viewport: fc.boolean(),
      options: fc.array(
        fc.record({
          ref: fc.string({ maxLength: 3 }),
          label: fc.string(),
          disabled: fc.boolean(),
          selected: fc.boolean(),
        }),
        { maxLength: 5 },
      ),
    });
    fc.assert(
      fc.property(fc.array(anyElement, { maxLength: 12 }), (elements) => {
        const offer = offerTargets(pageWith(elements), rules);
        for (const operation of targetOperations) {
          const offered = offer[operation];
          expect(new Set(offered.map(({ key }) => key)).size).toBe(offered.length);
          for (const { element: one, option } of offered) {
            expect(one).toMatchObject({ sensitive: false, disabled: false, in_viewport: true });
            expect(one.operations).toContain(operation);
            if (operation === 'TYPE_TEXT') expect(one.readonly).toBe(false);
            if (operation === 'SELECT') expect(option).toMatchObject({ disabled: false, selected: false });
          }
        }
      }),
    );
  });
});

const rank = (key: string) => {
  const [, list = '0', option = '0'] = /^s(\d+):o(\d+)$/.exec(key) ?? [];
  return Number(list) * 1000 + Number(option);
};
