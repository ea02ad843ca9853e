import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, utf8Bytes } from './json-limits.ts';

const check = (value: unknown, most = 32_768) => jsonText(value, 'Program input', most);

describe('a JSON value', () => {
  it('gives the text that JSON.stringify gives', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(check(value, 1e9)).toBe(JSON.stringify(value));
      }),
    );
  });

  const notJson: [string, unknown][] = [
    ['undefined', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['infinity', [Number.POSITIVE_INFINITY]],
    ['a missing property', { a: undefined }],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['an instance', new (class Thing {})()],
    ['a hole', new Array(3)],
    [
      'a getter',
      {
        get a() {
          return 1;
        },
      },
    ],
    ['a symbol key', { [Symbol('x')]: 1 }],
    ['a value with toJSON', { toJSON: () => 'x' }],
  ];
  it.each(notJson)('is not %s', (_what, value) => {
    expect(() => check(value)).toThrow('Program input must contain only finite JSON values');
  });

  it('is at most 32 levels deep', () => {
    const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(() => check(nest(33))).not.toThrow();
    expect(() => check(nest(34))).toThrow('Program input exceeds JSON complexity limits');
    expect(() => check(nest(20_000), 1e9)).toThrow('Program input exceeds JSON complexity limits');
  });

  it('is no cycle', () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(() => check(loop)).toThrow('Program input exceeds JSON complexity limits');
  });

  it('is at most 100,000 nodes', () => {
    expect(() => check(Array(99_999).fill(0), 1e9)).not.toThrow();
    expect(() => check(Array(100_000).fill(0), 1e9)).toThrow('Program input exceeds JSON complexity limits');
    expect(() => check(new Array(2 ** 31))).toThrow('Program input exceeds JSON complexity limits');
  });

  it('is measured in bytes, not in characters', () => {
    expect(() => check('ก'.repeat(10), 32)).not.toThrow();
    expect(() => check('ก'.repeat(10), 31)).toThrow('Program input exceeds 31 bytes');
  });

  it('has as many bytes as its text has in UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });
});
