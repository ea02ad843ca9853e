/** A new task: checked whole before anything is written, and written once however often it is sent. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { IDLE_TIMEOUT_MS, type TaskRecord, type TaskRevision, taskTables } from '../../core/receipts/task-record.ts';
import { HttpUrl } from '../../sdk/contract/browser-run.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller, SpawnRequest, TaskSnapshot } from '../../sdk/contract/task.ts';
import type { Room } from './deps.ts';
import { isClosed } from './session.ts';
import type { TaskChange } from './task-book.ts';
import { isActive } from './transitions.ts';

export const MAX_GOAL_CHARS = 8000;
export const MAX_FIELD_CHARS = 2000;
export const MAX_TITLE_CHARS = 250;

interface StoredRequest {
  digest: string;
  taskId: string;
}

export async function spawn(room: Room, caller: Caller, request: SpawnRequest): Promise<TaskSnapshot> {
  if (!room.authorization.may(caller, 'write')) refuse('ACCESS_DENIED', {});
  const requests = room.store.table<StoredRequest>(taskTables.spawnRequests);
  const { requestId } = request;
  const requestKey =
    requestId === undefined ? undefined : [caller.principalId, caller.agentId, caller.conversationId, requestId];
  const digest = digestOf(request);
  const known = () => {
    const stored = requestKey && requests.get(requestKey);
    if (!stored) return undefined;
    // A task that is gone leaves nothing to answer with; making another one could repeat what it did.
    if (stored.digest !== digest) refuse('IDEMPOTENCY_CONFLICT', {});
    return room.book.get(stored.taskId) ?? refuse('IDEMPOTENCY_CONFLICT', {});
  };

  const before = known();
  if (before) return room.book.snapshot(before);
  const goal = checkRequest(room, caller, request);

  for (;;) {
    const { replaced, conditions } = targetIsFree(room, request.targetId);
    const task = newTask(room, caller, request, goal);
    const created = await room.book.create({
      ...task,
      changes: requestKey ? [requests.put(requestKey, { digest, taskId: task.record.taskId })] : [],
      conditions: [...conditions, ...(requestKey ? [requests.unchanged(requestKey, 0)] : [])],
    });
    if (created) {
      if (replaced) await closeReplaced(room, replaced, created.taskId);
      return room.book.snapshot(created);
    }
    // Somebody was first: the same request (its task is the answer), or another task for the target (checked again).
    const meanwhile = known();
    if (meanwhile) return room.book.snapshot(meanwhile);
  }
}

function checkRequest(room: Room, caller: Caller, request: SpawnRequest): string {
  const features = room.features();
  const enabled = request.adapter === 'browser' ? features.browserTasks : features.computerTasks;
  if (request.adapter !== 'browser' && request.adapter !== 'computer') refuse('INVALID_GATEWAY_TARGET', {});
  if (!enabled || !room.jev.allowed(caller.agentId)) refuse('BROWSER_NOT_ALLOWED', {});
  const goal = checkGoal(request.instructions);
  if (request.title.trim() === '' || request.title.length > MAX_TITLE_CHARS) refuse('INVALID_INPUT', { path: 'title' });
  if (request.startUrl !== undefined) {
    if (request.adapter !== 'browser') refuse('INVALID_GATEWAY_TARGET', {});
    if (!v.is(HttpUrl, request.startUrl)) refuse('INVALID_BROWSER_START_URL', {});
  }
  for (const field of request.fields ?? []) {
    if (field.text.length > MAX_FIELD_CHARS) refuse('BROWSER_FIELD_VALUE_TOO_LONG', {});
  }
  const target = room.targets.resolve(caller, request.targetId);
  if (!target || target.adapter !== request.adapter) refuse('BROWSER_TARGET_NOT_AVAILABLE', {});
  return goal;
}

export function checkGoal(text: string): string {
  const goal = text.trim();
  if (goal === '' || goal.length > MAX_GOAL_CHARS) refuse('INVALID_BROWSER_GOAL', {});
  return goal;
}

/**
 * A target serves one session. One that failed or ended before it did anything, or whose work is verified, makes room.
 * @throws AUTOMATION_SESSION_EXISTS otherwise.
 */
function targetIsFree(room: Room, targetId: string) {
  const byTarget = room.store.table<string>(taskTables.byTarget);
  const last = room.book.lastOfTarget(targetId);
  const conditions = [byTarget.unchanged([targetId], last?.version ?? 0)];
  const task = last && room.book.get(last.taskId);
  if (!task || isClosed(task, room.clock.now())) return { conditions };
  const idleWithoutEffect = (task.state === 'failed' || task.state === 'completed') && !task.acted;
  const proven = task.state === 'completed' && task.outcome === 'verified';
  if (idleWithoutEffect || proven)
    return { conditions: [...conditions, room.book.unchanged(task.taskId)], replaced: task };
  return refuse('AUTOMATION_SESSION_EXISTS', {
    taskId: task.taskId,
    state: task.state,
    controller: task.controller,
    ...(task.progress ? { last: task.progress.text } : {}),
  });
}

const closeReplaced = (room: Room, replaced: TaskRecord, byTaskId: string) =>
  room.book.change(replaced.taskId, (current) =>
    isActive(current.state)
      ? undefined
      : {
          record: {
            ...current,
            replacedByTaskId: byTaskId,
            session: { ...current.session, closedAt: room.clock.now(), closedReason: 'supervisor' },
          },
          audit: 'task.replaced',
          auditData: { by: byTaskId },
        },
  );

function newTask(
  room: Room,
  caller: Caller,
  request: SpawnRequest,
  goal: string,
): Omit<TaskChange, 'changes' | 'conditions'> {
  const now = room.clock.now();
  const taskId = room.ids.uuid();
  const target = room.targets.resolve(caller, request.targetId);
  const { adapter, targetId, startUrl } = request;
  const record: TaskRecord = {
    taskId,
    conversationId: caller.conversationId,
    agentId: caller.agentId,
    sessionId: caller.sessionId,
    principalId: caller.principalId,
    title: request.title.trim(),
    goal,
    state: 'queued',
    stateVersion: 0,
    revision: 1,
    appliedRevision: 0,
    target: { adapter, targetId, name: target?.name ?? targetId, ...(startUrl === undefined ? {} : { startUrl }) },
    controller: 'user',
    session: { idleTimeoutMs: IDLE_TIMEOUT_MS },
    actionLog: [],
    queue: [],
    acted: false,
    started: false,
    replans: { used: 0, guidance: [] },
    ...(request.requestId === undefined ? {} : { requestId: request.requestId }),
    createdAt: now,
    updatedAt: now,
  };
  const revision: TaskRevision = {
    ...{ taskId, revision: 1, mode: 'spawn', instructions: goal, fields: request.fields ?? [], answers: [], at: now },
  };
  return { record, revision, audit: 'task.spawned', auditData: { adapter, target: targetId } };
}

function digestOf({ title, instructions, adapter, targetId, startUrl, fields }: SpawnRequest): string {
  const values = (fields ?? []).map(({ label, text }) => [label, text]);
  const contents = JSON.stringify([title, instructions, adapter, targetId, startUrl ?? null, values]);
  return createHash('sha256').update(contents).digest('hex');
}
