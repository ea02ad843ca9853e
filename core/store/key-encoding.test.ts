import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeKey, encodeKey, endOfPrefix } from './key-encoding.ts';
import type { Key, KeyPart } from './store.ts';

const part = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '\0', '\0\0', 'a\0', 'a', 'a\uffff'),
  fc.double({ noNaN: true }).map((value) => (value === 0 ? 0 : value)),
);
const key = fc.array(part, { maxLength: 4 });

function compareParts(a: KeyPart, b: KeyPart): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  if (typeof a === 'number') return Math.sign(a - (b as number));
  return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
}

function compareKeys(a: Key, b: Key): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareParts(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

describe('keys as bytes', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(key, (parts) => {
        expect(decodeKey(encodeKey(parts))).toEqual(parts);
      }),
    );
  });

  it('are ordered as their parts are', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(Math.sign(Buffer.compare(encodeKey(a), encodeKey(b)))).toBe(Math.sign(compareKeys(a, b)));
      }),
    );
  });

  it('lie within a prefix exactly when they begin with its parts', () => {
    fc.assert(
      fc.property(key, key, (prefix, other) => {
        const start = encodeKey(prefix);
        const bytes = encodeKey(other);
        const within = Buffer.compare(bytes, start) >= 0 && Buffer.compare(bytes, endOfPrefix(start)) < 0;
        expect(within).toBe(other.length >= prefix.length && compareKeys(other.slice(0, prefix.length), prefix) === 0);
      }),
    );
  });

  it('are refused when they are too long or not a number', () => {
    expect(() => encodeKey(['x'.repeat(2000)])).toThrow(RangeError);
    expect(() => encodeKey([Number.NaN])).toThrow(RangeError);
  });
});
