/**
 * Keys as bytes whose order is the order of their parts: numbers before strings, numbers by value, strings by UTF-8.
 *
 * Each part is tagged and self-delimiting, so the bytes of a prefix are a prefix of the bytes, and no string can reach
 * into the next part.
 */
import type { Key, KeyPart } from './store.ts';

/** Bytes that LMDB accepts for one key. */
export const MAX_KEY_BYTES = 1900;

const NUMBER = 0x10;
const STRING = 0x20;
const END = Buffer.from([0x00]);
const ESCAPED_ZERO = Buffer.from([0x00, 0xff]);

export function encodeKey(key: Key): Buffer {
  const bytes = Buffer.concat(key.map(encodePart));
  if (bytes.length > MAX_KEY_BYTES) throw new RangeError(`A key takes ${bytes.length} bytes; ${MAX_KEY_BYTES} fit.`);
  return bytes;
}

/** The first bytes after every key that begins with `prefix`. */
export function endOfPrefix(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.from([0xff])]);
}

export function decodeKey(bytes: Buffer): Key {
  const parts: KeyPart[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at];
    if (tag === NUMBER) {
      parts.push(decodeNumber(bytes.subarray(at + 1, at + 9)));
      at += 9;
    } else if (tag === STRING) {
      const [text, next] = decodeString(bytes, at + 1);
      parts.push(text);
      at = next;
    } else {
      throw new RangeError(`A stored key holds the unknown tag ${tag}.`);
    }
  }
  return parts;
}

function encodePart(part: KeyPart): Buffer {
  return typeof part === 'number' ? encodeNumber(part) : encodeString(part);
}

/** IEEE bits, with the sign bit flipped for positive and all bits for negative numbers: their order is then numeric. */
function encodeNumber(value: number): Buffer {
  if (Number.isNaN(value)) throw new RangeError('NaN cannot be part of a key.');
  const bytes = Buffer.allocUnsafe(9);
  bytes[0] = NUMBER;
  bytes.writeDoubleBE(value === 0 ? 0 : value, 1);
  flip(bytes, value < 0);
  return bytes;
}

function decodeNumber(stored: Buffer): number {
  const bytes = Buffer.concat([Buffer.from([NUMBER]), stored]);
  flip(bytes, ((bytes[1] ?? 0) & 0x80) === 0);
  return bytes.readDoubleBE(1);
}

function flip(bytes: Buffer, all: boolean): void {
  if (!all) bytes[1] = (bytes[1] ?? 0) ^ 0x80;
  else for (let i = 1; i < bytes.length; i++) bytes[i] = ~(bytes[i] ?? 0) & 0xff;
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const pieces = [Buffer.from([STRING])];
  let from = 0;
  for (let zero = bytes.indexOf(0); zero !== -1; zero = bytes.indexOf(0, from)) {
    pieces.push(bytes.subarray(from, zero), ESCAPED_ZERO);
    from = zero + 1;
  }
  pieces.push(bytes.subarray(from), END);
  return Buffer.concat(pieces);
}

function decodeString(bytes: Buffer, start: number): [text: string, next: number] {
  const pieces: Buffer[] = [];
  let from = start;
  for (;;) {
    const zero = bytes.indexOf(0, from);
    if (zero === -1) throw new RangeError('A stored key is cut off.');
    if (bytes[zero + 1] !== 0xff) {
      pieces.push(bytes.subarray(from, zero));
      return [Buffer.concat(pieces).toString('utf8'), zero + 1];
    }
    pieces.push(bytes.subarray(from, zero + 1));
    from = zero + 2;
  }
}
