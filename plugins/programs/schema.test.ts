import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../sdk/index.ts';
import { conformingText, matches } from './schema-match.ts';
import { checkSchema, type Schema } from './schema-subset.ts';

const UNSUPPORTED =
  'Unsupported program schema; use the documented bounded JSON Schema subset (no references or regexes)';

describe('a program schema', () => {
  const refused: [string, unknown, string][] = [
    ['a misspelt type', { type: 'strng' }, 'Invalid schema type'],
    ['a list of types', { type: ['string', 'null'] }, 'Invalid schema type'],
    ['a pattern', { pattern: '^a' }, UNSUPPORTED],
    ['a reference', { $ref: '#/x' }, UNSUPPORTED],
    ['a definition', { $defs: {} }, UNSUPPORTED],
    ['items that are no schema', { items: 4 }, UNSUPPORTED],
    ['a list of items', { items: [{}] }, UNSUPPORTED],
    ['a bound that is text', { maximum: '5' }, 'Invalid schema bound'],
    ['a negative length', { minLength: -1 }, 'Invalid schema bound'],
    ['a fractional count', { maxItems: 1.5 }, 'Invalid schema bound'],
    ['a format', { type: 'string', format: 'email' }, UNSUPPORTED],
    ['negation', { not: {} }, UNSUPPORTED],
    ['a conditional', { if: {}, else: {} }, UNSUPPORTED],
    ['an empty choice of values', { enum: [] }, 'Invalid schema enum'],
    ['too many values', { enum: Array.from({ length: 257 }, (_, index) => index) }, 'Invalid schema enum'],
    ['no alternatives', { anyOf: [] }, 'Invalid schema alternatives'],
    ['too many alternatives', { oneOf: Array(17).fill({}) }, 'Invalid schema alternatives'],
    ['alternatives that are no list', { allOf: {} }, 'Invalid schema alternatives'],
    ['properties that are a list', { properties: [] }, UNSUPPORTED],
    ['required that is no list of names', { required: [1] }, UNSUPPORTED],
    ['a description that is no text', { description: 1 }, UNSUPPORTED],
    ['a list', [], UNSUPPORTED],
    ['true', true, UNSUPPORTED],
    ['null', null, UNSUPPORTED],
    [
      'too many schemas',
      { properties: Object.fromEntries(Array.from({ length: 128 }, (_, n) => [`p${n}`, {}])) },
      UNSUPPORTED,
    ],
    ['too deep a schema', nested(12), UNSUPPORTED],
    [
      'a hidden wrong part',
      { properties: { a: { items: { anyOf: [{ type: 'string' }, { minimum: null }] } } } },
      'Invalid schema bound',
    ],
    ['too much text', { title: 'x'.repeat(16_384) }, 'Program schema exceeds 16384 bytes'],
    ['a number that is not finite', { minimum: Number.NaN }, 'Program schema must contain only finite JSON values'],
  ];
  it.each(refused)('with %s is refused', (_what, schema, message) => {
    expect(() => checkSchema(schema)).toThrow(message);
  });

  it('may be as deep and as wide as documented', () => {
    expect(() => checkSchema(nested(11))).not.toThrow();
    const properties = Object.fromEntries(Array.from({ length: 127 }, (_, n) => [`p${n}`, {}]));
    expect(() => checkSchema({ properties })).not.toThrow();
  });

  it('treats keys of Object.prototype as the names they are', () => {
    const schema = checkSchema(
      JSON.parse(
        '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__"]}',
      ),
    );
    expect(matches(JSON.parse('{"__proto__":"a","constructor":1}'), schema)).toBe(true);
    expect(matches(JSON.parse('{"__proto__":1}'), schema)).toBe(false);
    expect(matches({}, schema)).toBe(false);
    expect(matches({ constructor: 'x', ['__proto__']: 'a' } as never, schema)).toBe(false);
  });
});

function nested(levels: number): Json {
  let schema: Json = {};
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return schema;
}

describe('matching a value', () => {
  const json = fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>;
  /** A few keywords at a time: a schema with all of them fits no value. */
  const few = (all: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Schema> =>
    fc
      .subarray(Object.keys(all), { maxLength: 4 })
      .chain((keys) => fc.record(Object.fromEntries(keys.map((name) => [name, all[name]!])))) as fc.Arbitrary<Schema>;
  const small = fc.nat({ max: 4 });
  const key = fc.constantFrom('a', 'b', 'c', 'constructor', 'ก');
  const schemaOf = (depth: number): fc.Arbitrary<Schema> => {
    const leaf = {
      type: fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null'),
      enum: fc.array(json, { minLength: 1, maxLength: 3 }),
      const: json,
      minimum: fc.integer({ min: -3, max: 3 }),
      maximum: fc.double({ min: -3, max: 3, noNaN: true }),
      minLength: small,
      maxLength: small,
      minItems: small,
      maxItems: small,
      minProperties: small,
      maxProperties: small,
      required: fc.uniqueArray(key, { maxLength: 2 }),
    };
    if (depth === 0) return few(leaf);
    const child = schemaOf(depth - 1);
    const children = fc.array(child, { minLength: 1, maxLength: 2 });
    const branch = {
      ...leaf,
      properties: fc.array(fc.tuple(key, child), { maxLength: 2 }).map(withOwnKeys),
      additionalProperties: fc.oneof(fc.boolean(), child),
      items: child,
      anyOf: children,
      oneOf: children,
      allOf: children,
    };
    return few(branch);
  };
  const schema = fc.oneof(schemaOf(0), schemaOf(1), schemaOf(2));
  const value = fc.oneof(
    json,
    fc.array(fc.tuple(key, json), { maxLength: 3 }).map((entries) => withOwnKeys(entries) as Json),
    fc.constantFrom<Json>('', 'ab', '😀😀', 0, -0, 1, 2.5, null, true, [], {}),
  );

  it('agrees with a general validator on everything in the subset', () => {
    const general = new Ajv2020({
      strict: false,
      ownProperties: true,
      addUsedSchema: false,
      validateSchema: false,
      meta: false,
    });
    fc.assert(
      fc.property(schema, value, (made, given) => {
        // As it would arrive: plain JSON.
        const wanted = JSON.parse(JSON.stringify(made)) as Schema;
        fc.pre(JSON.stringify(wanted).length < 8000);
        const expected = general.compile(wanted as object)(given);
        general.removeSchema(wanted as object);
        expect(matches(given, checkSchema(wanted))).toBe(expected);
      }),
      { numRuns: 600, endOnFailure: true },
    );
  });

  it('never throws, whatever the schema and the value are', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (anySchema, anyValue) => {
        try {
          conformingText(anyValue, checkSchema(anySchema), 'Program input', 1000);
        } catch (error) {
          expect(error).toMatchObject({ name: 'HostError', code: 'PROGRAM_INVALID' });
        }
      }),
    );
  });
});

/** As JSON.parse makes it: `__proto__` is a key like any other. */
function withOwnKeys(entries: [string, unknown][]): Record<string, never> {
  const made = {};
  for (const [key, value] of entries)
    Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true });
  return made;
}
