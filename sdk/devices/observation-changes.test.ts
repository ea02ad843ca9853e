import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { changesSince, ObservationChanges, withChanges } from './observation-changes.ts';
import { Observation, type ObservedElement, withoutImplied } from './remote-browser-contract.ts';
import { textEdits, withEdits } from './text-edits.ts';

const text = fc
  .array(
    fc.oneof(fc.constantFrom('Total 12', 'Total 13', 'ราคา ๑๒', '', '😀👩‍👩‍👧', '😁👩‍👩‍👧', 'a\ud83d'), fc.string()),
    { maxLength: 12 },
  )
  .map((lines) => lines.join('\n'));

describe('edits of a text', () => {
  it('lead from one text to the other, whatever they are, and split no character', () => {
    fc.assert(
      fc.property(text, text, (before, now) => {
        const edits = textEdits(before, now);
        expect(withEdits(before, edits)).toBe(now);
        if (before.isWellFormed() && now.isWellFormed())
          for (const { insert } of edits) expect(insert.isWellFormed()).toBe(true);
      }),
    );
  });

  it.each([
    ['a number in a long line', `${'word '.repeat(800)}Changed 1 ${'word '.repeat(800)}`, 'Changed 1', 'Changed 27', 1],
    ['two far apart', `Cart 1\n${'line\n'.repeat(900)}Total 1\n`, '1', '2', 2],
    ['a line that comes', `a\n${'line\n'.repeat(300)}`, 'a\n', 'a\nnew\n', 1],
    ['a line that goes', `a\nb\n${'line\n'.repeat(300)}`, 'b\n', '', 1],
  ])('are as small as the change: %s', (_, before, from, to, count) => {
    const edits = textEdits(before, before.replaceAll(from, to));
    expect(edits).toHaveLength(count);
    expect(JSON.stringify(edits).length).toBeLessThan(100);
  });

  it('of a text that is another are one', () => {
    const lines = (word: string) => Array.from({ length: 1000 }, (_, i) => `${word} ${i}\n`).join('');
    expect(textEdits(lines('old'), `${lines('new')}more`)).toHaveLength(1);
  });

  it('that are not of this text lead nowhere', () => {
    expect(withEdits('abc', [{ at: 2, remove: 5, insert: '' }])).toBeUndefined();
    expect(
      withEdits('abc', [
        { at: 2, remove: 1, insert: '' },
        { at: 0, remove: 1, insert: '' },
      ]),
    ).toBeUndefined();
  });
});

const element = fc.record<ObservedElement>(
  {
    ref: fc.constantFrom('d1e1', 'd1e2', 'd1e3', 'd1e4', 'd1e5'),
    label: fc.constantFrom('Buy', 'Sell', ''),
    tag: fc.constantFrom('button', 'a', 'input', 'div'),
    role: fc.constantFrom('button', 'link', 'textbox'),
    operations: fc.constantFrom<ObservedElement['operations']>([], ['CLICK']),
    value: fc.string({ maxLength: 3 }),
    in_viewport: fc.boolean(),
  },
  { requiredKeys: ['ref', 'label', 'tag', 'operations'] },
);
const observation = fc.record<Observation>(
  {
    protocol_version: fc.constant(1),
    generation: fc.constantFrom('g1', 'g2'),
    url: fc.webUrl(),
    title: fc.constantFrom('A', 'B'),
    text,
    viewport_text: text,
    elements: fc.uniqueArray(element, { selector: ({ ref }) => ref, maxLength: 5 }),
    scroll: fc.record({ y: fc.nat(9), up: fc.boolean(), down: fc.boolean() }),
    truncated: fc.record({ text: fc.boolean(), elements: fc.boolean() }),
    notices: fc.array(fc.record({ kind: fc.constant('DIALOG'), text: fc.constantFrom('x', 'y') }), {
      minLength: 1,
      maxLength: 2,
    }),
  },
  {
    requiredKeys: [
      'protocol_version',
      'generation',
      'url',
      'title',
      'text',
      'viewport_text',
      'elements',
      'scroll',
      'truncated',
    ],
  },
);
/** As it comes over the wire, without what is implied. */
const sent = (page: Observation): Observation => ({ ...page, elements: page.elements.map(withoutImplied) });
const received = <T>(schema: v.GenericSchema<unknown, T>, value: unknown): T =>
  v.parse(schema, JSON.parse(JSON.stringify(value)));

describe('changes since an observation', () => {
  it('lead to the observation that they were made of', () => {
    fc.assert(
      fc.property(observation, observation, (before, now) => {
        const changes = received(ObservationChanges, changesSince(sent(before), sent(now)));
        expect(withChanges(received(Observation, sent(before)), changes)).toEqual(received(Observation, sent(now)));
      }),
    );
  });

  it('of another observation lead nowhere', () => {
    fc.assert(
      fc.property(observation, observation, (before, now) => {
        const changes = { ...changesSince(before, now), since: 'g9' };
        expect(withChanges(before, changes)).toBeUndefined();
      }),
    );
  });
});

describe('what an element leaves out', () => {
  const whole = (more: Partial<ObservedElement>): ObservedElement => ({
    ref: 'd1e1',
    label: 'Buy',
    tag: 'div',
    operations: [],
    in_viewport: true,
    ...more,
  });

  it.each([
    ['a button in view', whole({ tag: 'button', role: 'button' }), ['in_viewport', 'role']],
    ['a button by its role', whole({ role: 'button' }), ['in_viewport']],
    ['a link by its tag', whole({ tag: 'a', role: 'link' }), ['in_viewport']],
    ['a button with another role', whole({ tag: 'button', role: 'tab' }), ['in_viewport']],
    ['what is out of view', whole({ tag: 'button', role: 'button', in_viewport: false }), ['role']],
    ['what has no role', whole({}), ['in_viewport']],
  ])('is filled in where it is read: %s', (_, element, left) => {
    const short = withoutImplied(element);
    expect(
      Object.keys(element)
        .filter((key) => !(key in short))
        .sort(),
    ).toEqual(left.sort());
    const page = received(Observation, {
      protocol_version: 1,
      generation: 'g',
      url: '',
      title: '',
      text: '',
      elements: [short],
      scroll: { up: false, down: false },
      truncated: { text: false, elements: false },
    });
    expect(page.elements).toEqual([element]);
  });
});
