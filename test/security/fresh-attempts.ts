/**
 * A second set of ways out, written against the finished sandbox: what the engine, the bootstrap's own helpers and the
 * contract's objects would give away. Shaped like `escape-attempts.ts`.
 */
import type { Attempt } from './escape-attempts.ts';

export const freshAttempts: Attempt[] = [
  [
    'call sites of prepareStackTrace on an error of the host',
    `let sites; Error.prepareStackTrace = (_e, s) => { sites = s; return '' };
     try { await ctx.jev.evaluate({}) } catch (e) { void e.stack }
     return sites && sites.some((s) => s.getThis && s.getThis())`,
  ],
  [
    'call sites of an error of a granted call that is refused in the worker',
    `class E extends Error { static prepareStackTrace(_e, s) { return s } }
     Error.captureStackTrace && Error.captureStackTrace(E); return typeof E.stack === 'object' && E.stack[0].getFunction()`,
  ],
  ['the file names of a stack', `return /worker\\.cjs|piscina|node:internal/.test(new Error('x').stack)`],
  [
    'the file names of a rejected call’s stack',
    `try { await ctx.jev.evaluate({}); } catch (e) { return /worker\\.cjs|piscina|node:internal/.test(String(e.stack)) }`,
  ],
  [
    'the constructor of a host error’s details',
    `try { await ctx.jev.evaluate({}); } catch (e) { return e.details && e.details.constructor.constructor('return process')().pid }`,
  ],
  [
    'the prototype of a rejected call’s error',
    `try { await ctx.jev.evaluate({}); } catch (e) { Object.getPrototypeOf(e).mine = 1; return new Error().mine }`,
  ],
  [
    'the promise of a call',
    `const p = ctx.jev.evaluate({}); p.catch(() => {}); return p.constructor.constructor('return process')().pid`,
  ],
  [
    'the species of a call’s promise',
    `const p = ctx.jev.evaluate({}); p.catch(() => {});
     let seen; p.constructor = { [Symbol.species]: function (f) { seen = f; f(() => {}, () => {}) } };
     try { p.then(() => {}) } catch {} return seen && seen.constructor('return process')().pid`,
  ],
  [
    'an async generator’s queue',
    `async function* g() { yield* { [Symbol.asyncIterator]() { return { next: () => ({ get done() { return false }, get value() { return this.constructor.constructor('return process')() } }) } } } }
     for await (const v of g()) return v.pid`,
  ],
  [
    'a generator’s prototype chain',
    `const A = Object.getPrototypeOf(async function* () {}); return A.constructor('yield process')().next && (await A.constructor('yield process.pid')().next()).value`,
  ],
  [
    'a thenable that is returned to an await of the host',
    `let got; await { then(resolve) { got = resolve.constructor; resolve() } }; return got('return process')().pid`,
  ],
  ['import.meta', `return (0, eval)('imp' + 'ort.meta').url`],
  [
    'dynamic import through a template in a Function',
    'return await Function("s", "return imp" + "ort(s)")("node:process")',
  ],
  ['a tagged template’s raw strings', 'return ((s) => s.raw.constructor.constructor("return process")().pid)`x`'],
  [
    'growable shared memory through an ArrayBuffer option',
    `return new (new ArrayBuffer(8, { maxByteLength: 16 }).constructor.constructor('return SharedArrayBuffer')())(8)`,
  ],
  ['WebAssembly through globalThis', `return globalThis.WebAssembly.Module.name`],
  ['Atomics.wait on a plain buffer', `return Atomics.wait(new Int32Array(4), 0, 0, 1000)`],
  ['FinalizationRegistry', `return new FinalizationRegistry(() => {}).register({}, 1) === undefined && 'watched'`],
  ['WeakRef', `return new WeakRef({}).deref() && 'held'`],
  [
    'process.binding through a bound builtin',
    `return ctx.jev.evaluate.bind.constructor('return process.binding("fs")')()`,
  ],
  [
    'transferring a host buffer away',
    `const b = new TextEncoder().encode('x'); const c = structuredClone(b, { transfer: [b.buffer] }); return b.length === 0 && c.buffer.constructor.constructor('return process')().pid`,
  ],
  ['a port through structuredClone', `return structuredClone(new MessageChannel().port1, {}).postMessage`],
  [
    'the receiver of an event listener',
    `let self; ctx.signal.addEventListener('abort', function () { self = this }); return ctx.signal.dispatchEvent && ctx.signal.dispatchEvent({ type: 'abort' }) && self`,
  ],
  ['aborting one’s own signal', `ctx.signal.aborted = true; return ctx.signal.aborted`],
  ['the reason of the signal', `ctx.signal.reason = 'mine'; return ctx.signal.reason`],
  ['the facets’ prototype', `const p = Object.getPrototypeOf(ctx); p.mine = 1; return ctx.mine`],
  [
    'a facet’s method, replaced',
    `ctx.log.info = () => {}; return !/native|call/.test(String(ctx.log.info)) && ctx.log.info.name === 'info'`,
  ],
  ['one more facet', `ctx.storage.get = () => 'mine'; return ctx.storage.get() === 'mine'`],
  ['a capability that was not granted, by its method’s name', `return await ctx.storage.get('key')`],
  ['a call named by the wire', `return await ctx.log.constructor('return this')().call('host.sleep')`],
  [
    'a request with a toJSON that sees its caller',
    `let seen; try { await ctx.jev.evaluate({ toJSON() { seen = this.constructor.constructor; return {} } }) } catch {}
     return seen('return process')().pid`,
  ],
  [
    'a request that is a proxy',
    `let got; const p = new Proxy({}, { get(_t, k, r) { got = r; return undefined }, ownKeys() { return ['constructor'] }, getOwnPropertyDescriptor() { return { enumerable: true, configurable: true, value: 1 } } });
     try { await ctx.jev.evaluate(p) } catch {} return got && got !== p && got.process`,
  ],
  ['a tool’s name that is an object', `return await ctx.tools.call({ toString() { return 'page_observe' } }, {})`],
  ['a name with a trick in it', `return await ctx.tools.call('page_observe\\u202e', {})`],
  ['a name on the prototype', `return await ctx.tools.call('__proto__', {})`],
  [
    'the realm’s stack limit',
    `return (() => { try { (function f() { f() })() } catch (e) { return e.constructor.constructor('return process')().pid } })()`,
  ],
  [
    'a RangeError of the engine',
    `try { 'x'.repeat(2 ** 30) } catch (e) { return e.constructor.constructor('return process')().pid }`,
  ],
  [
    'an out-of-memory of a buffer',
    `try { new ArrayBuffer(2 ** 53) } catch (e) { return e.constructor.constructor('return process')().pid }`,
  ],
  ['Symbol.for registry of the host', `return Symbol.for('nodejs.util.inspect.custom') in ctx.log.info`],
  [
    'console with an inspected object',
    `let got; console.log({ [Symbol.for('nodejs.util.inspect.custom')](_d, o, i) { got = i; return 'x' } }); return got && got.constructor`,
  ],
  [
    'console with a getter',
    `let got; console.log({ get a() { got = new Error().stack; return 1 } }); return got && /piscina|node:internal/.test(got)`,
  ],
  [
    'the constructor of a timer’s id',
    `const t = setTimeout(() => {}, 1); return t.constructor.constructor('return process')().pid`,
  ],
  [
    'a timer with a string',
    `globalThis.hit = 0; setTimeout('hit = 1', 0); await new Promise((r) => setTimeout(r, 20)); return globalThis.hit`,
  ],
  [
    'the arguments of a timer’s call',
    `return await new Promise((r) => setTimeout(function () { r(this && this.constructor && this.constructor.name === 'Timeout') }, 0))`,
  ],
  ['queueMicrotask’s receiver', `return await new Promise((r) => queueMicrotask(function () { r(this) }))`],
  ['Intl’s locale of the machine', `return new Intl.NumberFormat().resolvedOptions().locale !== 'en-US' && 'told'`],
  ['the collator’s realm', `return Intl.Collator && Intl.Collator.constructor('return process')().pid`],
  ['toLocaleString of a date', `return new Date(0).toLocaleString() && new Date(0).getTimezoneOffset() && 'zone'`],
  ['the harden of the bootstrap', `return harden.constructor('return process')().pid`],
  ['assert of the bootstrap', `return assert.constructor('return process')().pid`],
  [
    'a Compartment with the start’s module hooks',
    `return await new Compartment({ __options__: true, importHook: () => ({ imports: [], exports: [], execute() {} }) }).import('node:fs').then((ns) => (ns.namespace ?? ns).readFileSync)`,
  ],
  ['the bundle’s own function', `return module && module.constructor.constructor('return process')().pid`],
  [
    'this of the bundle',
    `return (function () { return typeof exports === 'object' && exports.constructor.constructor('return process')() })().pid`,
  ],
];
