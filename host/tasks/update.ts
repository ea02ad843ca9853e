/** `task_update`: a new instruction, or a confirmation by fresh evidence. */
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller, Notice, TaskSnapshot } from '../../sdk/contract/task.ts';
import { unstarted } from './command-queue.ts';
import type { Room } from './deps.ts';
import type { Dispatcher } from './dispatcher.ts';
import { handoffChange, refuseUnderHandoff } from './handoff.ts';
import { isUncertain } from './known-stops.ts';
import { atRevision, ownedForChange } from './ownership.ts';
import { confirmByEvidence, reconcileByEvidence } from './proof.ts';
import { counted, newChain, noticeOver, replanned } from './replan.ts';
import { reviseChange } from './revise.ts';
import type { TaskUpdate } from './service.ts';
import { checkGoal } from './spawn.ts';
import type { TaskChange } from './task-book.ts';
import { isActive } from './transitions.ts';

export async function update(
  room: Room,
  dispatcher: Dispatcher,
  caller: Caller,
  request: TaskUpdate,
): Promise<TaskSnapshot> {
  const known = ownedForChange(room, caller, request.taskId);
  if (request.mode === 'verify_browser' || request.mode === 'reconcile_browser') refuseUnderHandoff(known);
  switch (request.mode) {
    case 'verify_browser':
      return confirmByEvidence(room, caller, request);
    case 'reconcile_browser': {
      const snapshot = await reconcileByEvidence(room, caller, request);
      dispatcher.wake();
      return snapshot;
    }
    case 'when_ready':
    case 'interrupt_and_resume':
      return instruct(room, dispatcher, caller, request);
  }
}

async function instruct(
  room: Room,
  dispatcher: Dispatcher,
  caller: Caller,
  request: TaskUpdate,
): Promise<TaskSnapshot> {
  const instruction = checkGoal(request.instruction);
  const interrupts = request.mode === 'interrupt_and_resume';
  const notices = room.book.notices(caller.conversationId);
  let acted: string | undefined;
  const task = await room.book.change(request.taskId, (current) => {
    const handed = handoffChange(
      room,
      current,
      request,
      notices.find(({ noticeId }) => noticeId === request.noticeId),
    );
    if (handed) {
      const turn = notices.find(({ kind, taskId }) => kind === 'handoff' && taskId === current.taskId);
      acted = turn?.noticeId;
      return handed;
    }
    atRevision(current, request.expectedRevision);
    if (isUncertain(current)) refuse('STATE_CONFLICT', { state: current.state });
    // The user's own words go first: an agent's instruction neither overtakes nor replaces one that waits, and does not
    // go past a pause unless the user gave control away.
    const held = current.paused && current.controller === 'user';
    if (held || current.queue.length > 0 || unstarted(room, current).length > 0) {
      refuse('STATE_CONFLICT', { state: current.state });
    }
    const notice = noticeOver(current, notices, request.noticeId);
    acted = notice?.noticeId;
    if (notice?.kind === 'read_request') refuse('READ_REQUEST_ONLY', {});
    const change = changeUnder(room, current, request, { notice, instruction });
    return interrupts ? interrupting(change) : change;
  });
  if (acted) await room.book.acknowledge(caller.conversationId, [acted]);
  if (interrupts) dispatcher.stop(task.taskId, 'supersede');
  dispatcher.wake();
  return room.book.snapshot(task);
}

/**
 * A stop is replanned: the goal stays, guidance goes beside it. A session that only waits takes the next instruction; one
 * that no new word of the user stands behind counts like a replan. A message or an answer of the user is such a word.
 */
function changeUnder(
  room: Room,
  current: TaskChange['record'],
  request: TaskUpdate,
  { notice, instruction }: { notice: Notice | undefined; instruction: string },
): TaskChange {
  const alone = notice !== undefined && notice.kind !== 'question' && notice.kind !== 'message';
  if (!alone || isActive(current.state) || current.state === 'queued')
    return direct(room, current, request, instruction);
  if (current.state === 'failed' || current.state === 'needs_reconciliation') return replan(room, current, instruction);
  const replans = counted(current, instruction);
  const change = direct(room, current, request, instruction);
  return { ...change, record: { ...change.record, replans } };
}

function replan(room: Room, current: TaskChange['record'], guidance: string): TaskChange {
  const replans = replanned(current, guidance);
  const before = room.book.revision(current.taskId, current.revision);
  const change = reviseChange(room, current, {
    mode: 'when_ready',
    instructions: before?.instructions ?? current.goal,
    guidance,
  });
  return { ...change, record: { ...change.record, replans }, audit: 'task.replanned' };
}

function direct(room: Room, current: TaskChange['record'], request: TaskUpdate, instruction: string): TaskChange {
  const change = reviseChange(room, current, {
    mode: request.mode === 'interrupt_and_resume' ? 'interrupt_and_resume' : 'when_ready',
    instructions: instruction,
    fields: request.fields ?? [],
  });
  return { ...change, record: { ...change.record, replans: newChain() } };
}

/** A run that is at work stops for the newer instruction; one that is already stopping goes on stopping. */
function interrupting(change: TaskChange): TaskChange {
  const { state } = change.record;
  if (state !== 'starting' && state !== 'running') return change;
  return { ...change, record: { ...change.record, state: 'interrupting' } };
}
