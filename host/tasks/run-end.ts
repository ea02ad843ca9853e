/**
 * What a run's end means: the receipt outranks the controller's word, and doubt outranks everything.
 *
 * Threat: the controller is hostile, broken or dead. Its result can name actions that never left, leave out ones that
 * did, and claim success. What it says is compared with what the transport wrote down; every contradiction is doubt.
 */
import * as v from 'valibot';
import { isOperationId, type Mutation } from '../../core/receipts/receipt.ts';
import { BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import type { TaskOutcome } from '../../sdk/contract/task.ts';
import { isCandidate, isOpen, outcomeOfReason } from './known-stops.ts';

/** Characters of JSON that a result may take. */
export const MAX_RESULT_CHARS = 1024 * 1024;

/** How the controller's call ended. */
export type RunEnd =
  | { kind: 'result'; value: unknown }
  /** It threw, died, or passed its deadline. */
  | { kind: 'error'; code: string }
  /** It did not stop in time after a cancellation. */
  | { kind: 'unresponsive' };

export interface RunContext {
  mutations: readonly Mutation[];
  /** Why the host asked the run to stop, if it did. */
  asked: 'cancel' | 'supersede' | 'pause' | 'revoked' | 'shutdown' | undefined;
  /** The host's own verifier confirmed the goal after the last mutation. */
  independentlyVerified: boolean;
}

export type Verdict = 'verified' | 'candidate' | 'failed' | 'waiting' | 'cancelled' | 'superseded' | 'uncertain';

export interface Judgement {
  verdict: Verdict;
  /** Exact code of the stop. */
  code: string;
  outcome: TaskOutcome;
  /** The controller's result as far as it may be believed. */
  result?: BrowserRunResult;
  question?: { text: string; fieldLabel?: string };
}

export function judge(end: RunEnd, context: RunContext): Judgement {
  if (end.kind === 'unresponsive') return uncertain('BROWSER_CANCEL_UNCONFIRMED');
  const result = end.kind === 'result' ? parse(end.value) : undefined;
  const doubt = doubtOf(result, context.mutations);
  if (doubt) return { ...uncertain(doubt), ...(result ? { result: asUncertain(result, context.mutations) } : {}) };
  if (context.asked === 'cancel') return { ...settled('cancelled', 'TASK_CANCELLED', 'cancelled'), ...kept(result) };
  if (context.asked === 'supersede')
    return { ...settled('superseded', 'REVISION_SUPERSEDED', 'stopped'), ...kept(result) };
  if (context.asked === 'pause') return { ...settled('waiting', 'REVISION_SUPERSEDED', 'stopped'), ...kept(result) };
  if (context.asked === 'revoked') return settled('failed', 'ACCESS_DENIED', 'blocked_by_policy');
  if (context.asked === 'shutdown') return { ...uncertain('BROWSER_EXECUTION_INTERRUPTED'), outcome: 'interrupted' };
  if (end.kind === 'error') return settled('failed', end.code, outcomeOfReason(end.code, false));
  if (!result) return settled('failed', 'INVALID_BROWSER_RESULT', 'device_failure');
  return judgeResult(result, context);
}

function judgeResult(result: BrowserRunResult, { independentlyVerified }: RunContext): Judgement {
  const { status, reason } = result;
  const code = `BROWSER_${reason}`;
  if (isCandidate(result)) {
    const verified = status === 'succeeded' && independentlyVerified;
    if (verified) return { ...settled('verified', 'VERIFIED', 'verified'), result };
    // A controller cannot vouch for itself: without the host's own verifier its word makes a candidate.
    const claimed =
      status === 'succeeded'
        ? { ...result, status: 'needs_verification' as const, reason: 'COMPLETION_CANDIDATE' }
        : result;
    return { ...settled('candidate', `BROWSER_${claimed.reason}`, 'candidate'), result: claimed };
  }
  if (status === 'needs_verification' && (result.commandOutcome || reason === 'COMMAND_WAITING_INPUT')) {
    const asks = result.stepRun !== undefined && result.fieldRequest !== undefined;
    return {
      ...settled('waiting', reason, asks ? 'needs_field' : 'stopped'),
      ...{ result },
      ...(asks ? { question: fieldQuestion(result) } : {}),
    };
  }
  if (status === 'blocked' && reason === 'FIELD_TEXT_REQUIRED') {
    return { ...settled('waiting', reason, 'needs_field'), result, question: fieldQuestion(result) };
  }
  if (status === 'needs_verification') return { ...settled('candidate', code, 'candidate'), result };
  return { ...settled('failed', code, outcomeOfReason(reason, result.providerFailure !== undefined)), result };
}

function fieldQuestion({ fieldRequest }: BrowserRunResult): { text: string; fieldLabel?: string } {
  if (!fieldRequest) return { text: 'A field needs a value that is not known. Inspect the page for its label.' };
  const { label, reason } = fieldRequest;
  return reason === 'missing'
    ? { text: `Which text belongs into the field "${label}"?`, fieldLabel: label }
    : { text: `More than one field is called "${label}". Inspect the page and say which one is meant.` };
}

/** The code of the doubt, when the records leave one. */
function doubtOf(result: BrowserRunResult | undefined, mutations: readonly Mutation[]): string | undefined {
  if (mutations.some(isOpen)) return 'BROWSER_OUTCOME_UNKNOWN';
  if (!result) return undefined;
  if (result.reason === 'OUTCOME_UNKNOWN' || result.lastAction?.outcome === 'unknown') return 'BROWSER_OUTCOME_UNKNOWN';
  const last = mutations.at(-1);
  const claimed = result.lastAction;
  if (!last) return undefined;
  if (!claimed || claimed.operationId.toLowerCase() !== last.operationId || claimed.outcome !== last.outcome) {
    return 'BROWSER_OUTCOME_UNKNOWN';
  }
  return undefined;
}

function asUncertain(result: BrowserRunResult, mutations: readonly Mutation[]): BrowserRunResult {
  const { commandOutcome: _, ...rest } = result;
  const last = mutations.findLast(isOpen) ?? mutations.at(-1);
  const operation = result.lastAction?.operation ?? last?.operation.toUpperCase();
  const lastAction =
    last && operation && isOperationId(last.operationId)
      ? { lastAction: { operationId: last.operationId, operation, outcome: 'unknown' as const } }
      : {};
  return { ...rest, ...lastAction, status: 'needs_verification', reason: 'OUTCOME_UNKNOWN' };
}

/** Undefined for a result that is not the contract's. */
function parse(value: unknown): BrowserRunResult | undefined {
  const checked = v.safeParse(BrowserRunResult, value);
  if (!checked.success || JSON.stringify(checked.output).length > MAX_RESULT_CHARS) return undefined;
  const result = checked.output;
  return result.status === 'succeeded' && result.reason !== 'VERIFIED' ? undefined : result;
}

const uncertain = (code: string): Judgement => ({ verdict: 'uncertain', code, outcome: 'unknown' });
const settled = (verdict: Verdict, code: string, outcome: TaskOutcome): Judgement => ({ verdict, code, outcome });
const kept = (result: BrowserRunResult | undefined) => (result ? { result } : {});
