/** Hostile programs and how each must end. */
export interface HostileProgram {
  what: string;
  code: string;
  /** `cut` ends either way: out of memory or out of time, whichever the machine reaches first. */
  state: 'completed' | 'failed' | 'timed_out' | 'cut';
  /** Part of the error. */
  error?: RegExp;
  /** The exact result, when completed. */
  result?: unknown;
  /** Never checks the clock inside the engine: only ending its worker helps. */
  needsWorker?: true;
}

const cpu = /uninterrupted CPU/;
const memory = /out of memory|engine|uninterrupted CPU/;
const stack = /stack overflow|Maximum call stack|uninterrupted CPU|engine/;

const escapes: HostileProgram[] = [
  {
    what: 'looks for the host in the global object',
    state: 'completed',
    result: [],
    code: `return Object.getOwnPropertyNames(globalThis).filter((name) => /^(process|require|fetch|WebAssembly|Worker|Deno|Bun|module|Buffer|XMLHttpRequest|WebSocket|programEngine|harden|Compartment|lockdown|std|os)$/.test(name));`,
  },
  {
    what: 'builds a function from text to reach the outer realm',
    state: 'completed',
    result: 'undefined undefined',
    code: `return Function('return typeof process + " " + typeof require')();`,
  },
  {
    what: 'climbs the constructors of what it was given',
    state: 'completed',
    result: 'undefined',
    code: `return tools.call.constructor.constructor('return typeof process')();`,
  },
  {
    what: 'climbs the constructors of its console',
    state: 'completed',
    result: 'undefined',
    code: `return console.log.constructor('return typeof process')();`,
  },
  {
    what: 'climbs from a rejected call',
    state: 'completed',
    result: 'undefined',
    code: `try { await tools.call({ ref: 'x.y' }); } catch (error) { return error.constructor.constructor('return typeof process')(); }`,
  },
  { what: 'imports a module', state: 'failed', error: /import|module|load/i, code: `return await import('node:fs');` },
  {
    what: 'imports the engine’s own libraries',
    state: 'failed',
    error: /import|module|load/i,
    code: `return await import('std');`,
  },
  { what: 'asks for WebAssembly', state: 'completed', result: 'undefined', code: 'return typeof WebAssembly;' },
  {
    what: 'imports through a function made from text',
    state: 'failed',
    error: /import|module|load/i,
    code: `return await Function('return import("std")')();`,
  },
  {
    what: 'stops its thread until nobody wakes it',
    state: 'cut',
    error: /Atomics|wait|CPU|blocked|not defined|SharedArrayBuffer/i,
    code: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0); return 1;',
  },
  {
    what: 'says what an error is, for ever',
    state: 'timed_out',
    error: cpu,
    code: `Object.defineProperty(Error, Symbol.hasInstance, { value() { for (;;); } }); throw 1;`,
  },
  {
    what: 'answers for ever when asked how long a stack may be',
    state: 'failed',
    error: /^x/,
    code: `Object.defineProperty(Error, 'stackTraceLimit', { get() { for (;;); } }); await program.sleep(0); throw new Error('x');`,
  },
  {
    what: 'gives its error a stack of megabytes',
    state: 'failed',
    error: /^x$/,
    code: `const error = new Error('x'); Object.defineProperty(error, 'stack', { value: '(program:1:'.repeat(1e6) }); throw error;`,
  },
  {
    what: 'gives its error a stack that never ends',
    state: 'timed_out',
    error: cpu,
    code: `const error = new Error('x'); Object.defineProperty(error, 'stack', { get() { for (;;); } }); throw error;`,
  },
  {
    what: 'makes descriptors of everything before a call is refused',
    state: 'completed',
    result: 'Capability not granted to Jev program: x.y',
    code: `Object.prototype.get = () => 1; Object.prototype.failure = 1;
      Object.defineProperty(Error.prototype, 'message', { __proto__: null, get: () => 'mine', set: () => undefined });
      let told; try { await tools.call({ ref: 'x.y' }); } catch (error) { told = error.message; }
      delete Object.prototype.get; delete Object.prototype.failure; return told;`,
  },
  {
    what: 'returns a promise in disguise that never settles',
    state: 'failed',
    error: /never happen/,
    code: 'return { then() {} };',
  },
  {
    what: 'returns a promise in disguise that settles twice and throws',
    state: 'completed',
    result: 1,
    code: 'return { then(resolve) { resolve(1); resolve(2); throw new Error("late"); } };',
  },
  {
    what: 'passes a promise in disguise across the border',
    state: 'failed',
    error: /finite JSON values/,
    code: `return await tools.call({ ref: 'a.b', args: { then(resolve) { resolve(1); } } });`,
  },
  {
    what: 'asks questions named after the machinery',
    state: 'failed',
    error: /invalid typed response|JEV_|Jev/,
    code: `return await jev.evaluate({ state: 's', questions: JSON.parse('{"__proto__":{"type":"noul","instructions":"x"}}') });`,
  },
  {
    what: 'sends __proto__ as an argument and gets it back as data',
    state: 'completed',
    result: [undefined, 'data'].map((value) => value ?? null),
    code: `const back = await tools.call({ ref: 'a.b', args: JSON.parse('{"__proto__":{"x":"data"}}') });
      return [({}).x ?? null, Object.getOwnPropertyDescriptor(back.args, '__proto__').value.x];`,
  },
  {
    what: 'recurses without end through promises',
    state: 'cut',
    error: /stack|memory|CPU|engine/,
    code: 'const f = async () => { await f(); }; await f(); return 1;',
  },
  {
    what: 'reads a number of a million digits',
    state: 'cut',
    error: /CPU|memory|engine|BigInt|large/i,
    code: `return String(BigInt('9'.repeat(1e6))).length;`,
  },
  {
    what: 'comes back from the dead when its garbage is collected',
    state: 'cut',
    error: /CPU|memory|stack|engine|not defined/,
    code: `const registry = new FinalizationRegistry(() => { for (;;); });
      for (;;) { registry.register({}, 1); await null; }`,
  },
  {
    what: 'asks the stack for the functions around it',
    state: 'completed',
    result: [],
    code: `const found = [];
      try { Error.prepareStackTrace = (_error, sites) => { found.push(...sites.map((site) => site.getFunction())); }; } catch {}
      try { Object.defineProperty(Error, 'prepareStackTrace', { value: (_error, sites) => { found.push(...sites); } }); } catch {}
      try { await program.emit(undefined); } catch (error) { String(error.stack); }
      try { await tools.call({ ref: 'x.y' }); } catch (error) { String(error.stack); }
      return found.map(String);`,
  },
  {
    what: 'evaluates indirectly',
    state: 'completed',
    result: 'undefined',
    code: `return (0, eval)('typeof process');`,
  },
  {
    what: 'reads where it runs from a stack',
    state: 'completed',
    result: false,
    code: `try { null.x; } catch (error) { return /node_modules|dist|\\/home|\\/work|file:/.test(error.stack); }`,
  },
  {
    what: 'reads where the host runs from a refused call',
    state: 'completed',
    result: false,
    code: `try { await program.sleep(-1); } catch (error) { return /node_modules|dist|\\/home|file:|run-program/.test(String(error.stack)); }`,
  },
  {
    what: 'closes the function around it and goes on outside',
    state: 'failed',
    error: /.*/,
    code: `}); globalThis.escaped = 1; (async () => {`,
  },
  {
    what: 'replaces the promise machinery to read answers',
    state: 'failed',
    error: /mine/,
    code: `Promise.prototype.then = () => { throw new Error('mine'); }; const answer = await tools.call({ ref: 'a.b', args: {} }); return answer;`,
  },
  {
    what: 'replaces JSON to forge its output',
    state: 'completed',
    result: 1,
    code: `JSON.stringify = () => '"forged"'; JSON.parse = () => 'forged'; return 1;`,
  },
  {
    what: 'replaces Map to reach pending calls',
    state: 'completed',
    result: { ref: 'a.b', args: {} },
    code: `Map.prototype.get = () => ({ resolve() {}, reject() {} }); Map.prototype.set = function () { return this; }; return await tools.call({ ref: 'a.b' });`,
  },
  {
    what: 'calls a reference it was not granted, under a granted one’s prototype',
    state: 'failed',
    error: /Capability not granted to Jev program: __proto__\.x/,
    code: `return await tools.call({ ref: '__proto__.x' });`,
  },
  {
    what: 'hands over a reference that changes while it is read',
    state: 'completed',
    result: { ref: 'a.b', args: {} },
    code: `let reads = 0; return await tools.call({ get ref() { return reads++ < 2 ? 'a.b' : 'pi.bash'; } });`,
  },
  {
    what: 'passes a reference that is no string',
    state: 'failed',
    error: /Invalid Jev program tool call/,
    code: `return await tools.call({ ref: { toString: () => 'a.b' } });`,
  },
  {
    what: 'redefines the names it was given',
    state: 'failed',
    error: /TypeError/,
    code: `'use strict'; globalThis.tools = { call: () => 1 }; return 1;`,
  },
  {
    what: 'changes the objects it was given',
    state: 'failed',
    error: /TypeError/,
    code: `'use strict'; program.emit = () => 1; return 1;`,
  },
  {
    what: 'keeps nothing for the next program',
    state: 'completed',
    result: 'undefined',
    code: `const before = typeof globalThis.left; globalThis.left = 1; Object.prototype.left = 1; return before;`,
  },
];

const prototypes: HostileProgram[] = [
  {
    what: 'pollutes through __proto__ in its output',
    state: 'completed',
    code: `return JSON.parse('{"__proto__":{"polluted":1}}');`,
  },
  {
    what: 'pollutes through constructor in an event',
    state: 'completed',
    result: null,
    code: `await program.emit(JSON.parse('{"constructor":{"prototype":{"polluted":1}}}')); return null;`,
  },
  {
    what: 'pollutes Object.prototype before it returns',
    state: 'completed',
    result: { a: 1 },
    code: `Object.prototype.toJSON = undefined; Object.prototype.polluted = 1; return { a: 1 };`,
  },
  {
    what: 'pollutes Array.prototype before it returns',
    state: 'completed',
    result: [1],
    code: `Array.prototype[1] = 'more'; return [1];`,
  },
  {
    what: 'returns an object whose prototype is its own',
    state: 'failed',
    error: /finite JSON values/,
    code: `return Object.create({ hidden: 1 });`,
  },
  {
    what: 'returns a proxy that answers differently each time',
    state: 'completed',
    code: `let n = 0; return new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => n++ });`,
  },
  {
    what: 'returns a proxy that never ends',
    state: 'timed_out',
    error: cpu,
    code: `return new Proxy({}, { ownKeys() { for (;;); } });`,
  },
  {
    what: 'returns a value whose toJSON never ends',
    state: 'failed',
    error: /finite JSON values/,
    code: `return { toJSON() { for (;;); } };`,
  },
  {
    what: 'returns a getter that never ends',
    state: 'timed_out',
    error: cpu,
    code: `return { get a() { for (;;); } };`,
  },
  {
    what: 'throws an error whose message never ends',
    state: 'timed_out',
    error: cpu,
    code: `const error = new Error('x'); Object.defineProperty(error, 'message', { get() { for (;;); } }); throw error;`,
  },
  {
    what: 'throws an error whose name throws',
    state: 'failed',
    error: /Unknown failure/,
    code: `const error = new Error('x'); Object.defineProperty(error, 'name', { get() { throw error; } }); throw error;`,
  },
  {
    what: 'throws something that cannot be shown',
    state: 'failed',
    error: /unprintable/,
    code: `throw { toString() { throw 1; }, toJSON() { throw 2; } };`,
  },
];

const json: HostileProgram[] = [
  {
    what: 'returns 20,000 levels',
    state: 'failed',
    error: /complexity/,
    code: `let deep = 0; for (let n = 0; n < 20000; n++) deep = [deep]; return deep;`,
  },
  { what: 'returns a cycle', state: 'failed', error: /complexity/, code: `const a = {}; a.a = a; return a;` },
  {
    what: 'returns 200,000 nodes',
    state: 'cut',
    error: /complexity|exceeds 32768 bytes|uninterrupted CPU/,
    code: `return Array(200000).fill(0);`,
  },
  {
    what: 'returns megabytes',
    state: 'failed',
    error: /Program output exceeds 32768 bytes/,
    code: `return 'x'.repeat(4e6);`,
  },
  {
    what: 'returns a sparse array of four billion',
    state: 'failed',
    error: /finite JSON values|complexity/,
    code: `return new Array(2 ** 32 - 1);`,
  },
  { what: 'returns NaN inside', state: 'failed', error: /finite JSON values/, code: `return { a: [1, NaN] };` },
  { what: 'returns a bigint', state: 'failed', error: /finite JSON values/, code: `return 1n;` },
  { what: 'returns half a character', state: 'completed', code: `return '\\ud800';` },
  {
    what: 'emits megabytes',
    state: 'failed',
    error: /Program event exceeds 4096 bytes/,
    code: `await program.emit('x'.repeat(5e6)); return null;`,
  },
  {
    what: 'passes megabytes to a tool',
    state: 'failed',
    error: /Tool arguments exceeds 1048576 bytes/,
    code: `return await tools.call({ ref: 'a.b', args: 'x'.repeat(5e6) });`,
  },
  {
    what: 'parses six megabytes',
    state: 'cut',
    error: memory,
    code: `const text = '[' + '{},'.repeat(2e6) + '0]'; const kept = []; for (;;) kept.push(JSON.parse(text));`,
  },
];

const time: HostileProgram[] = [
  { what: 'loops for ever', state: 'timed_out', error: cpu, code: 'for (;;) {}' },
  { what: 'loops for ever over nothing but microtasks', state: 'timed_out', error: cpu, code: 'for (;;) await null;' },
  {
    what: 'feeds itself promise jobs',
    state: 'timed_out',
    error: cpu,
    code: 'const again = () => Promise.resolve().then(again); await again();',
  },
  {
    what: 'doubles its promise jobs',
    state: 'cut',
    error: /uninterrupted CPU|out of memory/,
    code: 'const more = () => { Promise.resolve().then(more); Promise.resolve().then(more); }; more(); await new Promise(() => {});',
  },
  {
    what: 'catches its own interruption',
    state: 'timed_out',
    error: cpu,
    code: 'for (;;) { try { for (;;) {} } catch {} finally { continue; } }',
  },
  {
    what: 'loops in a generator',
    state: 'timed_out',
    error: cpu,
    code: 'function* f() { for (;;) yield 1; } for (const _ of f()) {}',
  },
  {
    what: 'loops in a getter of its arguments',
    state: 'timed_out',
    error: cpu,
    code: `await tools.call({ ref: 'a.b', args: { get x() { for (;;); } } });`,
  },
  {
    what: 'loops in the string of a log line',
    state: 'timed_out',
    error: cpu,
    code: `console.log({ toJSON() { for (;;); } }); return null;`,
  },
  {
    what: 'loops in a timer',
    state: 'timed_out',
    error: cpu,
    code: 'setTimeout(() => { for (;;) {} }, 1); await new Promise(() => {});',
  },
  {
    what: 'backtracks in a regular expression',
    state: 'timed_out',
    error: cpu,
    code: `return /(a+)+$/.test('a'.repeat(40) + 'b');`,
  },
  {
    what: 'backtracks over references',
    state: 'timed_out',
    error: cpu,
    code: `return /(.*)*x\\1y/.test('a'.repeat(40));`,
  },
  {
    what: 'raises a bigint to the sky',
    state: 'cut',
    error: /RangeError|out of memory|BigInt|uninterrupted CPU/,
    code: `let n = 2n; for (;;) n = n ** n;`,
  },
  {
    what: 'sorts with a comparison that never ends',
    state: 'timed_out',
    error: cpu,
    code: 'return [3, 1, 2].sort(() => { for (;;) {} });',
  },
  {
    what: 'searches an array that is only long',
    state: 'timed_out',
    error: cpu,
    code: `return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);`,
  },
  {
    what: 'overflows the stack inside catch, again and again',
    state: 'timed_out',
    error: cpu,
    code: 'function f() { try { return f() + 1; } catch { return f(); } } return f();',
  },
];

const space: HostileProgram[] = [
  { what: 'pushes for ever', state: 'cut', error: memory, code: 'const a = []; for (;;) a.push(a.slice());' },
  {
    what: 'keeps typed arrays',
    state: 'cut',
    error: memory,
    code: 'const a = []; for (;;) a.push(new Uint8Array(1e6));',
  },
  {
    what: 'keeps small typed arrays',
    state: 'cut',
    error: memory,
    code: 'const a = []; for (;;) a.push(new Uint8Array(512 * 1024).fill(1));',
  },
  {
    what: 'asks for a gigabyte',
    state: 'cut',
    error: /RangeError|out of memory|uninterrupted CPU/,
    code: 'return new ArrayBuffer(2 ** 30).byteLength;',
  },
  {
    what: 'doubles a string',
    state: 'cut',
    error: /InternalError|out of memory|too long|RangeError|uninterrupted CPU/,
    code: `let s = 'x'; for (;;) s += s;`,
  },
  {
    what: 'repeats a string half a billion times',
    state: 'cut',
    error: /RangeError|InternalError|out of memory|too long|invalid|uninterrupted CPU/,
    code: `return 'x'.repeat(2 ** 29).length;`,
  },
  {
    what: 'replaces every character by the whole string',
    needsWorker: true,
    state: 'cut',
    error: /out of memory|too long|InternalError|uninterrupted CPU/,
    code: `let s = 'x'.repeat(1000); for (;;) s = s.replaceAll('x', s);`,
  },
  {
    what: 'fills a map',
    state: 'cut',
    error: memory,
    code: 'const m = new Map(); for (let n = 0; ; n++) m.set(n, { n });',
  },
  {
    what: 'makes symbols',
    state: 'cut',
    error: memory,
    code: 'const a = []; for (let n = 0; ; n++) a.push(Symbol(String(n).repeat(50)));',
  },
  { what: 'overflows the stack', state: 'cut', error: stack, code: 'const f = () => f() + 1; return f();' },
  {
    what: 'overflows the stack in a getter',
    state: 'cut',
    error: stack,
    code: 'const o = { get a() { return this.a; } }; return o.a;',
  },
  {
    what: 'overflows the stack by flattening',
    state: 'cut',
    error: stack,
    code: 'let a = []; for (let n = 0; n < 1e5; n++) a = [a]; return a.flat(Infinity).length;',
  },
  { what: 'nests source code', state: 'cut', error: stack, code: `return eval('('.repeat(2e5));` },
  { what: 'nests arrays in source code', state: 'cut', error: stack, code: `return eval('['.repeat(2e5));` },
];

const floods: HostileProgram[] = [
  {
    what: 'starts 200 timers',
    state: 'failed',
    error: /Too many pending timers/,
    code: 'for (let n = 0; n < 200; n++) setTimeout(() => {}, 60000); return null;',
  },
  {
    what: 'sleeps 200 times at once',
    state: 'failed',
    error: /Too many pending timers/,
    code: 'await Promise.all(Array.from({ length: 200 }, () => program.sleep(50))); return null;',
  },
  {
    what: 'calls 100,000 tools at once',
    state: 'failed',
    error: /Too many pending host calls|tool-call budget exhausted/,
    code: `await Promise.all(Array.from({ length: 1e5 }, () => tools.call({ ref: 'a.b' }))); return null;`,
  },
  {
    what: 'emits for ever',
    state: 'failed',
    error: /tool-call budget exhausted/,
    code: 'for (;;) await program.emit(1);',
  },
  {
    what: 'emits without waiting',
    state: 'failed',
    error: /tool-call budget exhausted/,
    code: 'for (let n = 0; n < 1e5; n++) program.emit(n); await program.sleep(10); return null;',
  },
  { what: 'prints for ever', state: 'timed_out', error: cpu, code: `for (;;) console.log('x'.repeat(1000));` },
  {
    what: 'prints one enormous line',
    state: 'completed',
    result: null,
    code: `console.log('x'.repeat(8e6)); return null;`,
  },
  {
    what: 'evaluates in parallel and swallows the refusals',
    state: 'completed',
    code: `const q = { state: 's', questions: { q: { type: 'noul', instructions: 'x' } } }; return (await Promise.allSettled([1, 2, 3].map(() => jev.evaluate(q)))).length;`,
  },
  {
    what: 'goes on after its budget ended it',
    state: 'failed',
    error: /inference budget exhausted|invalid typed response/,
    code: `const q = { state: 's', questions: { q: { type: 'noul', instructions: 'x' } } }; for (;;) { try { await jev.evaluate(q); } catch {} }`,
  },
  {
    what: 'waits for what never comes',
    state: 'failed',
    error: /can never happen/,
    code: 'await new Promise(() => {});',
  },
  {
    what: 'clears timers that are not its own',
    state: 'completed',
    result: null,
    code: 'for (const id of [-1, 0, 1e9, NaN, "1", {}]) clearTimeout(id); return null;',
  },
  {
    what: 'leaves work behind when it returns',
    state: 'completed',
    result: 1,
    code: `program.sleep(60).then(() => { for (;;) {} }); tools.call({ ref: 'a.b' }); return 1;`,
  },
];

export const hostilePrograms: readonly HostileProgram[] = [
  ...escapes,
  ...prototypes,
  ...json,
  ...time,
  ...space,
  ...floods,
];

/** Whether a run ended as it must. */
export function endedAsItMust(one: HostileProgram, end: { state: string; error?: string | undefined }): boolean {
  const states = one.state === 'cut' ? ['failed', 'timed_out'] : [one.state];
  return states.includes(end.state) && (one.error === undefined || one.error.test(end.error ?? ''));
}
