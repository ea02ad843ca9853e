/**
 * The difference of two texts as a few edits, so that a small change of a long page is small on the wire.
 *
 * `{ at, remove, insert }`: at that place of the text before, that many UTF-16 units go and the new ones come. Edits are in
 * the order of the text and do not touch each other.
 */
import * as v from 'valibot';

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const TextEdit = v.object({ at: Count, remove: Count, insert: v.string() });
export type TextEdit = v.InferOutput<typeof TextEdit>;

/** Pairs of lines that are compared at most; beyond, lines are compared in their order, or texts are one edit. */
const MAX_PAIRS = 250_000;

export function textEdits(before: string, now: string): TextEdit[] {
  const old = linesOf(before);
  const fresh = linesOf(now);
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let oldEnd = old.length;
  let freshEnd = fresh.length;
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd--;
    freshEnd--;
  }
  const at = lengthOf(old.slice(0, start));
  return edits(old.slice(start, oldEnd), fresh.slice(start, freshEnd), at);
}

/** @returns undefined when the edits are not of this text. */
export function withEdits(before: string, changes: readonly TextEdit[]): string | undefined {
  let text = '';
  let done = 0;
  for (const { at, remove, insert } of changes) {
    if (at < done || at + remove > before.length) return undefined;
    text += before.slice(done, at) + insert;
    done = at + remove;
  }
  return text + before.slice(done);
}

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);
const lengthOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length, 0);

function edits(old: string[], fresh: string[], from: number): TextEdit[] {
  const found: TextEdit[] = [];
  let at = from;
  let gone: string[] = [];
  let come: string[] = [];
  const flush = () => {
    const edit = narrowed(at, gone.join(''), come.join(''));
    if (edit) found.push(edit);
    at += lengthOf(gone);
    gone = [];
    come = [];
  };
  for (const { line, kind } of aligned(old, fresh)) {
    if (kind === 'gone') gone.push(line);
    else if (kind === 'come') come.push(line);
    else {
      flush();
      at += line.length;
    }
  }
  flush();
  return found;
}

interface Step {
  line: string;
  kind: 'kept' | 'gone' | 'come';
}

/** Both texts as one list of steps, by their longest common part. */
function aligned(old: string[], fresh: string[]): Step[] {
  const all = (lines: string[], kind: Step['kind']) => lines.map((line) => ({ line, kind }));
  if (old.length * fresh.length > MAX_PAIRS) {
    if (old.length !== fresh.length) return [...all(old, 'gone'), ...all(fresh, 'come')];
    return old.flatMap((line, index) =>
      line === fresh[index] ? all([line], 'kept') : [...all([line], 'gone'), ...all([fresh[index] ?? ''], 'come')],
    );
  }
  const width = fresh.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const steps: Step[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < fresh.length) {
    const [before, now] = [old[i] ?? '', fresh[j] ?? ''];
    if (before === now) {
      steps.push({ line: before, kind: 'kept' });
      i++;
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      steps.push({ line: before, kind: 'gone' });
      i++;
    } else {
      steps.push({ line: now, kind: 'come' });
      j++;
    }
  }
  return [...steps, ...all(old.slice(i), 'gone'), ...all(fresh.slice(j), 'come')];
}

/** Only what differs within the lines, between whole characters. */
function narrowed(at: number, gone: string, come: string): TextEdit | undefined {
  if (gone === come) return undefined;
  const room = Math.min(gone.length, come.length);
  let head = 0;
  while (head < room && gone[head] === come[head]) head++;
  if (head > 0 && isHigh(gone.charCodeAt(head - 1))) head--;
  let tail = 0;
  while (tail < room - head && gone[gone.length - 1 - tail] === come[come.length - 1 - tail]) tail++;
  if (tail > 0 && isLow(gone.charCodeAt(gone.length - tail))) tail--;
  return {
    at: at + head,
    remove: gone.length - head - tail,
    insert: come.slice(head, come.length - tail),
  };
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
