import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alreadyHolds, fieldValue, literalFor, suppliedInView } from './field-text.ts';
import { looseLabel, normalLabel } from './labels.ts';
import { button, field, pageWith, select } from './testing/pages.ts';

const name = field('n', { label: 'Name' });
const page = pageWith([name, field('c', { label: 'City' })]);

describe('the value of a field', () => {
  it.each([
    ['the supplied one', [{ label: 'Name', text: 'Ada' }], { text: 'Ada', source: 'supplied' }],
    [
      'found whatever the spaces and the width of letters',
      [{ label: ' Ｎame ', text: 'Ada' }],
      { text: 'Ada', source: 'supplied' },
    ],
    [
      'found whatever the case and the required mark',
      [{ label: 'name *', text: 'Ada' }],
      { text: 'Ada', source: 'supplied' },
    ],
    [
      'the exact label’s before a similar one’s',
      [
        { label: 'NAME', text: 'x' },
        { label: 'Name', text: 'Ada' },
      ],
      { text: 'Ada', source: 'supplied' },
    ],
    ['even an empty one', [{ label: 'Name', text: '' }], { text: '', source: 'supplied' }],
    ['even the word ambiguous', [{ label: 'Name', text: 'ambiguous' }], { text: 'ambiguous', source: 'supplied' }],
    ['missing without one', [{ label: 'Surname', text: 'x' }], 'missing'],
    [
      'ambiguous with two',
      [
        { label: 'Name', text: 'a' },
        { label: 'Name', text: 'b' },
      ],
      'ambiguous',
    ],
    [
      'clear with the same one twice',
      [
        { label: 'Name', text: 'a' },
        { label: 'Name', text: 'a' },
      ],
      { text: 'a', source: 'supplied' },
    ],
  ])('is %s', (_name, fields, expected) => {
    expect(fieldValue(name, fields, page, 'Fill in the form')).toEqual(expected);
  });

  it('is ambiguous when two text fields bear the label, but not when a button does too', () => {
    const supplied = [{ label: 'Name', text: 'Ada' }];
    const twice = pageWith([name, field('m', { label: 'Name', context: 'Billing' })]);
    expect(fieldValue(name, supplied, twice, '')).toBe('ambiguous');
    expect(fieldValue(name, supplied, pageWith([name, button('b', { label: 'Name' })]), '')).toMatchObject({
      text: 'Ada',
    });
  });
});

describe('the owner’s literal words', () => {
  const search = field('q', { label: 'Search products', type: 'search' });
  it.each<[string, Parameters<typeof literalFor>[0], string | undefined]>([
    ['Search the shop for "trail jacket", choose Medium', search, 'trail jacket'],
    ['ค้นหา “รองเท้าวิ่ง” แล้วเปิดอันแรก', search, 'รองเท้าวิ่ง'],
    ['Set Name to "Ada" and City to "London"', name, 'Ada'],
    ['Enter "Ada Lindqvist" in the Name field', name, 'Ada Lindqvist'],
    ['Fill in:\nName: Ada Lindqvist\nCity: London', name, 'Ada Lindqvist'],
    ['- City = São Paulo', field('c', { label: 'City *' }), 'São Paulo'],
    ['Search for "a" and then search for "b"', search, undefined],
    ['Write my name', name, undefined],
    ['Rename "old" to "new"', name, undefined],
    ['Order the "trail jacket"', search, undefined],
    ['Name "Ada", Name "Eve"', name, undefined],
    ['anything "at all"', field('x', { label: '' }), undefined],
    ['C++ (a+b) "x"', field('x', { label: '(a+b)' }), 'x'],
  ])('%j', (goal, element, expected) => {
    expect(literalFor(element, goal)).toBe(expected);
  });

  it('are always words of the goal, never others', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (goal, label) => {
        const text = literalFor(field('f', { label, type: 'search' }), goal);
        if (text !== undefined) expect(goal).toContain(text);
      }),
    );
  });
});

it('only values whose fields are in view are told', () => {
  const fields = [
    { label: 'Name', text: 'a' },
    { label: 'Size', text: 'M' },
    { label: 'Password', text: 'p' },
    { label: 'Later', text: 'l' },
  ];
  const shown = pageWith([
    name,
    select('s', ['M'], { label: 'Size' }),
    field('p', { label: 'Password', sensitive: true }),
    field('l', { label: 'Later', in_viewport: false }),
  ]);
  expect(suppliedInView(fields, shown).map(({ label }) => label)).toEqual(['Name', 'Size']);
});

it('a field holds a text when it shows it whole', () => {
  expect(alreadyHolds(field('f', { value: ' Ada  L ' }), 'Ada L')).toBe(true);
  expect(alreadyHolds(field('f', { value: 'Ada', value_truncated: true }), 'Ada')).toBe(false);
  expect(alreadyHolds(field('f'), '')).toBe(false);
});

it('labels are compared the same in any Unicode normal form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
        expect(normalLabel(text.normalize(form))).toBe(normalLabel(text));
        expect(looseLabel(text.normalize(form))).toBe(looseLabel(text));
      }
    }),
  );
});
