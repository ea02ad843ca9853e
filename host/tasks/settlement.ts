/** The change that ends a run: the judged end becomes the task's new state, its line, its log, its notice. */
import type { Mutation, RunOutcome, RunReceipt } from '../../core/receipts/receipt.ts';
import { ACTION_LOG_LENGTH, type TaskRecord, type TaskRevision } from '../../core/receipts/task-record.ts';
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import { codes, describeCode, isCode } from '../../sdk/contract/codes.ts';
import { withDropped } from './command-queue.ts';
import { loggedCommand } from './logged-command.ts';
import { outcomeLine } from './outcome-line.ts';
import type { Judgement, Verdict } from './run-end.ts';
import { step, type TaskChange } from './task-book.ts';
import type { TaskEventName } from './transitions.ts';

const EVENT: Readonly<Record<Verdict, TaskEventName>> = {
  verified: 'settleVerified',
  candidate: 'settleCandidate',
  failed: 'settleFailed',
  waiting: 'settleWaiting',
  cancelled: 'settleCancelled',
  superseded: 'settleSuperseded',
  uncertain: 'settleUncertain',
};

const RECEIPT: Readonly<Record<Verdict, RunOutcome>> = {
  verified: 'completed',
  candidate: 'unknown',
  failed: 'failed',
  waiting: 'paused',
  cancelled: 'stopped',
  superseded: 'stopped',
  uncertain: 'unknown',
};

export interface SettlementInput {
  task: TaskRecord;
  revision: TaskRevision;
  receipt: RunReceipt;
  mutations: readonly Mutation[];
  judgement: Judgement;
  now: number;
  questionId: string;
}

export interface Settlement {
  change: TaskChange;
  receipt: RunReceipt;
}

export function settle(input: SettlementInput): Settlement {
  const { task, revision, receipt, judgement, mutations, now } = input;
  const { verdict, code, outcome, result } = judgement;
  const line = outcomeLine(judgement);
  const newer = task.revision > revision.revision;
  // A cancellation that arrived while the run settled by itself still ends the task; doubt does not give way to it.
  const cancelled = task.state === 'cancel_requested' && verdict !== 'uncertain';
  const next = step(
    task,
    cancelled ? 'settleCancelled' : newer && goesOn(verdict) ? 'settleSuperseded' : EVENT[verdict],
  );
  const { activeAttemptId: _, failure: __, question: ___, result: ____, notSent, ...kept } = next;
  const told = withDropped(line, notSent);
  const moved = next.state === 'queued';
  const record: TaskRecord = {
    ...kept,
    acted: task.acted || mutations.length > 0,
    session: { ...task.session, ...(moved ? {} : { idleSince: now }) },
    progress: { text: told, observedAt: now, source: 'runtime' },
    actionLog: logged(task, revision, line, result, now),
    ...(result ? { report: reportOf(result) } : {}),
    ...(moved ? {} : { outcome: cancelled ? 'cancelled' : outcome }),
    ...(verdict === 'failed' || verdict === 'uncertain' ? { failure: failureOf(code, result, now) } : {}),
    ...(verdict === 'verified' ? { result: { summary: line, artifactIds: [] } } : {}),
    ...(judgement.question && next.state === 'waiting_input'
      ? { question: { questionId: input.questionId, revision: revision.revision, ...judgement.question } }
      : {}),
    ...(task.control && task.control.phase === 'pending' ? { control: settledControl(task.control, verdict) } : {}),
  };
  const ended: RunReceipt = { ...receipt, status: 'ended', endedAt: now, outcome: RECEIPT[verdict], code };
  return {
    receipt: ended,
    change: {
      record,
      audit: 'task.settled',
      auditData: { code, outcome, mutations: mutations.length },
      ...(moved ? {} : { notices: [noticeOf(record, told, code)] }),
    },
  };
}

const goesOn = (verdict: Verdict): boolean => verdict !== 'uncertain' && verdict !== 'cancelled';

function settledControl(
  control: NonNullable<TaskRecord['control']>,
  verdict: Verdict,
): NonNullable<TaskRecord['control']> {
  if (verdict === 'uncertain') return { ...control, phase: 'blocked' };
  return { ...control, phase: control.action === 'pause' ? 'paused' : 'applied' };
}

function noticeOf(record: TaskRecord, text: string, code: string) {
  const { taskId, revision } = record;
  return record.question
    ? { kind: 'question' as const, taskId, revision, text: record.question.text, code }
    : { kind: 'settled' as const, taskId, revision, text, code };
}

/** The report without page text; the whole result is kept with the receipt's evidence. */
function reportOf({ observation: _, trace: __, ...report }: BrowserRunResult): NonNullable<TaskRecord['report']> {
  return report;
}

export function failureOf(
  code: string,
  result: BrowserRunResult | undefined,
  now: number,
): NonNullable<TaskRecord['failure']> {
  const reason = code.replace(/^BROWSER_/, '');
  const known = isCode(code) ? code : isCode(reason) ? reason : undefined;
  const provider = result?.providerFailure ? ` Provider: ${result.providerFailure.code}.` : '';
  const message = known ? `${describeCode(known)} ${codes[known].next}` : `The run stopped with ${reason}.`;
  return { code, message: message + provider, observedAt: now };
}

/** Commands appear in short; text that a command types appears as [text]. */
function logged(
  task: TaskRecord,
  revision: TaskRevision,
  line: string,
  result: BrowserRunResult | undefined,
  now: number,
) {
  const entry = { command: shorten(loggedCommand(revision, result), 200), result: shorten(line, 300), at: now };
  return [...task.actionLog, entry].slice(-ACTION_LOG_LENGTH);
}

function shorten(text: string, limit: number): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : characters.join('');
}
