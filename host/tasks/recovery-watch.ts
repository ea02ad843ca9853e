/**
 * Asks, in the background, what became of the operations of tasks that are in doubt. Reads only: the device's own record of
 * exactly the operations that the task's receipt names. What it says settles the record and is told to the agent; the task
 * stays where it is, because only fresh evidence and the agent's word take it on.
 *
 * Threat: what was read belongs to the run that it was read for. A task that was reconciled, cancelled or lost its access in the
 * meantime keeps nothing of it.
 */
import type { Mutation } from '../../core/receipts/receipt.ts';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import type { Room } from './deps.ts';
import { isOpen, isUncertain } from './known-stops.ts';
import { knownOutcome, type ReadStatus, readStatuses } from './operation-status.ts';
import { isClosed } from './session.ts';
import type { TaskChange } from './task-book.ts';

/** Milliseconds between two questions about the same task. */
export const RECOVERY_PAUSE_MS = 15_000;
/** Tasks that are asked about at the same time. */
export const RECOVERY_AT_ONCE = 2;
/** Milliseconds between two looks for tasks whose turn it is. */
const TICK_MS = 1000;

export interface RecoveryWatch {
  begin(): void;
  /** Asks about those whose turn it is, the oldest first. Resolves when they were asked. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

export function createRecoveryWatch(room: Room): RecoveryWatch {
  const askedAt = new Map<string, number>();
  const stopping = new AbortController();
  let passing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const isDue = (taskId: string, now: number) =>
    now - (askedAt.get(taskId) ?? Number.NEGATIVE_INFINITY) >= RECOVERY_PAUSE_MS;

  async function once(): Promise<void> {
    const now = room.clock.now();
    const uncertain = new Set(room.book.uncertain());
    for (const taskId of askedAt.keys()) if (!uncertain.has(taskId)) askedAt.delete(taskId);
    const due: Question[] = [];
    for (const taskId of uncertain) {
      if (due.length >= RECOVERY_AT_ONCE) break;
      const question = isDue(taskId, now) ? questionOf(room, taskId) : undefined;
      if (question) due.push(question);
    }
    for (const { task } of due) askedAt.set(task.taskId, now);
    await Promise.all(due.map((question) => ask(room, question, stopping.signal).catch(() => {})));
  }

  const pass = (): Promise<void> => {
    passing ??= once().finally(() => {
      passing = undefined;
    });
    return passing;
  };

  return {
    pass,
    begin() {
      const tick = () => void pass().catch(() => {});
      timer = setInterval(tick, TICK_MS).unref();
      tick();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await passing?.catch(() => {});
    },
  };
}

interface Question {
  task: TaskRecord;
  requestId: string;
  open: Mutation[];
}

/** What may be asked about a task now; undefined when nothing is open, or nothing may be asked. */
function questionOf(room: Room, taskId: string): Question | undefined {
  const task = room.book.get(taskId);
  const requestId = task?.dispatch?.requestId;
  if (!task || requestId === undefined || task.target.adapter !== 'browser') return undefined;
  if (!isUncertain(task) || isClosed(task, room.clock.now()) || !mayRead(room, task)) return undefined;
  if (room.receipts.get(taskId, requestId)?.status !== 'ended') return undefined;
  const open = room.receipts.mutations(taskId, requestId).filter(isOpen);
  return open.length > 0 ? { task, requestId, open } : undefined;
}

const mayRead = (room: Room, task: TaskRecord): boolean =>
  room.authorization.may(task, 'read', task) && room.jev.allowed(task.agentId);

async function ask(room: Room, { task, requestId, open }: Question, signal: AbortSignal): Promise<void> {
  const target = room.targets.resolve(task, task.target.targetId);
  if (!target) return;
  const tools = await room.targets.open(target, undefined, () => mayRead(room, task));
  let statuses: ReadStatus[];
  try {
    statuses = await readStatuses(tools, open, (ms) => AbortSignal.any([signal, AbortSignal.timeout(ms)]));
  } finally {
    await tools.close().catch(() => {});
  }
  if (!statuses.some(({ status }) => knownOutcome(status))) return;
  await room.book.change(task.taskId, (current) => {
    const same =
      current.revision === task.revision &&
      current.dispatch?.requestId === requestId &&
      !isClosed(current, room.clock.now());
    return same && isUncertain(current) && mayRead(room, current)
      ? settled(room, current, requestId, statuses)
      : undefined;
  });
}

function settled(
  room: Room,
  current: TaskRecord,
  requestId: string,
  statuses: readonly ReadStatus[],
): TaskChange | undefined {
  const { receipts, clock } = room;
  const { taskId, revision } = current;
  const now = clock.now();
  const receipt = receipts.get(taskId, requestId);
  const before = receipts.mutations(taskId, requestId);
  const known = statuses.flatMap(({ mutation, status }) => {
    const outcome = knownOutcome(status);
    const mine = before.find((one) => one.sequence === mutation.sequence);
    return outcome && mine && isOpen(mine) ? [receipts.settleMutation(mine, outcome, now)] : [];
  });
  if (!receipt || known.length === 0) return undefined;
  const mutations = before.map(
    (one) => known.find(({ mutation }) => mutation.sequence === one.sequence)?.mutation ?? one,
  );
  const open = mutations.filter(isOpen).length;
  const done = known.filter(({ mutation }) => mutation.outcome === 'confirmed').length;
  const text = lineOf(done, known.length - done, open);
  return {
    record: {
      ...current,
      outcome: open > 0 ? 'unknown' : 'interrupted',
      progress: { text, observedAt: now, source: 'runtime' },
    },
    changes: [...known.map(({ change }) => change), ...receipts.replace(receipt, mutations, 'receipt.recovered')],
    notices: [{ kind: 'settled', taskId, revision, text }],
    audit: 'task.recovered',
    auditData: { done, notDone: known.length - done, open },
  };
}

function lineOf(done: number, notDone: number, open: number): string {
  const parts = [
    ...(done > 0 ? [`${done === 1 ? 'one action was' : `${done} actions were`} carried out`] : []),
    ...(notDone > 0 ? [`${notDone === 1 ? 'one was' : `${notDone} were`} not`] : []),
    ...(open > 0 ? [`of ${open === 1 ? 'one' : open} it is still not known`] : []),
  ];
  return `The device's record says: ${parts.join(', ')}. Look at the page before going on.`;
}
