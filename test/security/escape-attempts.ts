/**
 * Ways out of a sandbox, as bodies of async functions with a run's `ctx`. Each returns evidence (something truthy) when it
 * got what a plugin must not have; a throw, or nothing, means that it was refused.
 */
export type Attempt = readonly [what: string, body: string];

/** Reaching the machine: process, modules, files, network, other threads. */
const machine: Attempt[] = [
  ['the process object', `return process.pid`],
  ['the process object through globalThis', `return globalThis.process.version`],
  ['require', `return require('node:fs').readFileSync('/etc/hostname', 'utf8')`],
  ['require through the module', `return module.require('node:fs').constants`],
  ['the module loader through module.constructor', `return module.constructor._load('node:fs')`],
  ['the main module', `return require.main.filename`],
  ['Buffer', `return Buffer.from('x')`],
  ['global', `return global.process`],
  ['self and window', `return (typeof self === 'object' && self.process) || window.process`],
  ['fetch', `return typeof fetch === 'function' && fetch.name`],
  ['WebSocket and XMLHttpRequest', `return typeof WebSocket === 'function' || typeof XMLHttpRequest === 'function'`],
  ['Worker', `return typeof Worker === 'function'`],
  ['MessageChannel', `return new MessageChannel().port1`],
  ['BroadcastChannel', `return new BroadcastChannel('x').name`],
  [
    'postMessage to the host',
    `return typeof postMessage === 'function' || (typeof parentPort === 'object' && parentPort)`,
  ],
  ['WebAssembly', `return new WebAssembly.Memory({ initial: 1 }).buffer`],
  ['shared memory', `return new SharedArrayBuffer(8).byteLength`],
  ['Atomics', `return typeof Atomics === 'object' && Atomics.wait`],
  ['setImmediate', `return typeof setImmediate === 'function'`],
  ['navigator', `return navigator.hardwareConcurrency`],
  ['crypto', `return crypto.randomUUID()`],
  ['performance', `return performance.now()`],
  ['process.binding through a constructor', `return (() => {}).constructor('return process')().binding('fs')`],
];

/** Making code that runs outside. */
const code: Attempt[] = [
  ['Function', `return Function('return process')().pid`],
  ['new Function with this', `return new Function('return this')().process.pid`],
  ['a function’s constructor', `return (function () {}).constructor('return process')().pid`],
  ['an arrow’s constructor', `return (() => {}).constructor('return process')().pid`],
  ['an async function’s constructor', `return (await (async () => {}).constructor('return process')()).pid`],
  ['a generator’s constructor', `return (function* () {}).constructor('return process')().next().value.pid`],
  [
    'an async generator’s constructor',
    `return (await (async function* () {}).constructor('return process')().next()).value.pid`,
  ],
  ['a class’s constructor', `return (class {}).constructor('return process')().pid`],
  ['a bound function’s constructor', `return (() => {}).bind(null).constructor('return process')().pid`],
  ['globalThis.constructor.constructor', `return globalThis.constructor.constructor('return process')().pid`],
  [
    'Reflect.construct of a found Function',
    `return Reflect.construct((() => {}).constructor, ['return process'])().pid`,
  ],
  ['indirect eval', `return (0, eval)('process').pid`],
  ['eval through globalThis', `return globalThis['eval']('process.pid')`],
  ['an import made by Function', `return await new Function('return imp' + 'ort("node:fs")')()`],
  ['an import made by eval', `return await (0, eval)('imp' + 'ort("node:fs")')`],
  ['an import hidden by a comment', `return await (0, eval)('imp' + 'ort/**/("node:fs")')`],
  ['an import hidden by a line comment', `return await (0, eval)('imp' + 'ort//\\n("node:fs")')`],
  ['an import behind an html comment', `return await (0, eval)('0 <' + '!-- \\nimp' + 'ort("node:fs")')`],
  [
    'a timer that takes code',
    `globalThis.got = undefined; setTimeout('globalThis.got = 1'); await new Promise((r) => setTimeout(r, 5)); return globalThis.got`,
  ],
  [
    'replacing eval to see the scope',
    `let seen; Object.defineProperty(globalThis, 'eval', { value: (x) => { seen = x } }); (0, eval)('process'); return typeof process === 'object' && seen`,
  ],
  ['an inner compartment', `return new Compartment({ globals: {}, __options__: true }).evaluate('process').pid`],
  [
    'an inner compartment’s constructor',
    `return new Compartment().globalThis.Function.constructor('return process')().pid`,
  ],
  ['lockdown again, with softer options', `lockdown({ evalTaming: 'unsafe-eval' }); return 'locked down again'`],
];

/** Climbing from what was endowed to the realm that made it. */
const endowments: Attempt[] = [
  ...[
    'console.log',
    'setTimeout',
    'clearTimeout',
    'queueMicrotask',
    'URL',
    'URL.canParse',
    'URLSearchParams',
    'TextEncoder',
    'structuredClone',
    'AbortController',
    'AbortSignal.any',
    'Intl.Segmenter',
    'harden',
    'ctx.log.info',
    'ctx.jev.evaluate',
    'ctx.signal.addEventListener',
  ].map((path): Attempt => [`the constructor of ${path}`, `return ${path}.constructor('return process')().pid`]),
  ['the signal’s class', `return ctx.signal.constructor.constructor('return process')().pid`],
  ['making a signal', `return new ctx.signal.constructor()`],
  ['the clone’s realm', `return structuredClone({}).constructor.constructor('return process')().pid`],
  ['the encoder’s bytes', `return new TextEncoder().encode('x').constructor.constructor('return process')().pid`],
  [
    'a capability’s promise',
    `return ctx.log.info('x')?.constructor || ctx.jev.evaluate({}).catch(() => {}).constructor.constructor('return process')().pid`,
  ],
  [
    'a capability’s error',
    `try { await ctx.jev.evaluate({}) } catch (e) { return e.constructor.constructor('return process')().pid }`,
  ],
  [
    'a capability’s error, its details',
    `try { await ctx.jev.evaluate({}) } catch (e) { return e.details.constructor.constructor('return process')().pid }`,
  ],
  [
    'the host’s stack in an error',
    `try { await ctx.jev.evaluate({}) } catch (e) { return /node_modules|host\\/plugins|file:|\\.cjs/.test(String(e.stack)) && e.stack }`,
  ],
  [
    'the inspect hook',
    `let got; console.log({ [Symbol.for('nodejs.util.inspect.custom')](...a) { got = a } }); return got`,
  ],
  ['internal symbols of a decoder', `return Object.getOwnPropertySymbols(new TextDecoder()).length > 0`],
  ['internal symbols of an address', `return Object.getOwnPropertySymbols(new URL('http://a/')).length > 0`],
  ['internal symbols of a signal', `return Object.getOwnPropertySymbols(ctx.signal).length > 0`],
  [
    'the error class of a bad address',
    `try { new URL('::') } catch (e) { return e.code || e.constructor !== TypeError }`,
  ],
  [
    'the error class of a bad clone',
    `try { structuredClone(() => {}) } catch (e) { return e.constructor !== TypeError }`,
  ],
  ['a timer’s object', `return typeof setTimeout(() => {}, 1) === 'object'`],
  ['object URLs', `return typeof URL.createObjectURL === 'function'`],
];

/** Walking the stack. */
const stack: Attempt[] = [
  ['arguments.callee', `return (function () { return arguments.callee })()`],
  ['a function’s caller', `return (function f() { return f.caller })()`],
  ['this in a plain function', `return (function () { return this })()`],
  [
    'prepareStackTrace',
    `let got; Error.prepareStackTrace = (_, sites) => { got = sites.map((s) => s.getThis() || s.getFunction()).find(Boolean) }; new Error().stack; return got`,
  ],
  [
    'captureStackTrace with prepareStackTrace',
    `const o = {}; Error.prepareStackTrace = (_, s) => s; Error.captureStackTrace(o); return Array.isArray(o.stack) && o.stack[0].getFileName()`,
  ],
  ['stackTraceLimit', `Error.stackTraceLimit = Infinity; return /worker|piscina/.test(String(new Error().stack))`],
  [
    'the stack of a host function that overflows',
    `function f() { f() } try { f() } catch (e) { return e.constructor.constructor('return process')().pid }`,
  ],
  ['scope through unscopables', `globalThis[Symbol.unscopables] = { process: false }; return process.pid`],
  ['a legacy RegExp static', `/(secret)/.test('secret'); return RegExp.$1 || RegExp.lastMatch`],
];

/** Poisoning what every run of the worker shares. */
const pollution: Attempt[] = [
  ['Object.prototype', `Object.prototype.polluted = 1; return {}.polluted`],
  ['Object.prototype through __proto__', `({}).__proto__.polluted = 1; return {}.polluted`],
  [
    'Object.prototype by definition',
    `Object.defineProperty(Object.prototype, 'polluted', { value: 1 }); return {}.polluted`,
  ],
  [
    'Object.prototype by a getter',
    `({}).__defineGetter__.call(Object.prototype, 'polluted', () => 1); return {}.polluted`,
  ],
  ['the prototype of Object.prototype', `return Reflect.setPrototypeOf(Object.prototype, { polluted: 1 })`],
  [
    'Array.prototype',
    `const map = Array.prototype.map; Array.prototype.map = () => 'mine'; const got = [].map(map); return got === 'mine'`,
  ],
  ['Promise.prototype.then', `Promise.prototype.then = () => {}; return Promise.prototype.then.toString().length < 20`],
  ['Function.prototype.call', `Function.prototype.call = () => {}; return Function.prototype.call.name === ''`],
  ['JSON', `JSON.parse = () => 'mine'; return JSON.parse('1') === 'mine'`],
  ['Reflect', `Reflect.apply = () => 'mine'; return Reflect.apply() === 'mine'`],
  ['Symbol', `Symbol.mine = 1; return Symbol.mine`],
  ['typed arrays', `Object.getPrototypeOf(Uint8Array.prototype).mine = 1; return new Uint8Array(1).mine`],
  [
    'the iterator prototype',
    `Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())).mine = 1; return [][Symbol.iterator]().mine`,
  ],
  ['the URL class', `URL.prototype.mine = 1; return new URL('http://a/').mine`],
  ['the URL class’s statics', `URL.mine = 1; return URL.mine`],
  [
    'the parameters’ iterator',
    `Object.getPrototypeOf(new URLSearchParams('a=1').entries()).mine = 1; return new URLSearchParams('a=1').entries().mine`,
  ],
  ['the signal’s prototype', `Object.getPrototypeOf(ctx.signal).mine = 1; return ctx.signal.mine`],
  [
    'the words’ iterator',
    `Object.getPrototypeOf(new Intl.Segmenter('en').segment('a')[Symbol.iterator]()).mine = 1; return 'kept'`,
  ],
  ['the words’ class', `Intl.Segmenter.prototype.mine = 1; return 'kept'`],
  ['the context', `ctx.jev.evaluate = () => 'mine'; return ctx.jev.evaluate() === 'mine'`],
  ['the run’s settings', `ctx.run.settings.mine = 1; return ctx.run.settings.mine`],
  ['the run’s identity', `ctx.run.pluginId = 'other'; return ctx.run.pluginId === 'other'`],
  [
    'harden',
    `globalThis.harden = (x) => x; const o = new Compartment().globalThis.harden; return o === globalThis.harden`,
  ],
];

/** Time and chance, which were not granted here, and time zones, which nobody is. */
const ambient: Attempt[] = [
  ['Date.now', `return Date.now()`],
  ['new Date', `return +new Date()`],
  ['Date called', `return Date()`],
  ['Math.random', `return String(Math.random())`],
  ['the clock through Intl', `return new Intl.DateTimeFormat().format()`],
  ['the time zone', `return Intl.DateTimeFormat().resolvedOptions().timeZone`],
  ['the clock facet without a grant', `return ctx.clock.now()`],
  ['the random facet without a grant', `return ctx.random.uuid()`],
  ['a facet that was not asked for', `return await ctx.storage.get('key')`],
  ['another one', `return await ctx.tools.call('page_click', {})`],
  ['the network facet', `return await ctx.http.fetch({ url: 'https://example.com' })`],
];

export const attempts: readonly Attempt[] = [...machine, ...code, ...endowments, ...stack, ...pollution, ...ambient];

/** Whole files that must not even start, or must not get anything while they do. */
export const entryFiles: readonly Attempt[] = [
  ['a dynamic import', `exports.default = { id: 'escape', kind: 'controller', run: () => import('node:fs') }`],
  [
    'an import with a comment',
    `exports.default = { id: 'escape', kind: 'controller', run: () => import/**/('node:fs') }`,
  ],
  ['a direct eval', `exports.default = { id: 'escape', kind: 'controller', run: () => eval('process') }`],
  [
    'require at the top',
    `const fs = require('node:fs'); exports.default = { id: 'escape', kind: 'controller', run: () => fs }`,
  ],
  [
    'process at the top',
    `const pid = process.pid; exports.default = { id: 'escape', kind: 'controller', run: () => pid }`,
  ],
  ['another plugin’s id', `exports.default = { id: 'other', kind: 'controller', run: () => 1 }`],
  ['another kind', `exports.default = { id: 'escape', kind: 'helper', tools: { run: () => 1 } }`],
  ['no plugin', `exports.default = 1`],
  ['the wrapper closed early', `}); process.exit(3); (function () {`],
  ['a getter that throws', `Object.defineProperty(exports, 'default', { get() { throw new Error('no') } })`],
];
