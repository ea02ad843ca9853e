/**
 * The only door between a plugin and the host: a Comlink endpoint that lets calls of the contract through and nothing else.
 *
 * Threat: stock Comlink serves whatever the other side names. `CONSTRUCT ['get','constructor']` builds a function from text
 * in the host; `SET ['__proto__', …]` rewrites its objects; `GET` reads any field; `HANDLER` arguments carry ports on which
 * the other side would listen next. So a message is not passed on: it is taken apart, and only what is known to be harmless
 * is put together again. A call is `APPLY` of one listed name with flat values; an answer is one flat value, or an error of
 * bounded text. Everything else is a violation, which costs the plugin its worker. The cost of the guard is that no
 * callbacks, objects with methods or streams can cross: the contract has none.
 *
 * The other side is taken to control every byte that arrives here, in both directions: a sandbox that was escaped talks
 * to the host through this file only.
 */
import type { Endpoint } from 'comlink';

/** A duplex of messages: a port of a worker thread, or frames on a pipe to a process. */
export interface Wire {
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** One listener; messages that arrive before it are kept. */
  listen(listener: (message: unknown) => void): void;
  close(): void;
}

export interface GuardOptions {
  /** Characters and bytes that one message may carry. */
  maxSize: number;
  /** Told once per message that was refused. The reason holds nothing of the message itself. */
  violated(reason: string): void;
}

/** Values that a call may carry in one direction. */
const MAX_VALUES = 8;
/** Comlink's ids are four hexadecimal numbers. */
const MAX_ID_CHARS = 80;
/** Characters of an error's text that are passed on. */
const MAX_ERROR_CHARS = 4096;

class Violation extends Error {}
const violate = (reason: string): never => {
  throw new Violation(reason);
};

type Flat = null | undefined | boolean | number | string | Uint8Array | { [key: string]: Flat };

/** For the side that serves: only calls of the listed methods arrive. */
export function serveOnly(wire: Wire, methods: ReadonlySet<string>, options: GuardOptions): Endpoint {
  return guarded(wire, options, (message) => rebuiltCall(message, methods, options.maxSize));
}

/** For the side that calls: only answers arrive. */
export function answersOnly(wire: Wire, options: GuardOptions): Endpoint {
  return guarded(wire, options, (message) => rebuiltAnswer(message, options.maxSize));
}

function guarded(wire: Wire, options: GuardOptions, rebuild: (message: unknown) => object): Endpoint {
  let deliver: ((event: { data: object }) => void) | undefined;
  wire.listen((message) => {
    let data: object;
    try {
      data = rebuild(message);
    } catch (error) {
      // Only our own reason is told on: anything else that failed did so on the message's account.
      options.violated(error instanceof Violation ? error.message : 'a message that cannot be read');
      return;
    }
    deliver?.({ data });
  });
  return {
    postMessage: (message, transfer) => wire.post(message, transfer as ArrayBuffer[] | undefined),
    addEventListener: (_type, listener) => {
      const handler = listener as unknown as { handleEvent?: typeof deliver } | NonNullable<typeof deliver>;
      deliver = (event) => (typeof handler === 'function' ? handler(event) : handler.handleEvent?.(event));
    },
    removeEventListener: () => {
      deliver = undefined;
    },
  };
}

function rebuiltCall(message: unknown, methods: ReadonlySet<string>, maxSize: number): object {
  const { id, type, path, argumentList } = record(message, 'a message that is not an object');
  if (type !== 'APPLY') violate('a message that is not a call');
  if (!Array.isArray(path) || path.length !== 1) violate('a path that is not one name');
  const name = (path as unknown[])[0];
  if (typeof name !== 'string' || !methods.has(name)) violate('a name outside the contract');
  if (!Array.isArray(argumentList) || argumentList.length > MAX_VALUES) violate('an argument list that is not one');
  const budget = { left: maxSize };
  const values = Array.from(argumentList as unknown[], (argument) => {
    const wireValue = record(argument, 'an argument that is not a value');
    if (wireValue.type !== 'RAW') violate('an argument that is more than a value');
    return { type: 'RAW', value: flat(wireValue.value, budget, 0) };
  });
  return { id: rebuiltId(id), type: 'APPLY', path: [name], argumentList: values };
}

function rebuiltAnswer(message: unknown, maxSize: number): object {
  const answer = record(message, 'a message that is not an object');
  const id = rebuiltId(answer.id);
  if (answer.type === 'RAW') return { id, type: 'RAW', value: flat(answer.value, { left: maxSize }, 1) };
  if (answer.type !== 'HANDLER' || answer.name !== 'throw') violate('an answer that is more than a value');
  const thrown = record(answer.value, 'an error that is not one');
  if (thrown.isError === true) {
    const error = record(thrown.value, 'an error that is not one');
    const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, MAX_ERROR_CHARS) : '');
    const value = { name: text(error.name), message: text(error.message), stack: '' };
    return { id, type: 'HANDLER', name: 'throw', value: { isError: true, value } };
  }
  if (thrown.isError !== false) violate('an error that is not one');
  const value = flat(thrown.value, { left: maxSize }, 1);
  return { id, type: 'HANDLER', name: 'throw', value: { isError: false, value } };
}

function rebuiltId(id: unknown): string {
  if (typeof id !== 'string' || id.length === 0 || id.length > MAX_ID_CHARS) return violate('a message without an id');
  return id;
}

/** Messages were copied on their way, so own properties are plain data; what is inherited is not theirs and is not read. */
function record(value: unknown, otherwise: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return violate(otherwise);
  return Object.assign(Object.create(null), value);
}

function flat(value: unknown, budget: { left: number }, depth: number): Flat {
  const spend = (size: number): void => {
    budget.left -= size;
    if (budget.left < 0) violate('a message over the size limit');
  };
  switch (typeof value) {
    case 'undefined':
    case 'boolean':
    case 'number':
      return value;
    case 'string':
      spend(value.length);
      return value;
    case 'object':
      break;
    default:
      return violate('a value that is not plain');
  }
  if (value === null) return null;
  if (value instanceof Uint8Array) {
    // A view of shared memory could change after it was checked; a small view may keep a huge buffer.
    if (!(value.buffer instanceof ArrayBuffer)) violate('shared memory');
    spend(value.buffer.byteLength);
    return value;
  }
  const prototype = Object.getPrototypeOf(value);
  if (depth === 0 || (prototype !== Object.prototype && prototype !== null))
    return violate('a value that is not plain');
  const entries = Object.entries(value);
  if (entries.length > MAX_VALUES) violate('a value with too many members');
  const copy: { [key: string]: Flat } = {};
  for (const [key, member] of entries) {
    if (key === '__proto__') violate('a reserved member');
    spend(key.length);
    copy[key] = flat(member, budget, depth - 1);
  }
  return copy;
}
