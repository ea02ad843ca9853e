/**
 * The events of each conversation, numbered without gaps, on disk with the change they tell of.
 *
 * Readers always read from the store and only wait here, so a slow one costs no memory and loses nothing; a client that
 * comes back goes on after the last id that it saw, across restarts too.
 */
import { taskTables } from '../../core/receipts/task-record.ts';
import type { Change, Condition, Store } from '../../core/store/store.ts';
import type { TaskEvent } from './service.ts';

export interface NewEvent {
  type: string;
  taskId?: string;
  data: Record<string, unknown>;
}

export interface EventLog {
  /** The last number of a conversation; 0 before its first event. */
  lastId(conversationId: string): number;
  after(conversationId: string, id: number, limit: number): TaskEvent[];
  /** To commit with the change. Call only inside the conversation's turn. */
  append(
    where: { conversationId: string; agentId: string },
    events: readonly NewEvent[],
    at: number,
  ): { changes: Change[]; conditions: Condition[]; lastId: number };
  /** Tells waiters that something was committed. */
  announce(conversationId: string, lastId: number): void;
  /** Resolves at the next announcement, or when the signal aborts. */
  next(conversationId: string, signal: AbortSignal): Promise<void>;
  prune(conversationId: string, keep: number): Change[];
  /** Those that had news since the start. */
  conversations(): string[];
}

export function createEventLog(store: Store): EventLog {
  const table = store.table<TaskEvent>(taskTables.events);
  const last = new Map<string, number>();
  const waiters = new Map<string, Set<() => void>>();

  function lastId(conversationId: string): number {
    const known = last.get(conversationId);
    if (known !== undefined) return known;
    const row = table.range({ prefix: [conversationId], reverse: true, limit: 1 }).next().value;
    const id = row ? Number(row.key[1]) : 0;
    last.set(conversationId, id);
    return id;
  }

  return {
    lastId,
    after: (conversationId, id, limit) =>
      [...table.range({ prefix: [conversationId], after: [conversationId, id], limit })].map((row) => row.value),
    append({ conversationId, agentId }, events, at) {
      const first = lastId(conversationId) + 1;
      const rows = events.map(
        (event, index): TaskEvent => ({ ...event, id: first + index, conversationId, agentId, at }),
      );
      return {
        changes: rows.map((row) => table.put([conversationId, row.id], row)),
        conditions: rows.length > 0 ? [table.unchanged([conversationId, first], 0)] : [],
        lastId: first + rows.length - 1,
      };
    },
    announce(conversationId, id) {
      last.set(conversationId, id);
      const woken = waiters.get(conversationId);
      waiters.delete(conversationId);
      for (const wake of woken ?? []) wake();
    },
    next(conversationId, signal) {
      return new Promise((resolve) => {
        const wake = () => {
          signal.removeEventListener('abort', wake);
          waiters.get(conversationId)?.delete(wake);
          resolve();
        };
        if (signal.aborted) return resolve();
        signal.addEventListener('abort', wake, { once: true });
        const waiting = waiters.get(conversationId) ?? new Set();
        waiters.set(conversationId, waiting.add(wake));
      });
    },
    conversations: () => [...last.keys()],
    prune(conversationId, keep) {
      const upTo = lastId(conversationId) - keep;
      if (upTo < 1) return [];
      const old: Change[] = [];
      for (const row of table.range({ prefix: [conversationId] })) {
        if (Number(row.key[1]) > upTo) break;
        old.push(table.remove(row.key));
      }
      return old;
    },
  };
}
