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
const END = 0x00;

/** Every key is encoded here first, since nothing else runs meanwhile. */
const scratch = Buffer.alloc(64 * 1024);

export function encodeKey(key: Key): Buffer {
  const bytes = roomFor(key);
  let end = 0;
  for (const part of key) end = writePart(bytes, end, part);
  if (end > MAX_KEY_BYTES) throw new RangeError(`A key takes ${end} bytes; ${MAX_KEY_BYTES} fit.`);
  return Buffer.from(bytes.subarray(0, end));
}

function roomFor(key: Key): Buffer {
  let most = 0;
  // A character takes three bytes of UTF-8 at most, and a zero two.
  for (const part of key) most += typeof part === 'number' ? 9 : part.length * 3 + 2;
  return most <= scratch.length ? scratch : Buffer.alloc(most);
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

/** One part, written to `bytes` at `at`. @returns where the next part begins. */
function writePart(bytes: Buffer, at: number, part: KeyPart): number {
  return typeof part === 'number' ? writeNumber(bytes, at, part) : writeString(bytes, at, part);
}

/** IEEE bits, with the sign bit flipped for positive and all bits for negative numbers: their order is then numeric. */
function writeNumber(bytes: Buffer, at: number, value: number): number {
  if (Number.isNaN(value)) throw new RangeError('NaN cannot be part of a key.');
  bytes[at] = NUMBER;
  bytes.writeDoubleBE(value === 0 ? 0 : value, at + 1);
  flip(bytes.subarray(at, at + 9), value < 0);
  return at + 9;
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

function writeString(bytes: Buffer, at: number, text: string): number {
  bytes[at] = STRING;
  let end = at + 1 + bytes.write(text, at + 1, 'utf8');
  // Zeros are rare: each is moved apart by hand, from the last one to the first.
  for (let zero = bytes.lastIndexOf(0, end - 1); zero > at; zero = bytes.lastIndexOf(0, zero - 1)) {
    bytes.copyWithin(zero + 2, zero + 1, end);
    bytes[zero + 1] = 0xff;
    end += 1;
  }
  bytes[end] = END;
  return end + 1;
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
