/**
 * Direct control of a task by its user: `revise`, `pause`, `resume`, and who gives the next instruction.
 *
 * A command given while another of the user's runs waits its turn and runs verbatim. One given while the agent's goal
 * runs corrects that goal. What is in doubt takes no command: it is read first.
 */
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller, TaskSnapshot } from '../../sdk/contract/task.ts';
import { type Dropped, enqueued, forItsEnd, unstarted, withDropped, withoutQueue } from './command-queue.ts';
import type { Room } from './deps.ts';
import type { Dispatcher } from './dispatcher.ts';
import { digestOf, inputEvent, knownInput, newInput } from './input-receipt.ts';
import { isUncertain } from './known-stops.ts';
import { atRevision, ownedForChange } from './ownership.ts';
import { newChain } from './replan.ts';
import { reviseChange } from './revise.ts';
import type { ControlCommand, InputReceipt } from './service.ts';
import { isClosed } from './session.ts';
import { step, type TaskChange } from './task-book.ts';
import { isActive } from './transitions.ts';

export const MAX_COMMAND_CHARS = 4000;
/** Characters that the goal of one run may have. */
const MAX_GOAL_CHARS = 8000;

export async function control(
  room: Room,
  dispatcher: Dispatcher,
  caller: Caller,
  command: ControlCommand,
): Promise<TaskSnapshot> {
  const { task } = await controlled(room, dispatcher, caller, command);
  return room.book.snapshot(task);
}

/** The same, with the receipt of the input. */
export async function controlled(
  room: Room,
  dispatcher: Dispatcher,
  caller: Caller,
  command: ControlCommand | (Omit<ControlCommand, 'expectedRevision'> & { expectedRevision: 'current' }),
): Promise<{ task: TaskRecord; receipt: InputReceipt }> {
  ownedForChange(room, caller, command.taskId);
  const { id, taskId, action, text, expectedRevision } = command;
  if ((action === 'revise') !== (text !== undefined)) refuse('INVALID_INPUT', { path: 'text' });
  if (text !== undefined && (text.trim() === '' || text.length > MAX_COMMAND_CHARS)) {
    refuse('INVALID_INPUT', { path: 'text' });
  }
  const digest = digestOf([action, text ?? null]);
  let stop: Stopping | undefined;
  let receipt: InputReceipt | undefined;
  const task = await room.book.change(taskId, (current) => {
    stop = undefined;
    receipt = knownInput(room, taskId, id, digest);
    if (receipt) return undefined;
    if (isClosed(current, room.clock.now())) refuse('AUTOMATION_SESSION_CLOSED', {});
    if (expectedRevision !== 'current') atRevision(current, expectedRevision);
    const made = changeFor(room, current, command);
    ({ stop } = made);
    const { record } = made.change;
    const queued = record.queue.some((waiting) => waiting.id === id);
    receipt = { status: queued ? 'queued' : 'applied', inputId: id, taskId, revision: record.revision };
    const input = newInput(room, taskId, digest, receipt);
    return {
      ...made.change,
      changes: [...(made.change.changes ?? []), ...input.changes],
      conditions: [...(made.change.conditions ?? []), ...input.conditions],
      events: [...(made.change.events ?? []), inputEvent(receipt)],
    };
  });
  if (stop) dispatcher.stop(taskId, stop);
  await withdrawNotices(room, task);
  dispatcher.wake();
  return { task, receipt: receipt ?? refuse('STATE_CONFLICT', {}) };
}

type Stopping = 'pause' | 'supersede';
interface Made {
  change: TaskChange;
  stop?: Stopping;
}

function changeFor(
  room: Room,
  current: TaskRecord,
  { id, action, text = '' }: Pick<ControlCommand, 'id' | 'action' | 'text'>,
): Made {
  switch (action) {
    case 'revise':
      return revise(room, withoutHandoff(current), id, text);
    case 'pause':
      return pause(room, current, id);
    case 'resume':
      return resume(room, current, id);
    case 'agent':
    case 'user':
      return { change: handOver(room, current, id, action) };
  }
}

/** A newer word of the user ends what was left to the agent, and the question that waited for an answer. */
function withoutHandoff(task: TaskRecord): TaskRecord {
  const { handoff: _, ...kept } = task;
  return kept;
}

function revise(room: Room, current: TaskRecord, id: string, text: string): Made {
  if (isUncertain(current)) refuse('STATE_CONFLICT', { state: current.state });
  const newest = room.book.revision(current.taskId, current.revision);
  if (isActive(current.state)) {
    const correctable =
      !newest?.directCommand && current.revision === current.appliedRevision && current.queue.length === 0;
    if (!correctable) return { change: queueChange(room, current, { id, text, at: room.clock.now() }) };
    const change = correctionChange(room, current, newest, id, text);
    const { state } = change.record;
    const stops = state === 'starting' || state === 'running';
    const record = withControl(
      room,
      stops ? { ...change.record, state: 'interrupting' } : change.record,
      id,
      'revise',
      'pending',
    );
    return { change: { ...change, record }, stop: 'supersede' };
  }
  if (current.state === 'queued' && (newest?.directCommand || current.queue.length > 0)) {
    return { change: queueChange(room, current, { id, text, at: room.clock.now() }) };
  }
  // A goal that was paused, or has not begun, is corrected; a finished round is followed by one command.
  const corrects = !newest?.directCommand && (current.paused || current.state === 'queued');
  const dropped = corrects ? undefined : withoutQueue(room, current, unstarted(room, current));
  const change = corrects
    ? correctionChange(room, current, newest, id, text)
    : commandChange(room, current, { id, text });
  const record = withControl(room, change.record, id, 'revise', 'applied');
  if (dropped?.text === undefined) return { change: { ...change, record } };
  // A command that was paused before it began gives way to a newer one, and is not forgotten.
  return { change: { ...change, ...said(room, { ...dropped, record: { ...record, queue: [] } }, '') } };
}

/** One command of the user, verbatim, as the task's next revision. The reply to a confirmation is one too. */
export function commandChange(room: Room, current: TaskRecord, { id, text }: { id: string; text: string }): TaskChange {
  const { confirm, paused: _, ...kept } = current;
  const change = reviseChange(room, kept, {
    mode: 'command',
    instructions: text,
    directCommand: true,
    origin: id,
    ...(confirm && { confirmation: { command: confirm.command, label: confirm.label, words: confirm.words } }),
  });
  return { ...change, record: { ...change.record, replans: newChain() }, audit: 'task.commanded' };
}

/** The agent's goal with the user's correction in front of it; earlier corrections stay. */
function correctionChange(
  room: Room,
  current: TaskRecord,
  newest: TaskRevision | undefined,
  id: string,
  text: string,
): TaskChange {
  const goal = newest?.correction?.goal ?? newest?.instructions ?? current.goal;
  const texts = [text, ...(newest?.correction?.texts ?? [])];
  const { paused: _, ...kept } = current;
  const change = reviseChange(room, kept, {
    mode: 'command',
    instructions: correctedGoal(goal, texts),
    correction: { goal, texts },
    origin: id,
  });
  return { ...change, record: { ...change.record, replans: newChain() }, audit: 'task.corrected' };
}

export function correctedGoal(goal: string, [latest = '', ...earlier]: readonly string[]): string {
  const lines = [
    `Latest user correction: ${latest}`,
    ...earlier.map((text) => `Earlier user correction: ${text}`),
    `Original goal: ${goal}`,
  ];
  return lines
    .join('\n\n')
    .slice(0, MAX_GOAL_CHARS)
    .replace(/[\ud800-\udbff]$/, '');
}

function queueChange(room: Room, current: TaskRecord, command: TaskRecord['queue'][number]): TaskChange {
  const record = withControl(room, enqueued(current, command), command.id, 'revise', 'pending');
  return { record, audit: 'task.command_queued', auditData: { waiting: record.queue.length } };
}

function pause(room: Room, current: TaskRecord, id: string): Made {
  if (isUncertain(current)) refuse('STATE_CONFLICT', { state: current.state });
  const dropped = withoutQueue(room, current);
  const { record: emptied, text, events, changes } = dropped;
  const told = (record: TaskRecord, line: string): TaskRecord => ({
    ...record,
    progress: { text: withDropped(line, text), observedAt: room.clock.now(), source: 'runtime' },
  });
  const audit = 'task.paused';
  if (isActive(current.state)) {
    const running = current.state === 'starting' || current.state === 'running';
    const stopping = running ? step(emptied, 'interrupt') : emptied;
    const record = told(withControl(room, stopping, id, 'pause', 'pending'), 'Pausing.');
    return { change: { record: forItsEnd(record, text), events, changes, audit }, stop: 'pause' };
  }
  if (current.state === 'queued') {
    const { idleSince: _, ...session } = emptied.session;
    const waiting: TaskRecord = {
      ...step(emptied, 'pauseQueued'),
      paused: true,
      session: { ...session, idleSince: room.clock.now() },
    };
    const record = told(withControl(room, waiting, id, 'pause', 'paused'), 'Paused.');
    return { change: { record, events, changes, audit } };
  }
  // Nothing is at work: there is nothing to pause, and nothing that could be resumed.
  return { change: { record: withControl(room, emptied, id, 'pause', 'applied'), events, changes, audit } };
}

/** Goes on with work that the owner paused. A command that acted before it was paused is finished, never repeated. */
function resume(room: Room, current: TaskRecord, id: string): Made {
  if (isUncertain(current)) refuse('STATE_CONFLICT', { state: current.state });
  const newest = room.book.revision(current.taskId, current.revision);
  if (!current.paused || !newest || isActive(current.state)) refuse('NOTHING_TO_RESUME', {});
  if (newest.directCommand && hasRun(room, current)) refuse('NOTHING_TO_RESUME', {});
  const { paused: _, ...kept } = current;
  const change = reviseChange(room, kept, {
    mode: 'resume',
    instructions: newest.instructions,
    ...(newest.guidance === undefined ? {} : { guidance: newest.guidance }),
    ...(newest.directCommand ? { directCommand: true } : {}),
    ...(newest.agentHandoff ? { agentHandoff: true } : {}),
    ...(newest.words === undefined ? {} : { words: newest.words }),
    ...(newest.confirmation && { confirmation: newest.confirmation }),
    ...(newest.correction && { correction: newest.correction }),
    origin: newest.origin ?? id,
  });
  const record = withControl(room, change.record, id, 'resume', 'applied');
  return { change: { ...change, record, audit: 'task.resumed' } };
}

/** Whether anything of the newest revision reached the page. */
function hasRun(room: Room, { taskId, dispatch, revision, appliedRevision }: TaskRecord): boolean {
  if (!dispatch || revision !== appliedRevision) return false;
  return room.receipts.mutations(taskId, dispatch.requestId).some(({ outcome }) => outcome !== 'not_executed');
}

/** Who gives the next instruction. Nothing that waits for approval, ownership or reading is passed by it. */
function handOver(room: Room, current: TaskRecord, id: string, to: 'agent' | 'user'): TaskChange {
  const kept: Dropped = { record: current, events: [], changes: [] };
  const {
    record: emptied,
    text,
    events,
    changes,
  } = to === 'agent' ? withoutQueue(room, current, current.paused ? unstarted(room, current) : []) : kept;
  const line = to === 'agent' ? 'The agent gives the next instruction.' : 'The user gives the next instruction.';
  const { taskId, revision } = current;
  const handed = withControl(room, emptied, id, to, 'applied');
  return {
    record: {
      ...(isActive(current.state) ? forItsEnd(handed, text) : handed),
      controller: to,
      ...(text === undefined
        ? {}
        : { progress: { text: withDropped(line, text), observedAt: room.clock.now(), source: 'runtime' as const } }),
    },
    events,
    changes,
    ...(to === 'agent' ? { notices: [{ kind: 'needs_move' as const, taskId, revision, text: line }] } : {}),
    audit: 'task.handed_over',
    auditData: { to },
  };
}

/** The line of a task, with what was not sent. */
function said(room: Room, { record, text, events, changes }: Dropped, line: string) {
  const progress = { text: withDropped(line, text), observedAt: room.clock.now(), source: 'runtime' as const };
  return { record: { ...record, progress }, events, changes };
}

function withControl(
  room: Room,
  task: TaskRecord,
  id: string,
  action: ControlCommand['action'],
  phase: NonNullable<TaskRecord['control']>['phase'],
): TaskRecord {
  return { ...task, control: { id, action, revision: task.revision, phase, requestedAt: room.clock.now() } };
}

/** Notices that a newer word of the user has answered. */
async function withdrawNotices(room: Room, task: TaskRecord): Promise<void> {
  const answered = room.book
    .notices(task.conversationId)
    .filter(
      (notice) =>
        notice.taskId === task.taskId &&
        ((notice.kind === 'question' && notice.revision !== task.revision) ||
          (notice.kind === 'handoff' && (notice.revision ?? 0) < task.revision)),
    );
  await room.book.acknowledge(
    task.conversationId,
    answered.map(({ noticeId }) => noticeId),
  );
}
