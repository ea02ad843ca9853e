/** The computer helper's wire contract (wire-contracts section 2), shared by a device server and its clients. */
import * as v from 'valibot';

/** The major version of the contract that this SDK speaks. An observation without one counts as this one. */
export const COMPUTER_CONTRACT_VERSION = 1;
/** Characters that one tool reply may hold, a screenshot's aside. */
export const MAX_COMPUTER_REPLY_CHARS = 262_144;
/** UTF-16 units that any one text of an observation may hold, however few characters a person sees in it. */
const MAX_TEXT_UNITS = 262_144;

export const computerLeaseTools = ['computer_acquire', 'computer_release'] as const;
export const computerReads = ['computer_observe', 'computer_screenshot', 'computer_operation_status'] as const;
/** The one tool that changes something. */
export const COMPUTER_MUTATION = 'computer_action';

export const standardCommands = [
  'scroll:up',
  'scroll:down',
  'close:window',
  'tab:new',
  'address:focus',
  'tab:close',
  'app:quit',
] as const;
export type StandardCommand = (typeof standardCommands)[number];

export const computerKeys = ['enter', 'tab', 'escape', 'backspace', 'up', 'down', 'left', 'right'] as const;
export type ComputerKey = (typeof computerKeys)[number];

/** The approved computer of a task. */
export interface ComputerScope {
  device_id: string;
  grant_id: string;
}

/** Text of at most so many characters as a person counts them. */
const graphemes = (max: number) =>
  v.pipe(
    v.string(),
    v.maxLength(MAX_TEXT_UNITS),
    v.check((text) => text.length <= max || countUpTo(text, max) <= max, `at most ${max} characters`),
  );

function countUpTo(text: string, max: number): number {
  let count = 0;
  for (const _ of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    count += 1;
    if (count > max) break;
  }
  return count;
}

/** A member that an older or newer device may fill with something unknown: it is then as good as absent. */
const ignored = <T>(schema: v.GenericSchema<unknown, T>) => v.fallback(v.optional(schema), undefined);

/** Fractions of the window. */
const Bounds = v.pipe(
  v.object({ x: fraction(0), y: fraction(0), width: fraction(Number.MIN_VALUE), height: fraction(Number.MIN_VALUE) }),
  v.check(({ x, y, width, height }) => x + width <= 1.000001 && y + height <= 1.000001, 'outside the window'),
);
function fraction(min: number) {
  return v.pipe(v.number(), v.minValue(min), v.maxValue(1));
}

/** Values of the list that are known; the others are dropped. */
const known = <const T extends string>(names: readonly T[]) =>
  v.pipe(
    v.array(v.unknown()),
    v.transform((values) => names.filter((name) => values.includes(name))),
  );

const Ref = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const Role = v.pipe(v.string(), v.maxLength(100));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const ComputerControl = v.object({
  identity: v.optional(v.pipe(v.string(), v.uuid())),
  bounds: v.optional(Bounds),
  ref: Ref,
  label: graphemes(500),
  context: v.optional(graphemes(500)),
  role: Role,
  value: v.optional(graphemes(2000)),
  focused: v.optional(v.boolean()),
  actions: known(['press', 'type']),
  sensitive: v.optional(v.boolean()),
});
export type ComputerControl = v.InferOutput<typeof ComputerControl>;

const short = (max: number, chars: number) => v.pipe(v.array(v.pipe(v.string(), v.maxLength(chars))), v.maxLength(max));

export const ComputerObservation = v.object({
  contractVersion: ignored(v.union([v.number(), v.pipe(v.string(), v.maxLength(20))])),
  generation: v.pipe(v.string(), v.minLength(1)),
  /** Id of the application in front. */
  application: v.string(),
  controls: v.pipe(v.array(ComputerControl), v.maxLength(150)),
  truncated: v.boolean(),
  apps: v.pipe(v.array(v.object({ id: v.string(), name: v.string() })), v.maxLength(100)),
  windowTitle: v.optional(graphemes(500)),
  text: v.optional(v.pipe(v.array(graphemes(300)), v.maxLength(80))),
  focusedControl: v.optional(
    v.object({ ref: v.optional(Ref), role: Role, label: graphemes(500), sensitive: v.optional(v.boolean()) }),
  ),
  standardCommand: ignored(v.picklist(standardCommands)),
  supportedActions: v.optional(known(['scroll:up', 'scroll:down', 'navigate:back', 'navigate:forward'])),
  scrollAreas: v.optional(
    v.pipe(
      v.array(v.object({ ref: Ref, label: graphemes(500), bounds: Bounds })),
      v.maxLength(16),
      v.check((areas) => new Set(areas.map(({ ref }) => ref)).size === areas.length, 'a ref twice'),
    ),
  ),
  /** What else this device can do. `pointer` and its companions open raw input (wire-contracts 2.6). */
  capabilities: ignored(
    v.object({
      standardCommands: v.optional(short(64, 100)),
      keys: v.optional(short(64, 40)),
      screenshotGeometry: v.optional(v.boolean()),
      pointer: v.optional(short(16, 40)),
      pointerModifiers: v.optional(short(16, 40)),
      scrollAt: v.optional(v.boolean()),
      keyChord: v.optional(v.boolean()),
      typeFocused: v.optional(v.boolean()),
    }),
  ),
  screenshotAvailable: v.optional(v.boolean()),
  screenshotRestriction: v.optional(v.pipe(v.string(), v.maxLength(100))),
  observationStats: v.optional(
    v.object({ visited: count, candidates: count, exported: count, incomplete: v.boolean() }),
  ),
  platform: v.optional(v.record(v.string(), v.unknown())),
});
export type ComputerObservation = v.InferOutput<typeof ComputerObservation>;

/** What `computer_action` does. Coordinates of raw input are pixels of the last screenshot. */
export type ComputerAction =
  | { kind: 'open'; app_id: string }
  | { kind: 'press'; ref: string }
  /** Replaces the whole value. */
  | { kind: 'type'; ref: string; text: string }
  /** `backspace` only where `capabilities.keys` lists it. */
  | { kind: 'key'; key: ComputerKey }
  | { kind: 'scroll'; direction: 'up' | 'down'; ref?: string }
  | { kind: 'navigate'; direction: 'back' | 'forward' }
  | {
      kind: 'pointer';
      op: 'click' | 'double_click' | 'right_click' | 'move' | 'drag';
      x: number;
      y: number;
      to_x?: number;
      to_y?: number;
      modifiers?: string[];
    }
  | { kind: 'scroll'; x: number; y: number; dx?: number; dy?: number }
  | { kind: 'key_chord'; keys: string[] }
  | { kind: 'type_focused'; text: string };

/** The ref that stands for a standard command in a `press`: `standard-tab-new`. */
export const standardRef = (command: StandardCommand): string => `standard-${command.replace(':', '-')}`;

const Code = v.pipe(v.string(), v.regex(/^[A-Z][A-Z_0-9]{0,79}$/));
const states = ['completed', 'not_executed', 'unknown'] as const;

/** The reply of `computer_action`. */
export const ComputerActionReply = v.object({
  state: v.picklist(states),
  error: v.optional(Code),
  /** With `unknown`: the device has settled it, and the run may go on. */
  continuation_ready: v.optional(v.boolean()),
});

/** What the device has on record of one operation. */
export const ComputerOperationStatus = v.object({
  operation_id: v.optional(v.string()),
  state: v.picklist([...states, 'not_found']),
  error: v.optional(Code),
  /** The owner has seen that its outcome is not known. */
  owner_acknowledged: v.optional(v.boolean()),
  continuation_ready: v.optional(v.boolean()),
});
export type ComputerOperationStatus = v.InferOutput<typeof ComputerOperationStatus>;

/** A window's picture, bound to the generation that it shows. `data` is base64. */
export const ComputerScreenshot = v.object({
  generation: v.string(),
  mimeType: v.picklist(['image/png', 'image/jpeg']),
  data: v.string(),
  capturedAt: v.number(),
});
export type ComputerScreenshot = v.InferOutput<typeof ComputerScreenshot>;
