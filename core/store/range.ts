/** Byte bounds of a range request; the start is included, the end is not. */
import { encodeKey, endOfPrefix } from './key-encoding.ts';
import type { RangeOptions } from './store.ts';

export interface Bounds {
  start: Buffer;
  end: Buffer;
}

const LAST = Buffer.from([0xff]);
const JUST_AFTER = Buffer.from([0x00]);

export function boundsOf({ prefix, after, reverse }: RangeOptions): Bounds {
  const first = prefix ? encodeKey(prefix) : Buffer.from([0x00]);
  const end = prefix ? endOfPrefix(first) : LAST;
  if (!after) return { start: first, end };
  const mark = encodeKey(after);
  if (reverse) return { start: first, end: Buffer.compare(mark, end) < 0 ? mark : end };
  const next = Buffer.concat([mark, JUST_AFTER]);
  return { start: Buffer.compare(next, first) > 0 ? next : first, end };
}
