import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digest } from './digest.ts';
import { fieldIdentity, fingerprint, isEmpty, isIncomplete, mayShowSensitive } from './observation.ts';
import { button, field, pageWith } from './testing/pages.ts';

describe('a page state', () => {
  it('is the same when the page rebuilt the same controls under new refs', () => {
    expect(fingerprint(pageWith([button('a', { label: 'Buy' })]))).toBe(
      fingerprint(pageWith([button('z', { label: 'Buy' })], { generation: 'g2' })),
    );
  });

  it.each([
    ['a value', [field('q', { value: 'x' })], [field('q', { value: 'y' })]],
    ['a tick', [button('q', { checked: false })], [button('q', { checked: true })]],
    ['a control that can no longer be used', [button('q')], [button('q', { disabled: true })]],
    ['a new control', [button('q')], [button('q'), button('r')]],
  ])('differs by %s', (_name, before, after) => {
    expect(fingerprint(pageWith(before))).not.toBe(fingerprint(pageWith(after)));
  });

  it('differs by address, text and scroll position', () => {
    const states = [
      pageWith([]),
      pageWith([], { url: 'http://site.example/other' }),
      pageWith([], { text: 'Other text' }),
      pageWith([], { scroll: { y: 500, up: true, down: false } }),
    ].map(fingerprint);
    expect(new Set(states).size).toBe(4);
  });

  it('has digests that tell texts apart', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(digest(a) === digest(b)).toBe(a === b);
      }),
    );
  });
});

describe('an empty page', () => {
  it('has neither text nor a usable control in view', () => {
    expect(isEmpty(pageWith([], { text: '  \n' }))).toBe(true);
    expect(isEmpty(pageWith([button('a', { in_viewport: false })], { text: '' }))).toBe(true);
    expect(isEmpty(pageWith([field('p', { sensitive: true })], { text: '' }))).toBe(true);
    expect(isEmpty(pageWith([button('a')], { text: '' }))).toBe(false);
    expect(isEmpty(pageWith([], { text: 'below', viewport_text: '' }))).toBe(true);
  });
});

describe('an incomplete page', () => {
  it.each([
    [{ text: false, elements: true }, true],
    [{ text: false, elements: true, viewport_elements: true }, true],
    [{ text: false, elements: true, viewport_elements: false }, false],
    [{ text: true, elements: false }, false],
  ])('is told by %j', (truncated, incomplete) => {
    const page = pageWith([], { truncated });
    expect(isIncomplete(page)).toBe(incomplete);
    expect(mayShowSensitive(page)).toBe(incomplete);
  });
});

it('knows a field again under another ref and value, but not a field of another row', () => {
  const city = field('a', { label: 'City', context: 'Billing' });
  expect(fieldIdentity({ ...city, ref: 'b', value: 'x' })).toBe(fieldIdentity(city));
  expect(fieldIdentity({ ...city, context: 'Delivery' })).not.toBe(fieldIdentity(city));
});
