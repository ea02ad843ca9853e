/**
 * A recording of one run: everything that came to the plugin from outside, in its order, and everything that it asked for.
 * Calls and answers are kept as they crossed to the sandbox, so a run can be repeated from its recording alone.
 *
 * As text it is one JSON value a line: the head, each event, and at last the end. A recording whose run was cut off has no
 * end. Sensitive: it holds the text of pages and what was typed. It holds no credential, since a plugin never sees one, and
 * the device's lease is replaced before it is written.
 */
import * as v from 'valibot';

export const RECORDING_FORMAT = 1;

const Count = v.pipe(v.number(), v.integer(), v.minValue(1));
const Seed = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const Head = v.strictObject({
  format: v.literal(RECORDING_FORMAT),
  plugin: v.strictObject({ id: v.string(), version: v.string() }),
  /** `run` of a controller, or the name of a tool. */
  handler: v.string(),
  runId: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  taskId: v.optional(v.string()),
  /** Milliseconds since 1970. */
  at: v.number(),
  input: v.optional(v.unknown()),
  features: v.record(v.string(), v.boolean()),
  settings: v.record(v.string(), v.unknown()),
  /** From this every id and number of the run's `random` follows. */
  seed: Seed,
});
export type RecordingHead = v.InferOutput<typeof Head>;

const Event = v.union([
  /** The n-th call. `clock.sleep` is one too. */
  v.strictObject({ asked: Count, name: v.string(), args: v.array(v.unknown()) }),
  v.strictObject({ answered: Count, result: v.unknown() }),
  v.strictObject({ failed: Count, code: v.string(), message: v.string(), details: v.string() }),
  /** What the clock said, reading by reading, since the call before. */
  v.strictObject({ clock: v.array(v.number()) }),
  /** The run was asked to end. */
  v.strictObject({ aborted: v.string() }),
]);
export type RecordedEvent = v.InferOutput<typeof Event>;

const End = v.strictObject({
  ended: v.union([
    v.strictObject({ result: v.optional(v.unknown()) }),
    v.strictObject({ code: v.string(), message: v.string() }),
    /** Nothing is known of the run's own end: the recording was full, or the host ended the run, with its code. */
    v.strictObject({ cut: v.string() }),
  ]),
});
export type RecordedEnd = v.InferOutput<typeof End>['ended'];

export interface Recording extends RecordingHead {
  events: RecordedEvent[];
  ended?: RecordedEnd;
}

/** Bytes as they stand in a line of a recording. */
const BYTES = '$bytes';

/** One value as one line. Bytes at the top of it or one level below are kept. */
export function recordingLine(value: RecordingHead | RecordedEvent | { ended: RecordedEnd }): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, plain) {
    // A buffer would turn itself into a list of numbers first; the holder still has it as it was.
    const held = this[key];
    return held instanceof Uint8Array ? { [BYTES]: base64(held) } : plain;
  });
}

/** @throws with the number of the line that is no part of a recording. A last line that was cut off is left out. */
export function readRecording(text: string): Recording {
  const lines = text.split('\n');
  // Every whole line ends with a line break, so what follows the last one was being written when the host ended.
  lines.pop();
  const parsed = lines.map((line, at) => {
    const schema = at === 0 ? Head : v.union([Event, End]);
    try {
      return v.parse(schema as v.GenericSchema<unknown, unknown>, JSON.parse(line, bytesBack));
    } catch (error) {
      const problem = error instanceof SyntaxError ? 'it is not JSON' : 'it has another shape';
      throw new TypeError(`Line ${at + 1} is no part of a recording: ${problem}.`, { cause: error });
    }
  });
  const [head, ...rest] = parsed;
  if (head === undefined) throw new TypeError('Line 1 is no part of a recording: it is missing.');
  const recording: Recording = { ...(head as RecordingHead), events: [] };
  for (const entry of rest as (RecordedEvent | { ended: RecordedEnd })[]) {
    if ('ended' in entry) recording.ended = entry.ended;
    else recording.events.push(entry);
  }
  return recording;
}

function bytesBack(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return value;
  const text = (value as { [BYTES]?: unknown })[BYTES];
  return typeof text === 'string' ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : value;
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Where two values part, for a person: path, and both sides in short. Undefined when they are the same. */
export interface Difference {
  /** Such as `questions.target.criteria.buy`; empty for the whole. */
  path: string;
  before: string;
  now: string;
}

export function differenceOf(before: unknown, now: unknown, path = ''): Difference | undefined {
  if (Object.is(before, now)) return undefined;
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isObject(before) || !isObject(now) || Array.isArray(before) !== Array.isArray(now)) {
    return { path, before: shown(before), now: shown(now) };
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const found = differenceOf(own(before, key), own(now, key), path ? `${path}.${key}` : key);
    if (found) return found;
  }
  return undefined;
}

const own = (value: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;
const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 160));
