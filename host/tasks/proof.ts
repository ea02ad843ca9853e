/**
 * Confirmation by fresh evidence (wire-contracts 4.11). Proof belongs to one run of one task, is at most five minutes
 * old, and never settles what is in doubt: an unknown action can be reconciled, not verified.
 */
import { isOperationId, MAX_STATEMENT_CHARS, type RunReceipt } from '../../core/receipts/receipt.ts';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller, TaskSnapshot } from '../../sdk/contract/task.ts';
import type { Room } from './deps.ts';
import { isUncertain, isVerifiable } from './known-stops.ts';
import { atRevision, ownedForChange } from './ownership.ts';
import { reviseChange } from './revise.ts';
import type { TaskUpdate } from './service.ts';
import { isClosed } from './session.ts';
import { step } from './task-book.ts';
import { isActive } from './transitions.ts';

/** Milliseconds that fresh evidence proves something. */
export const PROOF_TTL_MS = 300_000;

export async function confirmByEvidence(room: Room, caller: Caller, request: TaskUpdate): Promise<TaskSnapshot> {
  const { receipts, clock } = room;
  const task = await room.book.change(request.taskId, (current) => {
    ownedForChange(room, caller, request.taskId);
    const statement = statementOf(request);
    if (isRepeat(current, request)) return undefined;
    atRevision(current, request.expectedRevision);
    const receipt = provenReceipt(room, current, request);
    if (!isVerifiable(current)) refuse('BROWSER_VERIFICATION_UNAVAILABLE', {});
    const at = clock.now();
    const evidence = receipt.inspection?.id ?? '';
    const { failure: _, ...kept } = step(current, 'verify');
    const report = current.report && {
      ...current.report,
      verification: { source: 'parent' as const, evidence: statement, at },
    };
    const line = 'Done: the goal was confirmed by fresh evidence.';
    return {
      record: {
        ...kept,
        outcome: 'verified',
        result: { summary: statement, artifactIds: [] },
        progress: { text: line, observedAt: at, source: 'runtime' },
        session: { ...current.session, idleSince: at },
        ...(report ? { report } : {}),
      },
      changes: receipts.replace(
        { ...receipt, verification: { evidenceId: evidence, at, statement } },
        receipts.mutations(receipt.taskId, receipt.requestId),
        'receipt.verified',
      ),
      audit: 'task.verified',
      auditData: { evidence },
    };
  });
  await acknowledgeSettled(room, task);
  return room.book.snapshot(task);
}

/** Starts the next revision of an uncertain task once reading has settled every open action. Never VERIFIED. */
export async function reconcileByEvidence(room: Room, caller: Caller, request: TaskUpdate): Promise<TaskSnapshot> {
  const { receipts } = room;
  const task = await room.book.change(request.taskId, (current) => {
    ownedForChange(room, caller, request.taskId);
    atRevision(current, request.expectedRevision);
    if (isClosed(current, room.clock.now())) refuse('AUTOMATION_SESSION_CLOSED', {});
    if (!isUncertain(current)) refuse('BROWSER_VERIFICATION_UNAVAILABLE', {});
    const receipt = provenReceipt(room, current, request);
    const mutations = receipts.mutations(receipt.taskId, receipt.requestId);
    const settled = mutations.every(({ outcome }) => outcome === 'confirmed' || outcome === 'not_executed');
    if (!settled) refuse('BROWSER_VERIFICATION_UNAVAILABLE', {});
    const change = reviseChange(
      room,
      { ...current, outcome: 'stopped' },
      {
        mode: 'reconcile',
        instructions: request.instruction.trim() || current.goal,
        fields: request.fields ?? [],
      },
    );
    return { ...change, audit: 'task.reconciled' };
  });
  await acknowledgeSettled(room, task);
  return room.book.snapshot(task);
}

/** @throws STALE_BROWSER_EVIDENCE, BROWSER_VERIFICATION_UNAVAILABLE. */
function provenReceipt(room: Room, task: TaskRecord, request: TaskUpdate): RunReceipt {
  const current = task.dispatch?.requestId;
  if (current === undefined || isActive(task.state)) refuse('STALE_BROWSER_EVIDENCE', {});
  if (request.expectedRequestId !== current) refuse('STALE_BROWSER_EVIDENCE', {});
  const receipt = room.receipts.get(task.taskId, current);
  const inspection = receipt?.inspection;
  if (receipt?.status !== 'ended' || !inspection || inspection.id !== request.evidenceId) {
    refuse('BROWSER_VERIFICATION_UNAVAILABLE', {});
  }
  const age = room.clock.now() - inspection.at;
  if (age < 0 || age > PROOF_TTL_MS) refuse('BROWSER_VERIFICATION_UNAVAILABLE', {});
  return receipt;
}

/** Confirming the same run by the same evidence again changes nothing. */
function isRepeat(task: TaskRecord, request: TaskUpdate): boolean {
  return (
    task.state === 'completed' &&
    task.outcome === 'verified' &&
    task.report?.verification !== undefined &&
    task.dispatch?.requestId === request.expectedRequestId &&
    isOperationId(request.evidenceId)
  );
}

function statementOf(request: TaskUpdate): string {
  const statement = request.instruction.trim();
  if (statement === '' || statement.length > MAX_STATEMENT_CHARS) refuse('INVALID_INPUT', { path: 'instruction' });
  return statement;
}

async function acknowledgeSettled(room: Room, task: TaskRecord): Promise<void> {
  const ids = room.book
    .notices(task.conversationId)
    .filter((notice) => notice.taskId === task.taskId && notice.kind === 'settled')
    .map((notice) => notice.noticeId);
  await room.book.acknowledge(task.conversationId, ids);
}
