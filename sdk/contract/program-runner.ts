/** What the host hands to a program runner, what comes back while it runs, and how it ends. */
import * as v from 'valibot';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** Bytes of a program's input, and of its output. */
export const MAX_VALUE_BYTES = 32_768;
export const MAX_EVENT_BYTES = 4096;
/** Characters that all log lines of one run may take. */
export const MAX_LOG_CHARS = 4096;

const Observe = v.object({
  events: v.array(v.string()),
  include: v.optional(v.array(v.string()), []),
  maxChars: v.optional(positive, 4096),
  queueSize: v.optional(positive, 8),
  maxEventAgeMs: v.optional(positive, 30_000),
  delivery: v.optional(v.picklist(['steer', 'followUp'])),
  triggerTurn: v.optional(v.boolean(), false),
  maxAdvice: v.optional(positive, 4),
});

export const RunnerInput = v.strictObject({
  name: v.string(),
  /** The checked program in JavaScript: an expression that yields an async function. */
  javascript: v.string(),
  /** Where each piece of it stands in the author's code: the mappings of a source map. */
  positions: v.optional(v.string()),
  /** JSON text of the validated input. */
  input: v.string(),
  requires: v.array(v.string()),
  limits: v.strictObject({
    timeoutMs: positive,
    maxEvaluations: positive,
    maxToolCalls: positive,
    maxTokens: positive,
  }),
  maxRequestBytes: positive,
  /** Milliseconds that one evaluation may take, beside what the evaluation service allows. */
  requestTimeoutMs: positive,
  observe: v.optional(Observe),
});
export type RunnerInput = v.InferOutput<typeof RunnerInput>;
export type RunnerObserve = v.InferOutput<typeof Observe>;

export const RunnerCounts = v.strictObject({
  evaluations: count,
  toolCalls: count,
  usage: v.strictObject({ input_tokens: count, output_tokens: count }),
  observation: v.optional(
    v.strictObject({
      received: count,
      consumed: count,
      dropped: count,
      queued: count,
      adviceDelivered: count,
      adviceSuppressed: count,
    }),
  ),
});
export type RunnerCounts = v.InferOutput<typeof RunnerCounts>;

/** News of a run, in order. `value` is JSON text. */
export const RunnerReport = v.strictObject({
  counts: RunnerCounts,
  events: v.pipe(
    v.array(v.strictObject({ sequence: positive, at: count, value: v.pipe(v.string(), v.maxLength(MAX_EVENT_BYTES)) })),
    v.maxLength(64),
  ),
  logs: v.pipe(v.array(v.pipe(v.string(), v.maxLength(MAX_LOG_CHARS))), v.maxLength(MAX_LOG_CHARS)),
  /** The sequence that the next event will have. */
  nextSequence: positive,
});
export type RunnerReport = v.InferOutput<typeof RunnerReport>;

/** How a program ended. The last report comes with it, so that nothing is lost between the two. */
export const RunnerEnd = v.strictObject({
  state: v.picklist(['completed', 'failed', 'cancelled', 'timed_out']),
  /** JSON text, when completed. */
  result: v.optional(v.pipe(v.string(), v.maxLength(MAX_VALUE_BYTES))),
  error: v.optional(v.pipe(v.string(), v.maxLength(2000))),
  report: RunnerReport,
});
export type RunnerEnd = v.InferOutput<typeof RunnerEnd>;
