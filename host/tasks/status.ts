/** `task_status`: what is, and, when asked to, a wait until something is newer. */
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import type { Room } from './deps.ts';
import { type EvidenceKind, readEvidence } from './evidence.ts';
import { owned } from './ownership.ts';
import type { StatusReply } from './service.ts';
import { publicNotice } from './task-book.ts';
import { isFinished } from './transitions.ts';

export const MAX_WAIT_MS = 60_000;
/** Tasks in a list, the newest. */
export const MAX_LISTED = 50;

export interface StatusQuery {
  taskId?: string;
  waitMs?: number;
  afterVersion?: number;
  evidence?: EvidenceKind;
  acknowledge?: string[];
}

/** @param acknowledged told which notices were, before they go. */
export async function status(
  room: Room,
  caller: Caller,
  query: StatusQuery,
  signal: AbortSignal,
  acknowledged: (noticeIds: readonly string[]) => Promise<void>,
): Promise<StatusReply> {
  if (!room.authorization.may(caller, 'read')) refuse('ACCESS_DENIED', {});
  if (query.taskId !== undefined) owned(room, caller, query.taskId);
  // Only now: a call that is refused acknowledges nothing.
  if (query.acknowledge?.length) {
    await acknowledged(query.acknowledge);
    await room.book.acknowledge(caller.conversationId, query.acknowledge);
  }
  if (query.waitMs) await waitForNews(room, caller, query, signal);
  const reply = current(room, caller, query);
  if (query.taskId === undefined || query.evidence === undefined) return reply;
  return { ...reply, evidence: await readEvidence(room, caller, query.taskId, query.evidence, signal) };
}

function current(room: Room, caller: Caller, { taskId }: StatusQuery): StatusReply {
  const notices = room.book
    .notices(caller.conversationId)
    .filter((notice) => taskId === undefined || notice.taskId === undefined || notice.taskId === taskId)
    .map(publicNotice);
  if (taskId !== undefined) return { task: room.book.snapshot(owned(room, caller, taskId)), notices };
  const tasks = room.book
    .list(caller.conversationId, MAX_LISTED)
    .filter((task) => room.authorization.may(caller, 'read', task));
  return { tasks: tasks.map((task) => room.book.snapshot(task)), notices };
}

/** Returns at once when something newer, terminal or a notice is there (DECISIONS 10). */
async function waitForNews(room: Room, caller: Caller, query: StatusQuery, signal: AbortSignal): Promise<void> {
  const { conversationId } = caller;
  const deadline = AbortSignal.timeout(Math.min(query.waitMs ?? 0, MAX_WAIT_MS));
  const until = AbortSignal.any([signal, deadline]);
  const from = room.events.lastId(conversationId);
  const version =
    query.taskId === undefined ? 0 : (query.afterVersion ?? owned(room, caller, query.taskId).stateVersion);
  for (;;) {
    if (until.aborted || !room.authorization.may(caller, 'read')) return;
    if (query.taskId === undefined) {
      if (room.book.notices(conversationId).length > 0 || room.events.lastId(conversationId) > from) return;
    } else {
      const task = owned(room, caller, query.taskId);
      const told = room.book.notices(conversationId).some((notice) => notice.taskId === task.taskId);
      if (task.stateVersion > version || isFinished(task.state) || told) return;
    }
    await room.events.next(conversationId, until);
  }
}
