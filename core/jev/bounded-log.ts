/**
 * A log of the newest records in the store: written behind, in batches, never more than its bound.
 *
 * Records are measurements. Nothing waits for them and nothing depends on them, so an evaluation does not pay for the
 * disk; a crash may lose the last moments. What must not be lost (mutations) goes another way (core/receipts).
 */
import type { Change, Key, Store, Table } from '../store/store.ts';

/** Records that may wait for the disk. When it stalls, further ones are counted and dropped. */
export const MAX_WAITING = 4096;

export interface LogRecord {
  /** Milliseconds since the epoch. */
  startedAt: number;
}

export interface Page<T> {
  records: T[];
  total: number;
}

export interface BoundedLog<T extends LogRecord> {
  /** @param scope what it is listed under. @param id makes records of one millisecond differ. */
  add(scope: string, id: string, record: T): void;
  /** Newest first, including everything added before the call. */
  list(scope: string, page: { limit: number; offset: number }): Promise<Page<T>>;
  /** Resolves when all that was added is on disk, or could not be written. */
  flush(): Promise<void>;
  readonly size: number;
  /** Records that were lost because the disk refused or stalled. */
  readonly dropped: number;
}

export interface BoundedLogOptions {
  store: Store;
  table: string;
  version: number;
  /** Records that are kept, over all scopes. */
  max: number;
  onError?: (error: unknown) => void;
}

export function createBoundedLog<T extends LogRecord>(options: BoundedLogOptions): BoundedLog<T> {
  const table: Table<T> = options.store.table<T>({ name: options.table, version: options.version });
  const order = loadOrder(table);
  const totals = new Map<string, number>();
  for (const [scope] of order) count(totals, String(scope), 1);

  let waiting: { key: Key; record: T }[] = [];
  let writing: Promise<void> | undefined;
  let dropped = 0;
  let kept = order.length;
  // Index of the oldest in `order`; the front is cut off now and then instead of shifting each time.
  let oldest = 0;

  const oldestKeys = (amount: number): Key[] => {
    const keys = order.slice(oldest, oldest + amount);
    oldest += keys.length;
    if (oldest > options.max) {
      order.splice(0, oldest);
      oldest = 0;
    }
    return keys;
  };

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const changes: Change[] = batch.map(({ key, record }) => table.put(key, record));
      for (const { key } of batch) {
        order.push(key);
        count(totals, String(key[0]), 1);
      }
      kept += batch.length;
      for (const key of oldestKeys(Math.max(0, kept - options.max))) {
        changes.push(table.remove(key));
        count(totals, String(key[0]), -1);
        kept -= 1;
      }
      try {
        await options.store.commit(changes);
      } catch (error) {
        dropped += batch.length;
        options.onError?.(error);
      }
    }
    writing = undefined;
  }

  const start = (): Promise<void> => {
    // A turn later, so that evaluations that end together share one transaction.
    writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(write);
    return writing;
  };

  return {
    get size() {
      return kept;
    },
    get dropped() {
      return dropped;
    },
    add(scope, id, record) {
      if (waiting.length >= MAX_WAITING) {
        dropped += 1;
        return;
      }
      waiting.push({ key: [scope, record.startedAt, id], record });
      start();
    },
    async list(scope, { limit, offset }) {
      if (waiting.length > 0 || writing) await start();
      const records: T[] = [];
      let skipped = 0;
      for (const row of table.range({ prefix: [scope], reverse: true, limit: limit + offset })) {
        if (skipped++ >= offset) records.push(row.value);
      }
      return { records, total: totals.get(scope) ?? 0 };
    },
    async flush() {
      if (waiting.length > 0 || writing) await start();
    },
  };
}

/** Keys in the order of their times, whatever their scope. */
function loadOrder(table: Table<LogRecord>): Key[] {
  const keys: Key[] = [];
  for (const row of table.range()) keys.push(row.key);
  return keys.sort((a, b) => Number(a[1]) - Number(b[1]));
}

function count(totals: Map<string, number>, scope: string, by: number): void {
  const total = (totals.get(scope) ?? 0) + by;
  if (total > 0) totals.set(scope, total);
  else totals.delete(scope);
}
