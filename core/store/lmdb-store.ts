/**
 * The store on LMDB: the only file that calls it.
 *
 * A commit decides its conditions in memory and hands all its writes to LMDB as one batch, without waiting for LMDB's
 * writer thread in between: one durable checkpoint then costs little more than one durable put. Two things make that
 * sound. This process is the only writer (exclusive.ts), and a commit that depends on a key with a write still on its way
 * waits for that write first, so conditions are only ever decided against what is on disk.
 */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import { asChange, asCondition, asUnchanged, asWrite, type Unchanged, type Write } from './change.ts';
import { type Exclusive, holdExclusively } from './exclusive.ts';
import { decodeKey, encodeKey } from './key-encoding.ts';
import { boundsOf } from './range.ts';
import { decodeRecord, encodeRecord, encodeValue, isWhole, versionOf } from './record-encoding.ts';
import type { Change, Condition, Key, RangeOptions, Row, Store, Table, TableDefinition } from './store.ts';
import { copyInto, mayBeStore, STORE_FILE } from './store-file.ts';
import { openStoreMeta, STORE_META_KEY } from './store-meta.ts';

/** Row versions of one opening of the store; the opening's number is the upper part. */
const VERSIONS_PER_OPENING = 2 ** 32;

/** Rows that a range takes from LMDB at once: few at first, since most callers want one, then more. */
const FIRST_PIECE = 32;
const LARGEST_PIECE = 1024;

export interface StoreHealth {
  /** False after a damaged record was met: nothing is written on the strength of a store that has lost something. */
  writable: boolean;
  damaged: { table: string; key: Key }[];
}

export interface LmdbStore extends Store {
  health(): StoreHealth;
  /** Reads every record of every table and holds it against its checksum: seconds for millions. */
  verify(): { records: number; damaged: number };
}

export interface LmdbStoreOptions {
  directory: string;
  /** Refuse a second host on the same directory. Off only for a reader of a copy. */
  exclusive?: boolean;
  readOnly?: boolean;
}

/**
 * @throws STORE_UNAVAILABLE when the directory cannot be used or another host uses it; STORE_NEWER for a store of a later
 * version; STORE_DAMAGED when the file itself is cut short.
 */
export async function openLmdbStore({
  directory,
  exclusive = true,
  readOnly = false,
}: LmdbStoreOptions): Promise<LmdbStore> {
  const lock = await prepare(directory, exclusive, readOnly);
  try {
    return createStore(openRoot(directory, readOnly), lock, readOnly);
  } catch (error) {
    await lock?.release();
    throw isHostError(error) ? error : new HostError('STORE_UNAVAILABLE', { directory }, { cause: error });
  }
}

async function prepare(directory: string, exclusive: boolean, readOnly: boolean): Promise<Exclusive | undefined> {
  try {
    if (!readOnly) mkdirSync(directory, { recursive: true, mode: 0o700 });
    return exclusive ? await holdExclusively(directory) : undefined;
  } catch (error) {
    throw isHostError(error) ? error : new HostError('STORE_UNAVAILABLE', { directory }, { cause: error });
  }
}

function openRoot(directory: string, readOnly: boolean): RootDatabase<Buffer, Buffer> {
  const path = join(directory, STORE_FILE);
  if (!mayBeStore(path)) refuse('STORE_DAMAGED', { directory });
  const root = open<Buffer, Buffer>({
    path,
    encoding: 'binary',
    keyEncoding: 'binary',
    readOnly,
    // A commit resolves only after the disk has it, and a failed one leaves no rejection behind that nobody could handle.
    overlappingSync: false,
    eventTurnBatching: false,
  });
  if (!readOnly) chmodSync(path, 0o600);
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber?: number; pageSize?: number };
  if (lastPageNumber && pageSize && statSync(path).size < (lastPageNumber + 1) * pageSize) {
    void root.close();
    refuse('STORE_DAMAGED', { directory });
  }
  return root;
}

function createStore(root: RootDatabase<Buffer, Buffer>, lock: Exclusive | undefined, readOnly: boolean): LmdbStore {
  const meta = openStoreMeta(root, readOnly);
  const pending = new Map<string, Promise<unknown>>();
  const damaged: StoreHealth['damaged'] = [];
  let version = meta.current().openings * VERSIONS_PER_OPENING;
  let closing = false;

  const pendingName = ({ key }: Unchanged | Write) => key.toString('latin1');

  function table<T>(definition: TableDefinition<T>): Table<T> {
    const { name } = definition;
    meta.admit(definition);
    /** All tables share one database: opening another costs a synced write each, a first part of the key costs nothing. */
    const place = (key: Key): Buffer => encodeKey([name, ...key]);
    const within = ({ prefix = [], after, ...options }: RangeOptions): RangeOptions => ({
      ...options,
      prefix: [name, ...prefix],
      ...(after ? { after: [name, ...after] } : {}),
    });

    const read = (key: Key, stored: Buffer): Row<T> => {
      try {
        return { key, ...decodeRecord(stored, definition) };
      } catch (error) {
        if (isHostError(error, 'STORE_DAMAGED')) damaged.push({ table: name, key });
        throw error;
      }
    };

    /** Rows of one piece of a range. The walk ends here, so no reader of LMDB stays open while a caller thinks. */
    function piece(options: RangeOptions): { rows: Row<T>[]; last: Key | undefined; count: number } {
      const rows: Row<T>[] = [];
      let last: Key | undefined;
      let count = 0;
      for (const { key, value } of root.getRange(lmdbRange(within(options)))) {
        last = decodeKey(Buffer.from(key)).slice(1);
        count += 1;
        try {
          rows.push(read(last, value));
        } catch (error) {
          // The others stay readable; the damage is remembered, and nothing is written any more.
          if (!isHostError(error, 'STORE_DAMAGED')) throw error;
        }
      }
      return { rows, last, count };
    }

    function* range(options: RangeOptions = {}): IterableIterator<Row<T>> {
      let left = options.limit ?? Number.POSITIVE_INFINITY;
      let after = options.after;
      for (let size = FIRST_PIECE; left > 0; size = Math.min(size * 4, LARGEST_PIECE)) {
        const limit = Math.min(size, left);
        const { rows, last, count } = piece({ ...options, ...(after ? { after } : {}), limit });
        yield* rows;
        if (count < limit || last === undefined) return;
        left -= count;
        after = last;
      }
    }

    const row = (key: Key): Row<T> | undefined => {
      const stored = root.getBinary(place(key));
      return stored && read(key, stored);
    };

    return {
      row,
      get: (key) => row(key)?.value,
      range,
      count: (prefix) => root.getKeysCount(lmdbRange(within(prefix ? { prefix } : {}))),
      put: (key, value) => {
        const text = encodeValue(value);
        return asChange({
          table: name,
          key: place(key),
          record: (at) => encodeRecord(text, definition.version, at),
        });
      },
      remove: (key) => asChange({ table: name, key: place(key) }),
      unchanged: (key, at) => asCondition({ table: name, key: place(key), version: at }),
    };
  }

  async function commit(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<boolean> {
    const checks = conditions.map(asUnchanged);
    while (pending.size > 0) {
      const awaited = checks.map((check) => pending.get(pendingName(check))).find((write) => write !== undefined);
      if (!awaited) break;
      await awaited;
    }
    if (closing || readOnly) refuse('STORE_UNAVAILABLE', {});
    if (damaged.length > 0) refuse('STORE_DAMAGED', { table: damaged[0]?.table });
    const holds = checks.every(({ key, version: expected }) => {
      // Only looked at before the next read, so nothing is copied.
      const stored = root.getBinaryFast(key);
      return (stored ? versionOf(stored) : 0) === expected;
    });
    if (!holds) return false;
    if (changes.length > 0) await write(changes.map(asWrite));
    return true;
  }

  /** Everything up to the call of `batch` happens in the turn that decided the conditions. */
  async function write(writes: Write[]): Promise<void> {
    const names = writes.map(pendingName);
    const done = flush(writes);
    const settled = done.catch(() => {});
    for (const name of names) pending.set(name, settled);
    try {
      await done;
    } finally {
      for (const name of names) if (pending.get(name) === settled) pending.delete(name);
    }
  }

  async function flush(writes: Write[]): Promise<void> {
    const settled: Promise<unknown>[] = [];
    try {
      const schemas = meta.unsaved();
      const [only] = writes;
      if (only && writes.length === 1 && !schemas) {
        const written = only.record ? root.put(only.key, only.record(++version)) : root.remove(only.key);
        written.then(undefined, ignoreCommitError);
        await written;
        return;
      }
      const writeAll = () => {
        for (const { key, record } of writes)
          settled.push(record ? root.put(key, record(++version)) : root.remove(key));
        if (schemas) settled.push(root.put(STORE_META_KEY, schemas.bytes));
      };
      const batch = root.batch(writeAll);
      for (const one of settled) one.then(undefined, ignoreCommitError);
      await batch;
      await Promise.all(settled);
      schemas?.saved();
    } catch (error) {
      ignoreCommitError(error);
      throw new HostError('STORE_WRITE_FAILED', {}, { cause: error });
    }
  }

  return {
    table,
    commit,
    async backup(directory) {
      await copyInto(directory, (path) => root.backup(path, true));
    },
    async close() {
      closing = true;
      await Promise.all(pending.values());
      await root.close();
      await lock?.release();
    },
    verify() {
      let records = 0;
      let damagedRecords = 0;
      for (const { value } of root.getRange({})) {
        records += 1;
        if (!isWhole(value)) damagedRecords += 1;
      }
      return { records, damaged: damagedRecords };
    },
    health: () => ({ writable: !readOnly && damaged.length === 0, damaged: [...damaged] }),
  };
}

/** LMDB hands the disk's error over in a promise of its own, which must not count as unhandled. */
function ignoreCommitError(error: unknown): void {
  const cause = (error as { commitError?: unknown } | undefined)?.commitError;
  if (cause instanceof Promise) cause.catch(() => {});
}

/** LMDB walks a reversed range from its upper end; the upper end stays excluded and the lower included. */
function lmdbRange(options: RangeOptions) {
  const { start, end } = boundsOf(options);
  const limit = options.limit === undefined ? {} : { limit: options.limit };
  return options.reverse
    ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true, ...limit }
    : { start, end, ...limit };
}
