/** Input, progress and result of a controller for the `browser` adapter (wire-contracts 1.7, 1.8). */
import * as v from 'valibot';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(120));

/** The approved tab: who owns it and under which consent. Exactly these three keys. */
export const BrowserScope = v.strictObject({ device_id: Id, grant_id: Id, tab_id: Id });
export type BrowserScope = v.InferOutput<typeof BrowserScope>;

export const BrowserField = v.strictObject({
  label: v.pipe(v.string(), v.minLength(1), v.maxLength(250)),
  text: v.pipe(v.string(), v.maxLength(2000)),
});
export type BrowserField = v.InferOutput<typeof BrowserField>;

const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const unit = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

export const HttpUrl = v.pipe(
  v.string(),
  v.maxLength(8192),
  v.check((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return !!url && /^https?:$/.test(url.protocol) && !url.username && !url.password;
  }, 'an http or https address without credentials'),
);

/** Limits of one run; the defaults are the contract's (wire-contracts 1.8). */
export const browserBudget = {
  maxSteps: v.optional(int(1, 100), 30),
  maxEvaluations: v.optional(int(1, 150), 50),
  timeoutMs: v.optional(int(1000, 600_000), 120_000),
  maxTextCalls: v.optional(int(0, 60), 10),
  maxStaleRetries: v.optional(int(0, 10), 2),
  operationConfidence: v.optional(unit, 0),
  targetConfidence: v.optional(unit, 0),
} as const;

export const BrowserRunInput = v.strictObject({
  contractVersion: v.literal(1),
  goal: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(8000)),
  startUrl: v.optional(HttpUrl),
  scope: BrowserScope,
  fields: v.optional(v.pipe(v.array(BrowserField), v.maxLength(60)), []),
  ...browserBudget,
  /** End after one action that is not a wait. */
  yieldAfterAction: v.optional(v.boolean(), false),
  /** The goal is one direct command of the owner. */
  command: v.optional(v.boolean(), false),
  /** The goal is the agent's command for a handed-off utterance. */
  agentCommand: v.optional(v.boolean(), false),
  /** The first revision of a spawned task. */
  sessionStart: v.optional(v.boolean(), false),
  /** Set on each part of a step list. */
  stepPart: v.optional(v.boolean(), false),
  /** The owner's own steps, when the run is a step list. */
  steps: v.optional(
    v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(300))), v.minLength(2), v.maxLength(12)),
  ),
  /** The owner's reply to a confirmation that the previous round asked for. */
  confirmation: v.optional(
    v.strictObject({ command: v.pipe(v.string(), v.maxLength(4000)), label: v.pipe(v.string(), v.maxLength(250)) }),
  ),
  interactionContext: v.optional(v.pipe(v.string(), v.maxLength(8000))),
  /** Guidance after a known stop: appended to the goal's context, never replacing the goal. */
  guidance: v.optional(v.pipe(v.string(), v.maxLength(4000))),
  /** Each decision also carries a screenshot. */
  images: v.optional(v.boolean(), false),
  /** The host can verify the goal independently (Thinking or an operator's hook). */
  verifier: v.optional(v.boolean(), false),
  /** The host can write field text (Thinking or an operator's hook). */
  textHelper: v.optional(v.boolean(), false),
  /** The host can choose one action on a screenshot where decisions were unsure or got nowhere. */
  thinkingAction: v.optional(v.boolean(), false),
});
export type BrowserRunInput = v.InferOutput<typeof BrowserRunInput>;

const Reason = v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]{0,100}$/));
const OperationId = v.pipe(v.string(), v.regex(/^[0-9a-f-]{36}$/i));
const OperationName = v.pipe(v.string(), v.regex(/^[A-Z][A-Z_]{1,40}$/));

export const LastAction = v.strictObject({
  operationId: OperationId,
  operation: OperationName,
  outcome: v.picklist(['confirmed', 'unknown', 'not_executed']),
});
export type LastAction = v.InferOutput<typeof LastAction>;

export const CommandOutcome = v.strictObject({
  done: v.boolean(),
  action: v.optional(
    v.strictObject({
      kind: v.picklist([
        'scroll',
        'key',
        'history',
        'navigate',
        'search',
        'click',
        'type',
        'select',
        'new_tab',
        'wait',
      ]),
      label: v.optional(v.pipe(v.string(), v.maxLength(250))),
      direction: v.optional(v.string()),
      key: v.optional(v.string()),
      url: v.optional(v.pipe(v.string(), v.maxLength(8192))),
    }),
  ),
  reason: v.optional(Reason),
  gaveUp: v.optional(v.boolean()),
});
export type CommandOutcome = v.InferOutput<typeof CommandOutcome>;

export const StepRun = v.strictObject({
  total: int(2, 12),
  completed: int(0, 12),
  stopReason: v.picklist([
    'ALL_STEPS_DONE',
    'STEP_NO_EFFECT',
    'STEP_NOT_EXECUTED',
    'OUTCOME_UNKNOWN',
    'TIMEOUT',
    'CANCELLED',
    'FAILED',
  ]),
  stoppedAt: v.optional(int(1, 12)),
  stoppedStep: v.optional(v.pipe(v.string(), v.maxLength(300))),
  detail: v.optional(v.pipe(v.string(), v.maxLength(200))),
  remaining: v.array(v.pipe(v.string(), v.maxLength(300))),
  unverifiedSteps: v.optional(v.array(int(1, 12))),
  doneParts: v.optional(v.array(v.pipe(v.string(), v.maxLength(300)))),
  notes: v.optional(v.array(v.pipe(v.string(), v.maxLength(300)))),
});
export type StepRun = v.InferOutput<typeof StepRun>;

export const ProviderFailure = v.strictObject({
  code: Reason,
  validationReason: v.optional(v.pipe(v.string(), v.maxLength(64))),
  status: v.optional(int(100, 599)),
  retryAfter: v.optional(v.pipe(v.string(), v.maxLength(128))),
  resetAt: v.optional(v.pipe(v.string(), v.maxLength(128))),
});

export const BrowserRunResult = v.strictObject({
  contractVersion: v.literal(1),
  status: v.picklist(['succeeded', 'blocked', 'cancelled', 'failed', 'needs_verification']),
  reason: Reason,
  steps: int(0, 1_000_000),
  evaluations: int(0, 1_000_000),
  staleRetries: int(0, 1_000_000),
  textCalls: int(0, 1_000_000),
  lastAction: v.optional(LastAction),
  lastConfirmedAction: v.optional(LastAction),
  lastEvaluation: v.optional(v.strictObject({ requestId: v.string(), model: v.optional(v.string()) })),
  fieldRequest: v.optional(
    v.strictObject({
      ref: v.pipe(v.string(), v.maxLength(100)),
      label: v.pipe(v.string(), v.maxLength(250)),
      reason: v.picklist(['missing', 'ambiguous']),
    }),
  ),
  /** The last observation, bounded; untrusted page data. */
  observation: v.optional(v.record(v.string(), v.unknown())),
  trace: v.optional(
    v.strictObject({
      version: v.literal(1),
      events: v.pipe(v.array(v.record(v.string(), v.unknown())), v.maxLength(1024)),
      truncated: v.boolean(),
      sinkFailed: v.optional(v.boolean()),
    }),
  ),
  commandOutcome: v.optional(CommandOutcome),
  stepRun: v.optional(StepRun),
  providerFailure: v.optional(ProviderFailure),
});
export type BrowserRunResult = v.InferOutput<typeof BrowserRunResult>;

/** Best effort, never awaited. No page text, labels or values except `label`, which only the owner's progress line shows. */
export const BrowserProgress = v.strictObject({
  contractVersion: v.literal(1),
  phase: v.picklist(['observing', 'evaluating', 'decided', 'acting', 'acted', 'verifying']),
  steps: int(0, 1_000_000),
  evaluations: int(0, 1_000_000),
  requestId: v.optional(v.string()),
  operationId: v.optional(OperationId),
  operation: v.optional(OperationName),
  label: v.optional(v.pipe(v.string(), v.maxLength(250))),
  outcome: v.optional(v.picklist(['confirmed', 'unknown', 'not_executed'])),
  model: v.optional(v.string()),
  decision_ms: v.optional(v.number()),
  action_ms: v.optional(v.number()),
  observe_ms: v.optional(v.number()),
  operation_probability: v.optional(v.number()),
  target_probability: v.optional(v.number()),
  operation_confidence: v.optional(v.number()),
  target_confidence: v.optional(v.number()),
});
export type BrowserProgress = v.InferOutput<typeof BrowserProgress>;
