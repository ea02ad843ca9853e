/**
 * What follows from a settled round besides its line: the next command that waits, the agent's turn, the one question
 * before a high-impact command, what is said, and what the next round is told.
 */
import type { Mutation } from '../../core/receipts/receipt.ts';
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import type { Notice } from '../../sdk/contract/task.ts';
import { unstarted, withDropped, withoutQueue } from './command-queue.ts';
import { commandChange } from './control.ts';
import type { Room } from './deps.ts';
import type { NewEvent } from './event-log.ts';
import { changedInput } from './input-receipt.ts';
import { interactionOf } from './interaction.ts';
import { wordsOf } from './logged-command.ts';
import { confirmationQuestion, languageOf, type Reply, replyFor } from './reply-text.ts';
import type { Judgement } from './run-end.ts';
import { step, type TaskChange } from './task-book.ts';

/** Outcomes that are their own answer: no agent could do better (gateway: agent hand-off). */
const OWN_ANSWER = new Set([
  'SESSION_READY',
  'CONFIRMATION_REQUIRED',
  'CONFIRMATION_DECLINED',
  'SCROLL_LIMIT',
  'NEW_TAB_OUT_OF_SCOPE',
  'HISTORY_UNAVAILABLE',
  'NOTHING_TO_ERASE',
  'KEY_UNSUPPORTED',
]);

export interface Round {
  /** The task as it was when the round ended. */
  before: TaskRecord;
  revision: TaskRevision;
  judgement: Judgement;
  mutations: readonly Mutation[];
  /** What the settlement made of it. */
  change: TaskChange;
}

export function concludeRound(room: Room, round: Round): TaskChange {
  const { revision, judgement, change } = round;
  const interaction = interactionOf(change.record, judgement.result);
  const told = paused(round, { ...change, record: { ...change.record, ...(interaction && { interaction }) } });
  const settled = told.record.state !== 'queued' ? withTurn(room, round, told) : told;
  const next = goesOn(settled.record, judgement) ? nextCommand(room, settled) : withoutWaiting(room, settled);
  return revision.directCommand || revision.correction ? next : forAgent(next, judgement);
}

/** A pause that came while a newer revision was waiting holds that revision too. */
function paused({ before, judgement }: Round, change: TaskChange): TaskChange {
  const { control } = before;
  if (control?.action !== 'pause' || control.phase !== 'pending') return change;
  if (judgement.verdict === 'uncertain' || change.record.state === 'cancelled') return change;
  const { record } = change;
  if (record.state === 'queued') {
    const held = {
      ...step(record, 'pauseQueued'),
      paused: true as const,
      control: { ...control, phase: 'paused' as const },
    };
    return { ...change, record: held };
  }
  return record.state === 'waiting_input' ? { ...change, record: { ...record, paused: true } } : change;
}

/** The agent's turn or the question to the user, where the round calls for one. */
function withTurn(room: Room, round: Round, change: TaskChange): TaskChange {
  const { revision, judgement, mutations } = round;
  const { result, verdict } = judgement;
  const outcome = result?.commandOutcome;
  const reason = outcome?.reason ?? '';
  const { record } = change;
  const words = wordsOf(revision);
  const inputId = revision.origin ?? '';
  if (!revision.directCommand || record.paused) return change;
  const waits = verdict === 'waiting' && record.state === 'waiting_input' && outcome !== undefined;
  const untouched = mutations.every((mutation) => mutation.outcome === 'not_executed');

  if (waits && revision.agentHandoff && reason === 'CONFIRMATION_REQUIRED') {
    const question = confirmationQuestion(outcome.action, languageFor(round, words));
    const confirm = { command: revision.instructions, label: outcome.action?.label ?? '', inputId, words };
    const asked = {
      ...record,
      confirm,
      progress: { text: question.spoken, observedAt: record.updatedAt, source: 'runtime' as const },
    };
    return spoken(
      { ...change, record: { ...asked, progress: { ...asked.progress, observedAt: room.clock.now() } }, notices: [] },
      round,
      question,
      reason,
    );
  }
  if (waits && untouched && revision.confirmation && unread(judgement)) {
    // The reply could not be read: the question stands, so that a yes is not lost and never taken for anything else.
    const confirm = { ...revision.confirmation, inputId };
    const reply = replyFor({ words, language: languageFor(round, words), outcome, unknown: false, open: true });
    const asked = { ...change, record: { ...record, confirm }, notices: [] };
    return reply ? spoken(asked, round, reply, reason) : asked;
  }
  const mayHandOff = waits && !outcome.done && untouched && !revision.agentHandoff && !revision.confirmation;
  if (mayHandOff && result?.stepRun === undefined && !OWN_ANSWER.has(reason) && record.queue.length === 0) {
    return handedOver(room, change, { words, inputId, kind: reason === 'READ_REQUEST' ? 'read_request' : 'handoff' });
  }
  const reply = replyFor({
    words,
    language: languageFor(round, words),
    outcome,
    unknown: verdict === 'uncertain',
    open: verdict === 'waiting' || verdict === 'candidate' || verdict === 'superseded',
  });
  // A command that settled by itself is told on its task; only an end that nobody waits for is news to the agent.
  const quiet = verdict === 'waiting' && !record.question ? { ...change, notices: [] } : change;
  return reply ? spoken(quiet, round, reply, reason) : quiet;
}

/** Jev did not answer, so nothing was understood of the words. */
const unread = ({ result }: Judgement): boolean =>
  result?.providerFailure !== undefined || result?.commandOutcome?.reason === 'ADAPTER_TIMEOUT';

function handedOver(
  room: Room,
  change: TaskChange,
  { words, inputId, kind }: { words: string; inputId: string; kind: 'handoff' | 'read_request' },
): TaskChange {
  const { taskId, revision } = change.record;
  const code = kind === 'read_request' ? 'READ_REQUEST' : 'AGENT_HANDOFF';
  const notice: Omit<Notice, 'noticeId' | 'createdAt'> = { kind, taskId, revision, text: words, code };
  const receipt = changedInput(room, taskId, inputId, { status: 'needs_agent', code });
  return {
    ...change,
    record: { ...change.record, handoff: { kind, inputId, words, revision, used: false } },
    notices: [notice],
    changes: [...(change.changes ?? []), ...receipt.changes],
    events: [...(change.events ?? []), ...receipt.events],
  };
}

/** A settled command lets the queue go on; a failure, doubt or an open question ends it (DECISIONS 2). */
function goesOn(record: TaskRecord, { verdict }: Judgement): boolean {
  if (record.state === 'queued') return true;
  const open = verdict === 'waiting' || verdict === 'candidate' || verdict === 'verified' || verdict === 'superseded';
  return open && record.question === undefined && record.confirm === undefined;
}

function nextCommand(room: Room, change: TaskChange): TaskChange {
  const { record } = change;
  const [next, ...waiting] = record.queue;
  if (!next || record.state === 'queued' || record.state === 'cancelled') return change;
  const { handoff: _, ...kept } = record;
  const applied = commandChange(room, { ...kept, queue: waiting }, next);
  const { taskId, revision } = applied.record;
  const receipt = changedInput(room, taskId, next.id, { status: 'applied', revision });
  return {
    ...change,
    record: applied.record,
    ...(applied.revision && { revision: applied.revision }),
    changes: [...(change.changes ?? []), ...receipt.changes],
    events: [...(change.events ?? []), ...receipt.events],
    notices: (change.notices ?? []).filter(({ kind }) => kind === 'read_request'),
  };
}

function withoutWaiting(room: Room, change: TaskChange): TaskChange {
  // A cancellation has listed what it ended already.
  const pending = change.record.cancellation ? [] : unstarted(room, change.record);
  const { record, text, events, changes } = withoutQueue(room, change.record, pending);
  if (text === undefined) return change;
  const line = withDropped(record.progress?.text ?? '', text);
  return {
    ...change,
    record: { ...record, progress: { text: line, observedAt: room.clock.now(), source: 'runtime' } },
    changes: [...(change.changes ?? []), ...changes],
    events: [...(change.events ?? []), ...events],
    notices: (change.notices ?? []).map((notice) => (notice.kind === 'settled' ? { ...notice, text: line } : notice)),
  };
}

/** The agent's own goal that ends as a step run, with no question to the owner, is the agent's to continue. */
function forAgent(change: TaskChange, { verdict, result }: Judgement): TaskChange {
  const { record } = change;
  if (verdict !== 'waiting' || !result?.stepRun || record.question || record.paused) return change;
  return {
    ...change,
    notices: (change.notices ?? []).map((notice) =>
      notice.kind === 'settled' ? { ...notice, kind: 'needs_move' } : notice,
    ),
  };
}

const languageFor = ({ before }: Round, words: string) =>
  languageOf(
    words,
    before.actionLog.map(({ command }) => command),
  );

function spoken(change: TaskChange, { revision, before }: Round, reply: Reply, code: string): TaskChange {
  const event: NewEvent = {
    type: 'task.reply',
    taskId: before.taskId,
    data: { inputId: revision.origin ?? null, code, ...reply },
  };
  return { ...change, events: [...(change.events ?? []), event] };
}
