/** Puts the parts of this room together behind `TaskService`. */
import { createAuditLog } from '../../core/receipts/audit-log.ts';
import { createReceipts } from '../../core/receipts/receipts.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import { answer } from './answer.ts';
import { cancel } from './cancel.ts';
import { control } from './control.ts';
import { DEFAULT_LIMITS, type Room, type TaskServiceDeps } from './deps.ts';
import { createDispatcher } from './dispatcher.ts';
import { createEventLog } from './event-log.ts';
import { createHandoffWatch } from './handoff-watch.ts';
import { makeIndexes } from './indexes.ts';
import { createInbox } from './message.ts';
import { createOwnerQuestions } from './owner-questions.ts';
import { owned } from './ownership.ts';
import { recover } from './recovery.ts';
import { createRecoveryWatch } from './recovery-watch.ts';
import { keepPruning } from './retention.ts';
import type { TaskEvent, TaskNotices, TaskReceipts, TaskService } from './service.ts';
import { spawn } from './spawn.ts';
import { speechRule } from './speech-rule.ts';
import { status } from './status.ts';
import { createTaskBook } from './task-book.ts';
import { createTurns } from './turns.ts';
import { update } from './update.ts';

/** Targets on one page of a discovery. */
export const DISCOVERY_PAGE = 25;
/** Characters of a notice from another room. */
const MAX_NOTICE_CHARS = 4000;
/** Events that a reader takes from the store at once. */
const EVENT_BATCH = 100;

export function createTaskService(deps: TaskServiceDeps): TaskService & TaskReceipts & TaskNotices {
  const room = createRoom(deps);
  const handoffs = createHandoffWatch(room);
  const dispatcher = createDispatcher(room, async (task) => handoffs.settled(task));
  const inbox = createInbox(room, dispatcher);

  const recovery = createRecoveryWatch(room);
  let pruning: { stop(): void } | undefined;

  return {
    async start() {
      await makeIndexes(room.store);
      await recover(room);
      room.audit.kick();
      dispatcher.begin();
      recovery.begin();
      if (room.retention) pruning = keepPruning(room, room.retention);
    },

    async discover(caller, { text, offset = 0, adapter }, signal) {
      if (!room.authorization.may(caller, 'read')) refuse('ACCESS_DENIED', {});
      if (!Number.isSafeInteger(offset) || offset < 0) refuse('INVALID_INPUT', { path: 'offset' });
      const { browserTasks, computerTasks } = room.features();
      const enabled = adapter === 'computer' ? computerTasks : browserTasks;
      if (!enabled || !room.jev.allowed(caller.agentId)) refuse('BROWSER_NOT_ALLOWED', {});
      const writable = room.authorization.may(caller, 'write');
      const found = await room.targets.discover({ ...ownerOf(caller), writable }, signal);
      const wanted = text?.toLowerCase();
      const matching = found
        .filter((one) => adapter === undefined || one.adapter === adapter)
        .filter((one) => !wanted || `${one.id} ${one.name}`.toLowerCase().includes(wanted));
      const page = matching.slice(offset, offset + DISCOVERY_PAGE);
      const more = offset + page.length < matching.length;
      return {
        targets: page.map(({ adapter, id, name }) => ({ adapter, session_id: id, name, version: 1 })),
        nextOffset: more ? offset + page.length : null,
      };
    },

    async spawn(caller, request) {
      const snapshot = await spawn(room, caller, request);
      dispatcher.wake();
      return snapshot;
    },
    async status(caller, query, signal) {
      const reply = await status(room, caller, query, signal, (noticeIds) =>
        handoffs.acknowledged(caller.conversationId, noticeIds),
      );
      handoffs.shown(reply.notices);
      return reply;
    },
    update: (caller, request) => update(room, dispatcher, caller, request),
    answer: (caller, given) => answer(room, dispatcher, caller, given),
    cancel: (caller, request) => cancel(room, dispatcher, caller, request),
    control: (caller, command) => control(room, dispatcher, caller, command),
    message: inbox.message,
    speechRule(caller, taskId) {
      const task = owned(room, caller, taskId);
      return speechRule(task, room.book.revision(taskId, task.revision));
    },

    async receipts(caller, taskId) {
      owned(room, caller, taskId);
      return room.receipts
        .list(taskId)
        .map(({ requestId, revision, status: state, startedAt, endedAt, outcome, code }) => ({
          ...{ requestId, revision, status: state, startedAt },
          ...(endedAt === undefined ? {} : { endedAt }),
          ...(outcome ? { outcome } : {}),
          ...(code ? { code } : {}),
          mutations: room.receipts.mutations(taskId, requestId).map((mutation) => ({
            ...{ operationId: mutation.operationId, operation: mutation.operation, recordedAt: mutation.recordedAt },
            ...(mutation.outcome ? { outcome: mutation.outcome } : {}),
          })),
        }));
    },

    events: (caller, afterId, signal) => follow(room, caller, afterId, signal),

    async notify({ conversationId, agentId }, { text, code }) {
      const notice = { kind: 'message' as const, text: text.slice(0, MAX_NOTICE_CHARS), ...(code ? { code } : {}) };
      await room.book.notify({ conversationId, agentId }, notice);
    },

    async stop() {
      pruning?.stop();
      await recovery.stop();
      handoffs.stop();
      await dispatcher.shutdown();
      await room.audit.drain().catch(() => {});
    },
  };
}

export function createRoom(deps: TaskServiceDeps): Room {
  const { store, clock, ids } = deps;
  const audit = createAuditLog(store);
  const events = createEventLog(store);
  const turns = createTurns();
  return {
    ...deps,
    audit,
    events,
    turns,
    questions: createOwnerQuestions(),
    receipts: createReceipts({ store, audit, clock }),
    book: createTaskBook({ store, events, audit, turns, clock, ids }),
    runLimits: { ...DEFAULT_LIMITS, ...deps.limits },
  };
}

/** Events of the caller's own conversation; a caller whose access ended hears nothing more. */
async function* follow(room: Room, caller: Caller, afterId: number, signal: AbortSignal): AsyncIterable<TaskEvent> {
  // A number that was never given comes from before a restore. Hearing something twice loses nothing; skipping would.
  let last = afterId > room.events.lastId(caller.conversationId) ? 0 : afterId;
  while (!signal.aborted) {
    if (!room.authorization.may(caller, 'read')) return;
    const batch = room.events.after(caller.conversationId, last, EVENT_BATCH);
    for (const event of batch) {
      if (signal.aborted) return;
      last = event.id;
      if (event.agentId === caller.agentId) yield event;
    }
    if (batch.length === 0) await room.events.next(caller.conversationId, signal);
  }
}

const ownerOf = ({ agentId, principalId, conversationId }: Caller) => ({ agentId, principalId, conversationId });
