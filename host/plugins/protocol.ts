/** What host and worker say to each other, beside the capability calls of sdk/contract/capabilities.ts. JSON text throughout. */
import * as v from 'valibot';
import { type CallSpec, capabilityCalls, MAX_MESSAGE_CHARS } from '../../sdk/contract/capabilities.ts';
import { type CapabilityId, capabilityIds } from '../../sdk/contract/manifest.ts';

/** Characters and bytes of one message with its envelope. */
export const MAX_WIRE_SIZE = MAX_MESSAGE_CHARS + 64 * 1024;
/** Capability calls that one run may have in flight. The worker refuses the next one; the host ends who has more. */
export const MAX_CALLS_IN_FLIGHT = 64;
/** Log lines that one run may write at once, and per second after that. */
export const LOG_BURST = 200;
export const LOG_PER_SECOND = 20;
/** Characters of one log line. */
export const MAX_LOG_CHARS = 4096;
/** Readings of the clock that one recorded run notes. */
export const MAX_READINGS = 100_000;

/** Methods of the worker that the host calls. */
export const workerMethods = ['activate', 'run', 'abort', 'ping', 'deactivate'] as const;

const Text = v.pipe(v.string(), v.maxLength(MAX_WIRE_SIZE));

export const Activation = v.strictObject({
  pluginId: v.string(),
  kind: v.picklist(['controller', 'helper', 'frontend']),
  code: v.string(),
  grants: v.array(v.picklist(capabilityIds)),
  features: v.record(v.string(), v.boolean()),
  settings: v.record(v.string(), v.unknown()),
  tools: v.array(v.string()),
});
export type Activation = v.InferOutput<typeof Activation>;

/** What the worker found when it evaluated the bundle. */
export const Activated = v.strictObject({
  /** Names that `run` may be asked for: `run` of a controller, or a handler's. */
  handlers: v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(256)),
  evaluateMs: v.pipe(v.number(), v.finite()),
  activateMs: v.pipe(v.number(), v.finite()),
});
export type Activated = v.InferOutput<typeof Activated>;

export const RunMessage = v.strictObject({
  runId: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  /** `run` of a controller, or the handler's name. */
  handler: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  /** Absent is undefined. */
  input: v.optional(v.unknown()),
  /** The run is recorded or replayed: chance comes from the seed, waiting goes through the host (recording/draws.ts). */
  tape: v.optional(v.strictObject({ seed: v.string(), clock: v.optional(v.array(v.number())) })),
});
export type RunMessage = v.InferOutput<typeof RunMessage>;

/** A run's answer: JSON text, or nothing when the plugin returned undefined. */
export const RunAnswer = v.union([Text, v.null()]);

/** Host methods beside the capabilities: the worker's own news. */
export const hostReports = {
  /** Something was thrown that no run waits for: where, and its text. */
  'host.stray': {
    args: v.strictTuple([v.picklist(['timer', 'rejection', 'uncaught']), v.pipe(v.string(), v.maxLength(4096))]),
  },
  /** A run with a tape waits: milliseconds. */
  'host.sleep': { args: v.strictTuple([v.pipe(v.number(), v.finite())]) },
  /** What the clock of such a run said since its last call: a JSON list of numbers. */
  'host.drew': {
    args: v.strictTuple([
      v.pipe(Text, v.parseJson(), v.array(v.pipe(v.number(), v.finite())), v.maxLength(MAX_READINGS)),
    ]),
  },
} as const;

/** Every capability call by name, with the capability that it belongs to. */
export const callTable: ReadonlyMap<string, CallSpec & { capability: CapabilityId }> = new Map(
  capabilityIds.flatMap((capability) =>
    Object.entries<CallSpec>(capabilityCalls[capability]).map(
      ([name, spec]) => [name, { ...spec, capability }] as const,
    ),
  ),
);
