/**
 * What runs inside QuickJS before the program: the names that a program may use, and the two ends of its only wire.
 *
 * `send(kind, text)` leaves the sandbox and gives a number; `receive(number, ok, text)` brings the answer. Both carry
 * strings only. Everything the prelude needs later it takes hold of first, so that a program that replaces built-ins
 * confuses no one but itself. It is an expression: a function that the machine calls with `send`.
 */
export const PRELUDE = `(function (send, inputText, namesText) {
  'use strict';
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { isFinite: finite } = Number;
  const { keys, getPrototypeOf, defineProperty, freeze } = Object;
  const { apply } = Reflect;
  const ObjectPrototype = Object.prototype;
  const Failure = Error, Bad = TypeError, P = Promise, Text = String;
  const then = Promise.prototype.then;
  const slice = String.prototype.slice;
  const pendingGet = Map.prototype.get, pendingSet = Map.prototype.set, pendingDelete = Map.prototype.delete;
  const pending = new Map();

  // A hook on stacks would be handed the functions of this file.
  defineProperty(Failure, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });

  // The failure is made while the program's own line is on the stack; when the answer comes, only this file is.
  const ask = (kind, text) => new P((resolve, reject) => {
    apply(pendingSet, pending, [send(kind, text), { resolve, reject, failure: new Failure('') }]);
  });

  const check = (value, label, depth, count) => {
    if (++count.nodes > 100000 || depth > 32) throw new Failure(label + ' exceeds JSON complexity limits');
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
    if (typeof value === 'number' && finite(value)) return;
    if (typeof value === 'object') {
      const prototype = getPrototypeOf(value);
      if (isArray(value)) {
        for (let index = 0; index < value.length; index++) check(value[index], label, depth + 1, count);
        return;
      }
      if (prototype === null || prototype === ObjectPrototype) {
        const names = keys(value);
        for (let index = 0; index < names.length; index++) check(value[names[index]], label, depth + 1, count);
        return;
      }
    }
    throw new Failure(label + ' must contain only finite JSON values');
  };
  const encode = (value, label, most) => {
    check(value, label, 0, { nodes: 0 });
    const text = stringify(value);
    if (text.length > most) throw new Failure(label + ' exceeds ' + most + ' bytes');
    return text;
  };

  const call = async (ref, args, label) =>
    parse(await ask('call', encode({ ref, args: args === undefined ? {} : args }, label, 1048576)));
  const invalidCall = 'Invalid Jev program tool call';
  const tools = freeze({
    async call(request) {
      if (typeof request !== 'object' || request === null || typeof request.ref !== 'string') throw new Failure(invalidCall);
      const names = keys(request);
      for (let index = 0; index < names.length; index++)
        if (names[index] !== 'ref' && names[index] !== 'args') throw new Failure(invalidCall);
      return call(request.ref, request.args, 'Tool arguments');
    },
  });
  const jev = freeze({ async evaluate(request) { return call('jev.evaluate', request, 'Jev request'); } });
  const program = freeze({
    async sleep(ms) { await ask('sleep', Text(typeof ms === 'number' ? ms : NaN)); },
    async emit(value) { await ask('emit', encode(value, 'Program event', 4096)); },
    async nextEvent() { return parse(await ask('nextEvent', '')); },
    async advise(advice) { return parse(await ask('advise', encode(advice === undefined ? null : advice, 'Program advice', 65536))); },
  });

  const show = (value) => {
    if (typeof value === 'string') return value;
    try {
      if (value instanceof Failure) return Text(value.name) + ': ' + Text(value.message);
      if (typeof value === 'object' && value !== null) { const text = stringify(value); if (typeof text === 'string') return text; }
      return Text(value);
    } catch { return '[unprintable]'; }
  };
  const write = (...values) => {
    let line = '';
    for (let index = 0; index < values.length; index++) line += (index ? ' ' : '') + show(values[index]);
    send('log', apply(slice, line, [0, 4096]));
  };
  const console = freeze({ log: write, info: write, warn: write, error: write, debug: write });

  const timers = new Map();
  let nextTimer = 1;
  const setTimeout = (callback, ms, ...values) => {
    if (typeof callback !== 'function') throw new Bad('setTimeout needs a function');
    const id = nextTimer++;
    const wire = send('timer', Text(typeof ms === 'number' && ms > 0 ? ms : 0));
    if (wire < 0) throw new Failure('Too many pending timers');
    apply(pendingSet, timers, [id, wire]);
    apply(pendingSet, pending, [wire, {
      resolve() { apply(pendingDelete, timers, [id]); apply(then, P.resolve(), [() => callback(...values)]); },
      reject() { apply(pendingDelete, timers, [id]); },
    }]);
    return id;
  };
  const clearTimeout = (id) => {
    const wire = apply(pendingGet, timers, [id]);
    if (wire === undefined) return;
    apply(pendingDelete, timers, [id]);
    apply(pendingDelete, pending, [wire]);
    send('clear', Text(wire));
  };
  const structuredClone = (value) => parse(encode(value, 'Cloned value', 4194304));

  const expose = (name, value) => defineProperty(globalThis, name, { value, writable: false, enumerable: true, configurable: false });
  const { proxies, refs } = parse(namesText);
  for (let index = 0; index < proxies.length; index++) {
    const provider = { __proto__: null };
    for (let at = 0; at < refs.length; at++) {
      const ref = refs[at];
      if (!ref.startsWith(proxies[index] + '.')) continue;
      const action = ref.slice(proxies[index].length + 1);
      defineProperty(provider, action, { value: async (args) => call(ref, args, 'Tool arguments'), enumerable: true });
    }
    expose(proxies[index], freeze(provider));
  }
  expose('input', parse(inputText));
  expose('jev', jev);
  expose('program', program);
  expose('tools', tools);
  expose('console', console);
  expose('setTimeout', setTimeout);
  expose('clearTimeout', clearTimeout);
  expose('structuredClone', structuredClone);

  const describe = (error) => {
    try {
      if (error instanceof Failure) {
        const name = Text(error.name), message = Text(error.message);
        return name === 'Error' ? message : message ? name + ': ' + message : name;
      }
      return show(error);
    } catch { return 'Unknown failure'; }
  };
  const where = (error) => {
    try {
      return error instanceof Failure && typeof error.stack === 'string' ? apply(slice, error.stack, [0, 4096]) : '';
    } catch { return ''; }
  };
  return {
    start(main) {
      apply(then, apply(then, main(), [(value) => encode(value, 'Program output', 32768)]), [
        (text) => { send('done', text); },
        (error) => { send('stack', where(error)); send('failed', apply(slice, describe(error), [0, 4096])); },
      ]);
    },
    receive(id, ok, text) {
      const waiting = apply(pendingGet, pending, [id]);
      if (waiting === undefined) return;
      apply(pendingDelete, pending, [id]);
      if (ok) waiting.resolve(text);
      else if (waiting.failure) {
        // Its own property from the start: no accessor of the program's is in the way.
        waiting.failure.message = text;
        waiting.reject(waiting.failure);
      } else waiting.reject();
    },
  };
})`;
