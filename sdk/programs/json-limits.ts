/**
 * What counts as a JSON value here, and how much of it.
 *
 * Threat: a program builds values to exhaust whoever walks them (deep nesting, cycles, millions of nodes) or to smuggle
 * something that is not data (getters, `toJSON`, class instances, sparse arrays). The walk keeps its own stack, reads each
 * property once and stops at the first thing that is not plain data.
 */
import { refuseProgram } from './program-error.ts';

/** Objects, arrays and scalars that one value may have in all. */
export const MAX_NODES = 100_000;
/** Levels of nesting; a bare scalar has none. */
export const MAX_DEPTH = 32;

type Verdict = 'ok' | 'complex' | 'not-json';

function judge(root: unknown): Verdict {
  const stack: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  let nodes = 0;
  for (let item = stack.pop(); item; item = stack.pop()) {
    const { value, depth } = item;
    if (++nodes > MAX_NODES || depth > MAX_DEPTH) return 'complex';
    if (value === null || typeof value === 'string' || typeof value === 'boolean') continue;
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) return 'not-json';
      continue;
    }
    if (typeof value !== 'object') return 'not-json';
    if (Array.isArray(value)) {
      if (value.length > MAX_NODES) return 'complex';
      for (let index = 0; index < value.length; index++) {
        if (!Object.hasOwn(value, index)) return 'not-json';
        stack.push({ value: value[index], depth: depth + 1 });
      }
      continue;
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype) return 'not-json';
    for (const key of Reflect.ownKeys(value)) {
      const property = Object.getOwnPropertyDescriptor(value, key);
      if (!property?.enumerable) continue;
      if (typeof key === 'symbol' || !('value' in property)) return 'not-json';
      stack.push({ value: property.value, depth: depth + 1 });
    }
  }
  return 'ok';
}

/**
 * Checks a value and gives its JSON text.
 *
 * @param label how the message names the value, such as `Program input`
 * @param maxBytes bytes of UTF-8 that the text may take
 * @throws PROGRAM_INVALID with the exact sentence
 */
export function jsonText(value: unknown, label: string, maxBytes: number): string {
  const verdict = judge(value);
  if (verdict === 'complex') refuseProgram('PROGRAM_INVALID', `${label} exceeds JSON complexity limits`);
  if (verdict === 'not-json') refuseProgram('PROGRAM_INVALID', `${label} must contain only finite JSON values`);
  const text = JSON.stringify(value);
  if (utf8Bytes(text, maxBytes) > maxBytes) refuseProgram('PROGRAM_INVALID', `${label} exceeds ${maxBytes} bytes`);
  return text;
}

/** Bytes of UTF-8; counting stops past the limit, so that an oversized text costs no more than the limit. */
export function utf8Bytes(text: string, limit = Number.POSITIVE_INFINITY): number {
  if (text.length > limit) return text.length;
  let bytes = 0;
  for (let index = 0; index < text.length && bytes <= limit; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && index + 1 < text.length && isLow(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
