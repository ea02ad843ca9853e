/**
 * How pending questions are put to the owner: asked, talked about, put off or muted (docs/decisions.md has the table).
 *
 * It stands between the surfaces and the task service's status: notices of questions that were put off are withheld, and
 * a reminder is added when their time has come. It never answers and never changes a task.
 */
import type { Store } from '../../core/store/store.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller, Notice, TaskSnapshot } from '../../sdk/contract/task.ts';
import type { StatusReply, TaskService } from '../tasks/service.ts';

export type Standing = 'open' | 'asked' | 'discussed' | 'deferred' | 'muted';
export type QuestionAction = 'ask' | 'discuss' | 'defer' | 'mute' | 'resume';

/** Characters of a note that are kept. */
const MAX_NOTE_CHARS = 2000;

const REMINDER = 'reminder:';

interface Entry {
  taskId: string;
  standing: Standing;
  /** When a deferred question comes back, milliseconds since the epoch. */
  until?: number;
  note?: string;
  /** A reminder is due or was delivered and is not acknowledged. */
  remind: boolean;
  updatedAt: number;
}

export interface QuestionView {
  questionId: string;
  taskId: string;
  standing: Standing;
  until?: number;
  note?: string;
}

export interface QuestionAgenda {
  act(
    caller: Caller,
    request: { action: QuestionAction; questionIds: string[]; text?: string; delayMs?: number },
    signal: AbortSignal,
  ): Promise<QuestionView[]>;
  /** The task service's status, with the agenda applied to its notices. */
  status: TaskService['status'];
}

const STANDING: Record<QuestionAction, Standing> = {
  ask: 'asked',
  discuss: 'discussed',
  defer: 'deferred',
  mute: 'muted',
  resume: 'open',
};

export function createQuestionAgenda(deps: {
  store: Store;
  tasks: Pick<TaskService, 'status'>;
  now(): number;
}): QuestionAgenda {
  const { store, tasks, now } = deps;
  const table = store.table<Entry>({ name: 'question-agenda', version: 1 });

  const pending = async (caller: Caller, signal: AbortSignal): Promise<Map<string, TaskSnapshot>> => {
    const { tasks: all = [] } = await tasks.status(caller, {}, signal);
    return new Map(all.flatMap((task) => (task.pendingQuestion ? [[task.pendingQuestion.questionId, task]] : [])));
  };

  /** Entries of this conversation; those whose question is no longer pending are forgotten on the way. */
  const entriesOf = (caller: Caller) =>
    [...table.range({ prefix: [caller.conversationId] })].map(({ key, value }) => ({
      questionId: String(key[1]),
      entry: value,
    }));

  const apply = async (caller: Caller, reply: StatusReply): Promise<StatusReply> => {
    const withheld = new Set<string>();
    const reminders: Notice[] = [];
    const gone: string[] = [];
    for (const { questionId, entry } of entriesOf(caller)) {
      const task = (reply.tasks ?? (reply.task ? [reply.task] : [])).find(({ taskId }) => taskId === entry.taskId);
      if (task && task.pendingQuestion?.questionId !== questionId) gone.push(questionId);
      else if (entry.standing === 'muted' || (entry.standing === 'deferred' && (entry.until ?? 0) > now()))
        withheld.add(entry.taskId);
      else if (entry.remind && (task || reply.tasks))
        reminders.push({
          noticeId: `${REMINDER}${questionId}`,
          taskId: entry.taskId,
          kind: 'question',
          ...(task?.pendingQuestion && { text: task.pendingQuestion.text, revision: task.pendingQuestion.revision }),
          createdAt: entry.until ?? entry.updatedAt,
        });
    }
    if (gone.length > 0) await store.commit(gone.map((id) => table.remove([caller.conversationId, id])));
    if (withheld.size === 0 && reminders.length === 0) return reply;
    const notices = reply.notices.filter(({ kind, taskId }) => kind !== 'question' || !withheld.has(taskId ?? ''));
    return { ...reply, notices: [...notices, ...reminders] };
  };

  /** Milliseconds until the next reminder of this conversation; infinite when none is coming. */
  const untilReminder = (caller: Caller, taskId: string | undefined): number => {
    let least = Number.POSITIVE_INFINITY;
    for (const { entry } of entriesOf(caller)) {
      if (taskId !== undefined && entry.taskId !== taskId) continue;
      if (entry.standing === 'deferred') least = Math.min(least, Math.max(0, (entry.until ?? 0) - now()));
      else if (entry.remind) least = 0;
    }
    return least;
  };

  const acknowledge = async (caller: Caller, ids: readonly string[]): Promise<void> => {
    const changes = ids.flatMap((id) => {
      const key = [caller.conversationId, id.slice(REMINDER.length)];
      const entry = table.get(key);
      return entry ? [table.put(key, { ...entry, standing: 'asked' as const, remind: false, updatedAt: now() })] : [];
    });
    if (changes.length > 0) await store.commit(changes);
  };

  return {
    async act(caller, { action, questionIds, text, delayMs }, signal) {
      const known = await pending(caller, signal);
      const found = [...new Set(questionIds)].map((questionId) => {
        const task = known.get(questionId);
        return task ? { questionId, taskId: task.taskId } : refuse('ACCESS_DENIED');
      });
      const at = now();
      const views = found.map(({ questionId, taskId }): QuestionView & { entry: Entry } => {
        const before = table.get([caller.conversationId, questionId]);
        const note = text === undefined ? before?.note : joined(before?.note, text);
        const standing = STANDING[action];
        const facts = {
          standing,
          ...(delayMs !== undefined && { until: at + delayMs }),
          ...(note !== undefined && { note }),
        };
        const remind = action === 'resume' || action === 'defer';
        return { questionId, taskId, ...facts, entry: { taskId, ...facts, remind, updatedAt: at } };
      });
      await store.commit(views.map(({ questionId, entry }) => table.put([caller.conversationId, questionId], entry)));
      // What the caller has dealt with here needs no further notice of its own.
      const { notices } = await tasks.status(caller, {}, signal);
      const dealtWith = notices.filter(
        ({ kind, taskId }) => kind === 'question' && found.some((question) => question.taskId === taskId),
      );
      if (dealtWith.length > 0)
        await tasks.status(caller, { acknowledge: dealtWith.map(({ noticeId }) => noticeId) }, signal);
      return views.map(({ entry: _entry, ...view }) => view);
    },

    async status(caller, query, signal) {
      const own = query.acknowledge?.filter((id) => id.startsWith(REMINDER)) ?? [];
      if (own.length > 0) await acknowledge(caller, own);
      const { acknowledge: given, ...rest } = query;
      const others = given?.filter((id) => !id.startsWith(REMINDER));
      const waitMs = query.waitMs && Math.min(query.waitMs, untilReminder(caller, query.taskId));
      const asked = { ...rest, ...(others && { acknowledge: others }), ...(waitMs !== undefined && { waitMs }) };
      return apply(caller, await tasks.status(caller, asked, signal));
    },
  };
}

function joined(before: string | undefined, text: string): string {
  return (before === undefined ? text : `${before}\n${text}`).slice(-MAX_NOTE_CHARS);
}
