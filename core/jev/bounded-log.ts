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

/** Records of one row. They share it, so that a busy moment costs the disk one row and not hundreds. */
type Chunk<T> = { scope: string; record: T }[];

/** What is known of a record without reading it. */
interface Entry {
  scope: string;
  startedAt: number;
}

interface Row {
  key: Key;
  /** Records at the beginning of the row that are beyond the bound: still on disk, listed no more. */
  hidden: number;
  /** The others. */
  entries: Entry[];
}

/** A row that waits for the disk, already as text: a record's objects need not outlive the moment. */
interface Sealed {
  row: Row;
  change: Change;
}

export function createBoundedLog<T extends LogRecord>(options: BoundedLogOptions): BoundedLog<T> {
  const table: Table<Chunk<T>> = options.store.table<Chunk<T>>({ name: options.table, version: options.version });
  const totals = new Map<string, number>();
  let rows: Row[] = [];
  let kept = 0;
  load();

  const perRow = Math.min(MAX_CHUNK, options.max);
  let open: Chunk<T> = [];
  let openKey: Key = [];
  let sealed: Sealed[] = [];
  let writing: Promise<void> | undefined;
  let begin = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  let dropped = 0;

  function load(): void {
    rows = [...table.range()].map(({ key, value }) => ({ key, hidden: 0, entries: value.map(entryOf) }));
    totals.clear();
    kept = 0;
    for (const { entries } of rows) counted(entries, 1);
    // What is past the bound hides again; rows with nothing else go with the next write.
    hideExcess();
  }

  /** After a write that failed: what was counted is not there, what is there counts. A closed store tells nothing more. */
  function reload(): void {
    try {
      load();
    } catch (error) {
      options.onError?.(error);
    }
  }

  function counted(entries: readonly Entry[], by: 1 | -1): void {
    kept += by * entries.length;
    for (const { scope } of entries) {
      const total = (totals.get(scope) ?? 0) + by;
      if (total > 0) totals.set(scope, total);
      else totals.delete(scope);
    }
  }

  /**
   * The oldest records beyond the bound are listed no more. A row goes when its last record does: to write its rest anew
   * each time cost a twentieth of an evaluation. On disk there are up to `MAX_CHUNK - 1` records more than the bound.
   */
  function hideExcess(): void {
    for (const row of rows) {
      const excess = Math.min(kept - options.max, row.entries.length);
      if (excess <= 0) return;
      counted(row.entries.splice(0, excess), -1);
      row.hidden += excess;
    }
  }

  function prune(): Change[] {
    hideExcess();
    const first = rows.findIndex(({ entries }) => entries.length > 0);
    return rows.splice(0, first < 0 ? rows.length : first).map(({ key }) => table.remove(key));
  }

  function seal(): void {
    if (open.length === 0) return;
    const row = { key: openKey, hidden: 0, entries: open.map(entryOf) };
    sealed.push({ row, change: table.put(openKey, open) });
    open = [];
  }

  const waiting = (): number => sealed.length * perRow + open.length;

  async function write(): Promise<void> {
    while (waiting() > 0) {
      seal();
      const batch = sealed;
      sealed = [];
      try {
        for (const { row } of batch) {
          rows.push(row);
          counted(row.entries, 1);
        }
        // Rows first: one that is past the bound already is put and removed.
        await options.store.commit([...batch.map(({ change }) => change), ...prune()]);
      } catch (error) {
        for (const { row } of batch) dropped += row.hidden + row.entries.length;
        options.onError?.(error);
        reload();
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
      if (waiting() >= MAX_WAITING) {
        dropped += 1;
        return;
      }
      if (open.length === 0) openKey = [record.startedAt, id];
      open.push({ scope, record });
      if (open.length >= perRow) seal();
      start(false);
    },
    async list(scope, { limit, offset }) {
      if (waiting() > 0 || writing) await start(true);
      const found = rows.flatMap((row) =>
        row.entries.flatMap((entry, at) => (entry.scope === scope ? [{ row, at, startedAt: entry.startedAt }] : [])),
      );
      // Later rows first among records of one millisecond.
      found.reverse().sort((a, b) => b.startedAt - a.startedAt);
      const records = found
        .slice(offset, offset + limit)
        .flatMap(({ row, at }) => table.get(row.key)?.[row.hidden + at]?.record ?? []);
      return { records, total: totals.get(scope) ?? 0 };
    },
    async flush() {
      if (waiting() > 0 || writing) await start(true);
    },
  };
}

function entryOf({ scope, record }: { scope: string; record: LogRecord }): Entry {
  return { scope, startedAt: record.startedAt };
}
