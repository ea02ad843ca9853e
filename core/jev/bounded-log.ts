/**
 * A log of the newest records in the store: written behind, in batches, never more than its bound.
 *
 * Records are measurements. Nothing waits for them and nothing depends on them, so an evaluation does not pay for the
 * disk; a crash may lose the last moments. What must not be lost (mutations) goes another way (core/receipts).
 */
import type { Change, Key, Store, Table } from '../store/store.ts';

/** Records of one row. */
const MAX_CHUNK = 64;
/** Records that may wait for the disk. When it stalls, further ones are counted and dropped. */
export const MAX_WAITING = 4096;

/** Milliseconds for which records gather before they are written. */
const GATHER_MS = 50;

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

/** Records of one write. They share a row, so that a busy moment costs the disk one row and not hundreds. */
type Chunk<T> = { scope: string; record: T }[];

/** What is known of a record without reading it. */
interface Entry {
  scope: string;
  startedAt: number;
}

interface Row {
  key: Key;
  entries: Entry[];
}

export function createBoundedLog<T extends LogRecord>(options: BoundedLogOptions): BoundedLog<T> {
  const table: Table<Chunk<T>> = options.store.table<Chunk<T>>({ name: options.table, version: options.version });
  const totals = new Map<string, number>();
  let rows: Row[] = [];
  let kept = 0;
  load();

  let waiting: { id: string; scope: string; record: T }[] = [];
  let writing: Promise<void> | undefined;
  let begin = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  let dropped = 0;

  function load(): void {
    rows = [...table.range()].map(({ key, value }) => ({ key, entries: value.map(entryOf) }));
    totals.clear();
    kept = 0;
    for (const { entries } of rows) counted(entries, 1);
  }

  function counted(entries: readonly Entry[], by: 1 | -1): void {
    kept += by * entries.length;
    for (const { scope } of entries) {
      const total = (totals.get(scope) ?? 0) + by;
      if (total > 0) totals.set(scope, total);
      else totals.delete(scope);
    }
  }

  /** Takes the oldest records beyond the bound away: whole rows, and the beginning of the last one. */
  function prune(): Change[] {
    const changes: Change[] = [];
    let gone = 0;
    while (kept > options.max) {
      const row = rows[gone];
      if (!row) break;
      const excess = kept - options.max;
      counted(row.entries.slice(0, excess), -1);
      if (row.entries.length <= excess) {
        changes.push(table.remove(row.key));
        gone += 1;
      } else {
        changes.push(table.put(row.key, (table.get(row.key) ?? []).slice(excess)));
        row.entries = row.entries.slice(excess);
      }
    }
    rows.splice(0, gone);
    return changes;
  }

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      // More than is kept at all would only be pruned again.
      const batch = waiting.slice(-options.max);
      waiting = [];
      try {
        const changes = chunksOf(batch, Math.min(MAX_CHUNK, options.max)).flatMap((chunk) => {
          const [first] = chunk;
          if (!first) return [];
          const row = { key: [first.record.startedAt, first.id], entries: chunk.map(entryOf) };
          rows.push(row);
          counted(row.entries, 1);
          return table.put(
            row.key,
            chunk.map(({ scope, record }) => ({ scope, record })),
          );
        });
        await options.store.commit([...prune(), ...changes]);
      } catch (error) {
        dropped += batch.length;
        // What was counted is not there: what is there counts.
        load();
        options.onError?.(error);
      }
    }
    writing = undefined;
  }

  /** @param now false: with whatever else comes in the next moments, so that a busy moment is one transaction. */
  const start = (now: boolean): Promise<void> => {
    writing ??= new Promise<void>((resolve) => {
      begin = resolve;
      timer = setTimeout(resolve, GATHER_MS);
    }).then(write);
    if (now) {
      clearTimeout(timer);
      begin();
    }
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
      waiting.push({ id, scope, record });
      start(false);
    },
    async list(scope, { limit, offset }) {
      if (waiting.length > 0 || writing) await start(true);
      const found = rows.flatMap((row) =>
        row.entries.flatMap((entry, at) => (entry.scope === scope ? [{ row, at, startedAt: entry.startedAt }] : [])),
      );
      // Later rows first among records of one millisecond.
      found.reverse().sort((a, b) => b.startedAt - a.startedAt);
      const records = found
        .slice(offset, offset + limit)
        .flatMap(({ row, at }) => table.get(row.key)?.[at]?.record ?? []);
      return { records, total: totals.get(scope) ?? 0 };
    },
    async flush() {
      if (waiting.length > 0 || writing) await start(true);
    },
  };
}

function entryOf({ scope, record }: { scope: string; record: LogRecord }): Entry {
  return { scope, startedAt: record.startedAt };
}

function chunksOf<V>(values: readonly V[], size: number): V[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) => values.slice(at * size, (at + 1) * size));
}
