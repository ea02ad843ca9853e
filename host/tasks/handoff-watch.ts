/**
 * Words that no agent takes within half a minute settle as the plain not-done line (DECISIONS 9). A notice that was read is
 * given longer, once: whoever read it may be about to act. A restart keeps what is open until the user speaks again: doubt about who was told is no reason to act.
 */
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import type { Notice } from '../../sdk/contract/task.ts';
import type { Room } from './deps.ts';
import type { NewEvent } from './event-log.ts';
import { changedInput } from './input-receipt.ts';
import { languageOf, replyFor } from './reply-text.ts';

/** By how much longer a notice waits once it was read. */
const READ_FACTOR = 6;

export interface HandoffWatch {
  /** A round settled; its words may have been handed over. */
  settled(task: TaskRecord): void;
  /** An agent was shown these notices. */
  shown(notices: readonly Notice[]): void;
  /** An agent acknowledged these: a question that it has answered limits it no longer. */
  acknowledged(conversationId: string, noticeIds: readonly string[]): Promise<void>;
  stop(): void;
}

export function createHandoffWatch(room: Room): HandoffWatch {
  const timers = new Map<string, { timer: NodeJS.Timeout; revision: number; extended: boolean }>();
  const forget = (taskId: string) => {
    clearTimeout(timers.get(taskId)?.timer);
    timers.delete(taskId);
  };

  const wait = (taskId: string, revision: number, extended: boolean) => {
    const timer = setTimeout(
      () => {
        timers.delete(taskId);
        expire(room, taskId, revision).catch(() => {});
      },
      room.runLimits.handoffMs * (extended ? READ_FACTOR : 1),
    );
    timer.unref();
    timers.set(taskId, { timer, revision, extended });
  };

  return {
    settled({ taskId, handoff, revision }) {
      forget(taskId);
      if (handoff && !handoff.used && handoff.revision === revision) wait(taskId, revision, false);
    },
    shown(notices) {
      for (const { kind, taskId } of notices) {
        const waiting = taskId === undefined ? undefined : timers.get(taskId);
        if (taskId === undefined || !waiting || waiting.extended) continue;
        if (kind !== 'handoff' && kind !== 'read_request') continue;
        forget(taskId);
        wait(taskId, waiting.revision, true);
      }
    },
    async acknowledged(conversationId, noticeIds) {
      const answered = room.book
        .notices(conversationId)
        .filter(({ noticeId, kind }) => kind === 'read_request' && noticeIds.includes(noticeId));
      for (const { taskId, revision } of answered) {
        if (taskId !== undefined) await room.book.change(taskId, (task) => answeredChange(task, revision));
      }
    },
    stop() {
      for (const taskId of [...timers.keys()]) forget(taskId);
    },
  };
}

function answeredChange(task: TaskRecord, revision: number | undefined) {
  if (task.handoff?.kind !== 'read_request' || task.handoff.revision !== revision) return undefined;
  const { handoff: _, ...record } = task;
  return { record, audit: 'task.read_request_answered' };
}

async function expire(room: Room, taskId: string, revision: number): Promise<void> {
  const task = await room.book.change(taskId, (current) => {
    const { handoff, ...record } = current;
    if (!handoff || handoff.used || handoff.revision !== revision || current.revision !== revision) return undefined;
    const receipt = changedInput(room, taskId, handoff.inputId, { status: 'applied' });
    const reply = replyFor({
      words: handoff.words,
      language: languageOf(
        handoff.words,
        current.actionLog.map(({ command }) => command),
      ),
      outcome: current.report?.commandOutcome,
      unknown: false,
      open: true,
    });
    const code = current.report?.commandOutcome?.reason ?? 'UNCLEAR';
    const told: NewEvent[] = reply
      ? [{ type: 'task.reply', taskId, data: { inputId: handoff.inputId, code, ...reply } }]
      : [];
    return {
      record,
      changes: receipt.changes,
      events: [...receipt.events, ...told],
      audit: 'task.handoff_expired',
    };
  });
  if (task.handoff) return;
  const open = room.book
    .notices(task.conversationId)
    .filter((notice) => notice.taskId === taskId && notice.revision === revision)
    .filter(({ kind }) => kind === 'handoff' || kind === 'read_request');
  await room.book.acknowledge(
    task.conversationId,
    open.map(({ noticeId }) => noticeId),
  );
}
