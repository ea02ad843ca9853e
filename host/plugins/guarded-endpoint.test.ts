import { MessageChannel } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answersOnly, serveOnly, type Wire } from './guarded-endpoint.ts';
import { connect, serve } from './peer.ts';
import { portWire } from './port-wire.ts';

/** A wire on which the test plays the hostile side. */
function hostileWire() {
  let deliver: (message: unknown) => void = () => {};
  const sent: unknown[] = [];
  const wire: Wire = {
    post: (message) => sent.push(message),
    listen: (listener) => (deliver = listener),
    close: () => {},
  };
  // What arrives over a port was copied; so are these.
  return { wire, sent, send: (message: unknown) => deliver(structuredClone(message)) };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const raw = (value: unknown) => ({ type: 'RAW', value });
const call = (over: Record<string, unknown> = {}) => ({
  id: '1-2',
  type: 'APPLY',
  path: ['get'],
  argumentList: [raw('a')],
  ...over,
});

/** Everything that a Comlink endpoint would act on, and what only looks like a call. */
const hostileCalls: [string, unknown][] = [
  ['GET of a field', call({ type: 'GET', path: ['secret'] })],
  ['GET of a method', call({ type: 'GET' })],
  ['GET of the root', call({ type: 'GET', path: [] })],
  ['SET of a method', call({ type: 'SET', value: raw(1) })],
  ['SET of the prototype', call({ type: 'SET', path: ['__proto__', 'polluted'], value: raw('yes') })],
  [
    'SET of a constructor’s prototype',
    call({ type: 'SET', path: ['constructor', 'prototype', 'polluted'], value: raw('yes') }),
  ],
  [
    'CONSTRUCT of a function',
    call({ type: 'CONSTRUCT', path: ['get', 'constructor'], argumentList: [raw('return 1')] }),
  ],
  ['CONSTRUCT of a method', call({ type: 'CONSTRUCT' })],
  ['ENDPOINT', call({ type: 'ENDPOINT', path: [] })],
  ['RELEASE', call({ type: 'RELEASE', path: [] })],
  ['an unknown kind', call({ type: 'DELETE' })],
  ['APPLY of a constructor', call({ path: ['get', 'constructor'], argumentList: [raw('return 1')] })],
  ['APPLY of constructor by one name', call({ path: ['constructor'] })],
  ['APPLY of an inherited method', call({ path: ['toString'] })],
  ['APPLY of hasOwnProperty', call({ path: ['hasOwnProperty'] })],
  ['APPLY of __proto__', call({ path: ['__proto__'] })],
  ['APPLY through bind', call({ path: ['get', 'bind'] })],
  ['APPLY of the root', call({ path: [] })],
  ['APPLY with a name that is an object', call({ path: [{ toString: 'get' }] })],
  ['APPLY with a path that is text', call({ path: 'get' })],
  ['APPLY with a path that looks like a list', call({ path: { 0: 'get', length: 1 } })],
  ['APPLY without a path', call({ path: undefined })],
  ['APPLY without arguments', call({ argumentList: undefined })],
  ['APPLY with arguments that look like a list', call({ argumentList: { length: 1, 0: raw('a') } })],
  ['APPLY with too many arguments', call({ argumentList: Array.from({ length: 9 }, () => raw('a')) })],
  ['APPLY with a proxy', call({ argumentList: [{ type: 'HANDLER', name: 'proxy', value: {} }] })],
  [
    'APPLY with a thrown value',
    call({ argumentList: [{ type: 'HANDLER', name: 'throw', value: { isError: false, value: 1 } }] }),
  ],
  ['APPLY with an unknown handler', call({ argumentList: [{ type: 'HANDLER', name: 'nope', value: 1 }] })],
  ['APPLY with an argument that is no value', call({ argumentList: ['a'] })],
  ['APPLY with a hole for an argument', call({ argumentList: new Array(1) })],
  ['APPLY with an object', call({ argumentList: [raw({ a: 1 })] })],
  ['APPLY with a list', call({ argumentList: [raw(['a'])] })],
  ['APPLY with a map', call({ argumentList: [raw(new Map([['a', 1]]))] })],
  ['APPLY with a date', call({ argumentList: [raw(new Date(0))] })],
  ['APPLY with an error', call({ argumentList: [raw(new TypeError('x'))] })],
  ['APPLY with a regular expression', call({ argumentList: [raw(/a/)] })],
  ['APPLY with a big integer', call({ argumentList: [raw(1n)] })],
  ['APPLY with shared memory', call({ argumentList: [raw(new Uint8Array(new SharedArrayBuffer(4)))] })],
  ['APPLY with too long a text', call({ argumentList: [raw('x'.repeat(1001))] })],
  [
    'APPLY with a small view of a large buffer',
    call({ argumentList: [raw(new Uint8Array(new ArrayBuffer(2000), 0, 1))] }),
  ],
  [
    'APPLY with several texts that are too long together',
    call({ argumentList: [raw('x'.repeat(600)), raw('x'.repeat(600))] }),
  ],
  ['APPLY without an id', call({ id: undefined })],
  ['APPLY with an empty id', call({ id: '' })],
  ['APPLY with an id that is an object', call({ id: { a: 1 } })],
  ['APPLY with a long id', call({ id: 'x'.repeat(100) })],
  ['an answer', { id: '1-2', ...raw('a') }],
  ['nothing', undefined],
  ['null', null],
  ['a number', 7],
  ['a text', 'APPLY'],
  ['a list', [call()]],
];

describe('the serving side of the guarded endpoint', () => {
  it.each(hostileCalls)('does not act on %s, and says so once', async (_what, message) => {
    const hostile = hostileWire();
    const violations: string[] = [];
    const seen: unknown[] = [];
    const methods = { get: (...args: unknown[]) => seen.push(args), secret: 'kept' as never };
    serve(hostile.wire, methods as never, { maxSize: 1000, violated: (reason) => violations.push(reason) });
    hostile.send(message);
    await settled();
    expect(seen).toEqual([]);
    expect(hostile.sent).toEqual([]);
    expect(violations).toHaveLength(1);
    expect(({} as Record<string, unknown>).polluted).toBe(undefined);
  });

  it('acts on nothing but a call of a listed method, whatever arrives', async () => {
    const names = fc.constantFrom('get', 'constructor', '__proto__', 'prototype', 'toString', 'x');
    const kinds = fc.constantFrom('APPLY', 'GET', 'SET', 'CONSTRUCT', 'ENDPOINT', 'RELEASE', 'HANDLER', 'RAW');
    const value = fc.record({
      type: fc.constantFrom('RAW', 'HANDLER', 'x'),
      name: fc.constantFrom('proxy', 'throw'),
      value: fc.anything({ withBigInt: true, withMap: true, withDate: true }),
    });
    const message = fc.oneof(
      fc.anything({ withMap: true, withNullPrototype: true }),
      fc.record(
        {
          id: fc.oneof(fc.string(), fc.anything()),
          type: kinds,
          path: fc.array(names, { maxLength: 3 }),
          argumentList: fc.array(value, { maxLength: 3 }),
          value,
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(message, async (sent) => {
        const hostile = hostileWire();
        let called = 0;
        let violations = 0;
        serve(hostile.wire, { get: () => (called += 1) } as never, {
          maxSize: 1000,
          violated: () => (violations += 1),
        });
        try {
          hostile.send(sent);
        } catch {
          return; // It cannot be copied, so it can never arrive.
        }
        await new Promise((resolve) => setImmediate(resolve));
        expect(called + violations).toBe(1);
        const { type, path } = (sent ?? {}) as { type?: unknown; path?: unknown[] };
        if (called) expect([type, path]).toEqual(['APPLY', ['get']]);
      }),
      { numRuns: 300 },
    );
  });

  it('hands on plain values and bytes unchanged', async () => {
    const { port1, port2 } = new MessageChannel();
    const options = { maxSize: 1000, violated: (reason: string) => expect.fail(reason) };
    const echo = (...args: unknown[]) => ({ info: JSON.stringify(args.map(String)), data: args[3] });
    serve(portWire(port1), { echo } as never, options);
    const caller = connect(portWire(port2), ['echo'], options);
    const answer = await caller.call('echo', 'a', 1, null, new Uint8Array([1, 2]), true, undefined);
    expect(answer).toEqual({ info: '["a","1","null","1,2","true","undefined"]', data: new Uint8Array([1, 2]) });
    port1.close();
  });
});

const answer = (over: Record<string, unknown>) => ({ id: 'will be set', ...over });
const hostileAnswers: [string, Record<string, unknown>][] = [
  ['a proxy', answer({ type: 'HANDLER', name: 'proxy', value: {} })],
  ['an unknown handler', answer({ type: 'HANDLER', name: 'nope', value: {} })],
  ['a handler named by the prototype', answer({ type: 'HANDLER', name: '__proto__', value: {} })],
  ['a thrown value of no kind', answer({ type: 'HANDLER', name: 'throw', value: { value: 1 } })],
  ['a thrown value that is a list', answer({ type: 'HANDLER', name: 'throw', value: [] })],
  ['a thrown error that is none', answer({ type: 'HANDLER', name: 'throw', value: { isError: true, value: 'x' } })],
  [
    'a thrown object of depth',
    answer({ type: 'HANDLER', name: 'throw', value: { isError: false, value: { a: { b: 1 } } } }),
  ],
  ['a deep object', answer(raw({ a: { b: { c: 1 } } }))],
  ['a thenable’s shape with a map', answer(raw(new Map()))],
  ['an own __proto__', answer(raw(JSON.parse('{"__proto__":{"polluted":1}}')))],
  ['an object with many members', answer(raw(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [i, 1]))))],
  ['too long a text', answer(raw('x'.repeat(1001)))],
  ['a call', answer({ type: 'APPLY', path: ['get'], argumentList: [] })],
  ['no kind', answer({})],
];

describe('the calling side of the guarded endpoint', () => {
  it.each(hostileAnswers)('does not take %s for an answer', async (_what, message) => {
    const hostile = hostileWire();
    const violations: string[] = [];
    const caller = connect(hostile.wire, ['get'], { maxSize: 1000, violated: (reason) => violations.push(reason) });
    const pending = caller.call('get', 'a');
    let settledWith: unknown = 'nothing';
    pending.then(
      (value) => (settledWith = value),
      (error) => (settledWith = error),
    );
    const [request] = hostile.sent as { id: string }[];
    hostile.send({ ...message, id: request!.id });
    await settled();
    expect(settledWith).toBe('nothing');
    expect(violations).toHaveLength(1);
    caller.fail(new Error('ended'));
    await expect(pending).rejects.toThrow('ended');
  });

  it('takes an error’s text, bounded, and nothing else of it', async () => {
    const hostile = hostileWire();
    const caller = connect(hostile.wire, ['get'], { maxSize: 10_000, violated: (reason) => expect.fail(reason) });
    const pending = caller.call('get');
    const [request] = hostile.sent as { id: string }[];
    const value = { name: 'E', message: 'm'.repeat(9000), stack: 'host path', code: 'ADMIN', cause: { a: 1 } };
    hostile.send({ id: request!.id, type: 'HANDLER', name: 'throw', value: { isError: true, value } });
    const error = (await pending.catch((caught) => caught)) as Error & { code?: unknown };
    expect(error.message).toHaveLength(4096);
    expect([error.stack, error.code, error.cause]).toEqual(['', undefined, undefined]);
  });

  it('ignores answers to what was not asked, and second answers', async () => {
    const hostile = hostileWire();
    const caller = connect(hostile.wire, ['get'], { maxSize: 1000, violated: (reason) => expect.fail(reason) });
    const pending = caller.call('get');
    const [request] = hostile.sent as { id: string }[];
    hostile.send({ id: 'other', ...raw('wrong') });
    hostile.send({ id: request!.id, ...raw('first') });
    hostile.send({ id: request!.id, ...raw('second') });
    expect(await pending).toBe('first');
  });

  it('rejects every pending call at once when the other side is gone, and every later one', async () => {
    const caller = connect(hostileWire().wire, ['get'], { maxSize: 1000, violated: () => {} });
    const pending = Array.from({ length: 1000 }, () => caller.call('get'));
    caller.fail(new Error('gone'));
    const outcomes = await Promise.allSettled(pending);
    expect(outcomes.every((outcome) => outcome.status === 'rejected')).toBe(true);
    await expect(caller.call('get')).rejects.toThrow('gone');
    expect(caller.pending).toBe(0);
  });

  it('calls no method that is not in the contract', async () => {
    const hostile = hostileWire();
    const caller = connect(hostile.wire, ['get'], { maxSize: 1000, violated: () => {} });
    await expect(caller.call('constructor')).rejects.toThrow('not in the contract');
    expect(hostile.sent).toEqual([]);
  });
});

describe('the endpoint itself', () => {
  it('stops delivering once it was let go', () => {
    const hostile = hostileWire();
    const endpoint = serveOnly(hostile.wire, new Set(['get']), { maxSize: 10, violated: () => {} });
    const seen: unknown[] = [];
    const listener = (event: unknown) => seen.push(event);
    endpoint.addEventListener('message', listener as never);
    hostile.send(call());
    endpoint.removeEventListener('message', listener as never);
    hostile.send(call());
    expect(seen).toHaveLength(1);
  });

  it('never passes on the message that arrived, only what it made of it', () => {
    const hostile = hostileWire();
    const endpoint = answersOnly(hostile.wire, { maxSize: 100, violated: () => {} });
    let data: unknown;
    endpoint.addEventListener('message', ((event: { data: unknown }) => (data = event.data)) as never);
    hostile.send({ id: 'a', type: 'RAW', value: 1, extra: 'x', path: ['get'] });
    expect(data).toEqual({ id: 'a', type: 'RAW', value: 1 });
  });
});
