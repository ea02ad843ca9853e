/** What a person probably meant: which keys a schema knows at a place, and which of them is close to a wrong one. */
import type * as v from 'valibot';

interface Shape {
  type: string;
  entries?: Record<string, unknown>;
  wrapped?: unknown;
  item?: unknown;
  value?: unknown;
  options?: unknown[];
  pipe?: unknown[];
}

/** @returns the keys that an object at this path may have; none when the path does not lead to an object. */
export function keysAt(schema: v.GenericSchema, path: readonly (string | number)[]): string[] {
  let found = [schema as unknown as Shape];
  for (const part of path) found = found.flatMap(unwrap).flatMap((shape) => step(shape, part));
  return [...new Set(found.flatMap(unwrap).flatMap((shape) => Object.keys(shape.entries ?? {})))];
}

function unwrap(shape: Shape): Shape[] {
  if (shape.wrapped) return unwrap(shape.wrapped as Shape);
  // A union or variant may be any of its options.
  if (shape.options && (shape.type === 'union' || shape.type === 'variant'))
    return shape.options.flatMap((option) => unwrap(option as Shape));
  return [shape];
}

function step(shape: Shape, part: string | number): Shape[] {
  if (typeof part === 'number') return shape.item ? [shape.item as Shape] : [];
  const entry = shape.entries && Object.hasOwn(shape.entries, part) ? shape.entries[part] : undefined;
  if (entry) return [entry as Shape];
  return shape.type === 'record' && shape.value ? [shape.value as Shape] : [];
}

/** Slips of the hand that still count as close. */
const MAX_SLIPS = 2;

/** @returns the known key that differs least, when it differs by a slip of the hand or by letter case only. */
export function closest(wrong: string, known: readonly string[]): string | undefined {
  const folded = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  const same = known.find((key) => folded(key) === folded(wrong));
  if (same) return same;
  const allowed = Math.min(MAX_SLIPS, Math.floor(wrong.length / 3));
  let best: { key: string; slips: number } | undefined;
  for (const key of known) {
    const slips = distance(wrong.slice(0, 64), key);
    if (slips <= allowed && (!best || slips < best.slips)) best = { key, slips };
  }
  return best?.key;
}

/** Letters to add, remove, replace or swap with their neighbour to get from one word to the other. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
