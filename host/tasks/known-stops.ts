/** What a finished run allows next, from its report and its receipt alone (wire-contracts 4.11). */
import type { Mutation } from '../../core/receipts/receipt.ts';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import type { TaskOutcome } from '../../sdk/contract/task.ts';

type Report = NonNullable<TaskRecord['report']>;

const CANDIDATES = new Set(['COMPLETION_CANDIDATE', 'VERIFICATION_FAILED', 'OBSERVATION_TRUNCATED', 'VERIFIED']);
const VERIFIABLE = new Set(['COMPLETION_CANDIDATE', 'VERIFICATION_FAILED', 'VERIFIED']);
const VERIFIABLE_STOPS = new Set(['LOW_OPERATION_CONFIDENCE', 'LOW_TARGET_CONFIDENCE']);
/** Stops that an agent may replan by itself: nothing is in doubt, and no authority or provider stands in the way. */
const REPLANNABLE = new Set([
  ...CANDIDATES,
  'LOW_OPERATION_CONFIDENCE',
  'LOW_TARGET_CONFIDENCE',
  'STALE_RETRY_BUDGET',
  'STALE_OBSERVATION',
  'TARGET_OBSCURED',
  'PAGE_CONTENT_UNAVAILABLE',
  'PAGE_STILL_LOADING',
  'NO_SUPPORTED_ACTION',
  'NO_PROGRESS',
  'WAIT_BUDGET',
  'ACTION_BUDGET',
  'EVALUATION_BUDGET',
  'TEXT_BUDGET',
  'LOOP_CYCLE_BUDGET',
  'SCROLL_LIMIT',
  'HISTORY_UNAVAILABLE',
  'NAVIGATION_UNRESOLVED',
  'CONSENT_BANNER',
  'START_URL_REQUIRED',
]);

export const isCandidate = (report: Report): boolean =>
  report.status === 'succeeded' || (report.status === 'needs_verification' && CANDIDATES.has(report.reason));

/** Whether fresh evidence may confirm the goal. */
export function isVerifiable(task: TaskRecord): boolean {
  const { report, outcome } = task;
  if (!report || outcome === 'unknown' || outcome === 'interrupted') return false;
  if (report.providerFailure || report.lastAction?.outcome === 'unknown') return false;
  if (task.state === 'needs_reconciliation') {
    return report.status === 'succeeded' || (report.status === 'needs_verification' && VERIFIABLE.has(report.reason));
  }
  return task.state === 'failed' && report.status === 'blocked' && VERIFIABLE_STOPS.has(report.reason);
}

export function isReplannable(task: TaskRecord): boolean {
  const { report, outcome, state } = task;
  if (!report || outcome === 'unknown' || outcome === 'interrupted') return false;
  if (state !== 'failed' && state !== 'needs_reconciliation') return false;
  return !report.providerFailure && report.lastAction?.outcome !== 'unknown' && REPLANNABLE.has(report.reason);
}

/** Something may have been done unseen; only reading settles it. */
export const isUncertain = (task: TaskRecord): boolean =>
  task.state === 'needs_reconciliation' && (task.outcome === 'unknown' || task.outcome === 'interrupted');

export const isOpen = (mutation: Mutation): boolean => mutation.outcome === undefined || mutation.outcome === 'unknown';

const POLICY = new Set([
  'NAVIGATION_DENIED',
  'URL_NOT_ALLOWED',
  'CONSENT_REQUIRED',
  'NEW_TAB_OUT_OF_SCOPE',
  'ACCESS_DENIED',
]);
const DEVICE = /^(ADAPTER_|INVALID_BROWSER_RESPONSE|BROWSER_|DEVICE_|LEASE_|PLUGIN_)/;
const PROVIDER =
  /^(JEV_|INVALID_RESPONSE|PROVIDER_UNAVAILABLE|RATE_LIMITED|QUOTA_|MODEL_UNAVAILABLE|QUEUE_FULL|AUTHENTICATION_FAILED|DEADLINE_EXCEEDED|REQUEST_CONFLICT|INVALID_DECISION|THINKING_)/;
const DECISION = new Set([
  'LOW_OPERATION_CONFIDENCE',
  'LOW_TARGET_CONFIDENCE',
  'LOW_CONFIDENCE',
  'NO_SUPPORTED_ACTION',
  'NO_PROGRESS',
  'UNCLEAR',
  'CONSENT_BANNER',
  'START_URL_REQUIRED',
]);

/** What kind of stop a reason is, for people and agents (DECISIONS 34). */
export function outcomeOfReason(reason: string, hasProviderFailure: boolean): TaskOutcome {
  if (reason === 'AUTH_REQUIRED') return 'sign_in_wall';
  if (reason === 'CAPTCHA_REQUIRED') return 'captcha';
  if (reason === 'FIELD_TEXT_REQUIRED') return 'needs_field';
  if (POLICY.has(reason)) return 'blocked_by_policy';
  if (hasProviderFailure || PROVIDER.test(reason)) return 'provider_failure';
  if (DEVICE.test(reason)) return 'device_failure';
  return DECISION.has(reason) ? 'needs_decision' : 'stopped';
}
