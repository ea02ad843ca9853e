import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { request } from '../../test/jev/arbitraries.ts';
import { jpeg, png } from '../../test/jev/images.ts';
import { MAX_DEPTH, type RequestLimits, validateRequest } from './request-validation.ts';

const limits: RequestLimits = {
  maxInputBytes: 131_072,
  maxQuestions: 64,
  images: { enabled: false, maxImageBytes: 1 },
};
const withImages: RequestLimits = { ...limits, images: { enabled: true, maxImageBytes: 4096 } };
const noul = { type: 'noul', instructions: 'x' };

function refusal(input: unknown, by = limits): string {
  try {
    validateRequest(input, by);
    return 'accepted';
  } catch (error) {
    const { code, details } = error as { code: string; details: { path?: string; problem?: string } };
    return `${code} ${details.path ?? ''}: ${details.problem}`;
  }
}
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
const options = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`o${i}`, null]));

describe('a request', () => {
  it('of any right shape is accepted and sent as it is', () => {
    fc.assert(
      fc.property(request, (made) => {
        const valid = validateRequest(made, { ...limits, maxInputBytes: 1_048_576 });
        expect(JSON.parse(valid.state)).toEqual(JSON.parse(JSON.stringify(made.state)));
        expect(JSON.parse(valid.questions)).toEqual(JSON.parse(JSON.stringify(made.questions)));
        expect(valid.plan.map(({ id }) => id)).toEqual(Object.keys(made.questions));
      }),
    );
  });

  it.each<[string, unknown, RegExp]>([
    ['no object', [], /not an object/],
    ['another key', { state: 's', questions: { q: noul }, model: 'm' }, / model: unknown key/],
    ['an agent of its own', { state: 's', questions: { q: noul }, agentId: 'a' }, / agentId: unknown key/],
    ['no state', { questions: { q: noul } }, / state:/],
    ['a number as state', { state: 3, questions: { q: noul } }, / state:/],
    ['null as state', { state: null, questions: { q: noul } }, / state:/],
    ['no questions', { state: 's' }, / questions:/],
    ['questions as a list', { state: 's', questions: [noul] }, / questions:/],
    ['no question at all', { state: 's', questions: {} }, /at least one/],
    [
      '65 questions',
      { state: 's', questions: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`q${i}`, noul])) },
      /at most 64/,
    ],
    ['an empty id', { state: 's', questions: { '': noul } }, /1 to 1024/],
    ['an id of 1025 characters', { state: 's', questions: { ['x'.repeat(1025)]: noul } }, /1 to 1024/],
    [
      'a forbidden id',
      { state: 's', questions: JSON.parse('{"__proto__":{"type":"noul","instructions":"x"}}') },
      /not allowed as a key/,
    ],
    ['the id constructor', { state: 's', questions: { constructor: noul } }, /not allowed as a key/],
    ['an unknown type', { state: 's', questions: { q: { type: 'text', instructions: 'x' } } }, /q\.type/],
    ['no instructions', { state: 's', questions: { q: { type: 'noul' } } }, /q\.instructions/],
    ['a key too many', { state: 's', questions: { q: { ...noul, weight: 1 } } }, /q\.weight: unknown key/],
    [
      'a noul with a third case',
      { state: 's', questions: { q: { ...noul, criteria: { maybe: 'x' } } } },
      /only "true" and "false"/,
    ],
    [
      'a noul whose case is null',
      { state: 's', questions: { q: { ...noul, criteria: { true: null } } } },
      /criteria\.true/,
    ],
    [
      'a choice without options',
      { state: 's', questions: { q: { type: 'choice', instructions: 'x', criteria: {} } } },
      /1 to 255/,
    ],
    [
      'a choice of 256',
      { state: 's', questions: { q: { type: 'choice', instructions: 'x', criteria: options(256) } } },
      /1 to 255/,
    ],
    [
      'a choice as a list',
      { state: 's', questions: { q: { type: 'choice', instructions: 'x', criteria: ['a'] } } },
      /object of options/,
    ],
    [
      'an option prototype',
      { state: 's', questions: { q: { type: 'choice', instructions: 'x', criteria: { prototype: null } } } },
      /not allowed as a key/,
    ],
    [
      'an option described by a number',
      { state: 's', questions: { q: { type: 'choice', instructions: 'x', criteria: { a: 1 } } } },
      /text, an object or an array/,
    ],
    [
      'a score of one level',
      { state: 's', questions: { q: { type: 'score', instructions: 'x', criteria: ['a'] } } },
      /2 to 10/,
    ],
    [
      'a score of eleven',
      { state: 's', questions: { q: { type: 'score', instructions: 'x', criteria: Array(11).fill('a') } } },
      /2 to 10/,
    ],
    [
      'a score as an object',
      { state: 's', questions: { q: { type: 'score', instructions: 'x', criteria: { 0: 'a', 1: 'b' } } } },
      /list of levels/,
    ],
    [
      'a score with a hole',
      {
        state: 's',
        questions: { q: { type: 'score', instructions: 'x', criteria: Object.assign(Array(3), { 1: 'b', 2: 'c' }) } },
      },
      /criteria\.0/,
    ],
    ['a box without images', { state: 's', questions: { q: { type: 'box', instructions: 'x' } } }, /images/],
    ['images without images', { state: 'img', questions: { q: noul }, assets: {} }, /images are not enabled/],
    ['a date', { state: { at: new Date(0) }, questions: { q: noul } }, /plain objects/],
    ['a map', { state: new Map(), questions: { q: noul } }, /plain objects/],
    ['undefined inside', { state: { a: undefined }, questions: { q: noul } }, /undefined/],
    ['a function inside', { state: { a: () => 1 }, questions: { q: noul } }, /function/],
    ['NaN inside', { state: [Number.NaN], questions: { q: noul } }, /number that JSON cannot hold/],
    ['a big integer inside', { state: [1n], questions: { q: noul } }, /bigint/],
  ])('with %s is refused with its place', (_, input, says) => {
    expect(refusal(input)).toMatch(says);
    expect(refusal(input)).toMatch(/^JEV_INVALID_REQUEST /);
  });

  it(`may nest ${MAX_DEPTH} levels and no more, wherever it is`, () => {
    expect(refusal({ state: nested(MAX_DEPTH), questions: { q: noul } })).toBe('accepted');
    expect(refusal({ state: nested(MAX_DEPTH + 1), questions: { q: noul } })).toMatch(/nested deeper/);
    expect(refusal({ state: 's', questions: { q: { type: 'noul', instructions: nested(MAX_DEPTH + 1) } } })).toMatch(
      /nested deeper/,
    );
    expect(refusal({ state: nested(20_000), questions: { q: noul } })).toMatch(/nested deeper/);
  });

  it('may have exactly as many UTF-8 bytes as its caller would write', () => {
    for (const state of ['a', 'é', '漢', '😀', '"', '\u0000']) {
      for (const requestId of [undefined, 'id-1']) {
        const input = { state: state.repeat(50), questions: { q: noul }, ...(requestId && { requestId }) };
        const bytes = Buffer.byteLength(JSON.stringify(input));
        expect(refusal(input, { ...limits, maxInputBytes: bytes })).toBe('accepted');
        expect(refusal(input, { ...limits, maxInputBytes: bytes - 1 })).toMatch(`has ${bytes} bytes`);
      }
    }
  });

  it.each([
    ['x', 'accepted'],
    ['!~'.repeat(128), 'accepted'],
    ['x'.repeat(257), 'requestId'],
    ['', 'requestId'],
    ['a b', 'requestId'],
    ['a\n', 'requestId'],
    ['é', 'requestId'],
    [7, 'requestId'],
    [null, 'requestId'],
  ])('named %j is %s', (requestId, expected) => {
    expect(refusal({ state: 's', questions: { q: noul }, requestId })).toContain(expected);
  });

  it('is read once: changing it afterwards changes nothing', () => {
    const input = {
      state: { a: 1 },
      questions: { q: { type: 'choice', instructions: 'x', criteria: { a: null } as Record<string, null> } },
    };
    const valid = validateRequest(input, limits);
    input.state.a = 2;
    input.questions.q.criteria.b = null;
    expect(valid.state).toBe('{"a":1}');
    expect(valid.plan).toEqual([{ id: 'q', type: 'choice', options: ['a'] }]);
  });
});

describe('an image', () => {
  const ask = (data: Buffer, format: string, state: unknown = { screenshot: 'img-1' }, more: object = {}) =>
    refusal(
      {
        state,
        questions: { q: noul },
        assets: { 'img-1': { type: 'image', format, data_base64: data.toString('base64'), ...more } },
      },
      withImages,
    );

  it('in PNG or JPEG within the sides is accepted and asks for the images model', () => {
    expect(ask(png(280, 1568), 'png')).toBe('accepted');
    expect(ask(jpeg(1568, 280), 'jpeg')).toBe('accepted');
    const asset = { type: 'image', format: 'png', data_base64: png(300, 300).toString('base64') };
    const valid = validateRequest(
      { state: 'see img-1', questions: { q: noul }, assets: { 'img-1': asset } },
      withImages,
    );
    expect(valid.needsImages).toBe(true);
    expect(JSON.parse(valid.assets ?? '')).toEqual({ 'img-1': asset });
  });

  it('does not count in the bytes of the request', () => {
    const data = Buffer.concat([png(300, 300), Buffer.alloc(3000)]);
    const input = {
      state: 'img-1',
      questions: { q: noul },
      assets: { 'img-1': { type: 'image', format: 'png', data_base64: data.toString('base64') } },
    };
    expect(refusal(input, { ...withImages, maxInputBytes: 200 })).toBe('accepted');
  });

  it('is needed by its reference in a value, not only in a key', () => {
    expect(ask(png(300, 300), 'png', { 'img-1': 'x' })).toMatch(/neither in the state nor in a question/);
    expect(ask(png(300, 300), 'png', ['look at img-1 please'])).toBe('accepted');
  });

  it.each<[string, () => string, RegExp]>([
    ['one pixel too small', () => ask(png(279, 300), 'png'), /279 x 300/],
    ['one pixel too large', () => ask(jpeg(300, 1569), 'jpeg'), /300 x 1569/],
    ['called by another name', () => ask(png(300, 300), 'jpeg'), /is a png, not a jpeg/],
    ['of another kind', () => ask(Buffer.from('GIF89a'.padEnd(64, '\0')), 'png'), /neither a PNG nor a JPEG/],
    ['in an unknown format', () => ask(png(300, 300), 'webp'), /neither "png" nor "jpeg"/],
    ['animated', () => ask(png(300, 300, true), 'png'), /animated/],
    ['too many bytes', () => ask(Buffer.concat([png(300, 300), Buffer.alloc(4096)]), 'png'), /more than 4096 bytes/],
    [
      'not base64',
      () =>
        refusal(
          {
            state: 'img-1',
            questions: { q: noul },
            assets: { 'img-1': { type: 'image', format: 'png', data_base64: '!!!!' } },
          },
          withImages,
        ),
      /not base64/,
    ],
    ['with a key too many', () => ask(png(300, 300), 'png', 'img-1', { url: 'http://x' }), /unknown key url/],
    ['cut off', () => ask(png(300, 300).subarray(0, 20), 'png'), /neither a PNG nor a JPEG/],
    [
      'a JPEG without a frame',
      () => ask(Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'), 'jpeg'),
      /neither/,
    ],
  ])('%s is refused', (_, asked, says) => {
    expect(asked()).toMatch(says);
  });

  it('that is only noise is refused and never breaks the check', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (noise, asPng) => {
        const head = asPng ? png(300, 300).subarray(0, 16) : Buffer.from([0xff, 0xd8, 0xff]);
        expect(typeof ask(Buffer.concat([head, noise]), asPng ? 'png' : 'jpeg')).toBe('string');
      }),
    );
  });
});
