/**
 * The durable store as the rest of the host sees it. Only `lmdb-store.ts` beside this file calls LMDB.
 *
 * The rule that shapes it: compute first, purely; then write everything of one change at once, under conditions on the
 * versions that were read (DECISIONS 24). A resolved `commit` is on disk, so what depends on it may leave the process.
 */

export type KeyPart = string | number;
export type Key = readonly KeyPart[];

export interface TableDefinition<T> {
  name: string;
  /** Version of the shape that is written. Older records are passed through `migrate` when read. */
  version: number;
  migrate?: (value: unknown, fromVersion: number) => T;
}

export interface Row<T> {
  key: Key;
  value: T;
  /** Grows with every write of this key; 0 stands for a key that does not exist. */
  version: number;
}

declare const opaque: unique symbol;
/** A write that has been computed but not made. */
export interface Change {
  readonly [opaque]: 'change';
}
/** What must hold at the moment of writing. */
export interface Condition {
  readonly [opaque]: 'condition';
}

export interface RangeOptions {
  /** Only keys that begin with these parts. */
  prefix?: Key;
  /** Keys after (or, reversed, before) this one. */
  after?: Key;
  reverse?: boolean;
  limit?: number;
}

export interface Table<T> {
  get(key: Key): T | undefined;
  row(key: Key): Row<T> | undefined;
  range(options?: RangeOptions): IterableIterator<Row<T>>;
  count(prefix?: Key): number;
  put(key: Key, value: T): Change;
  remove(key: Key): Change;
  /** Holds while the key's version is still `version` (0: while it does not exist). */
  unchanged(key: Key, version: number): Condition;
}

export interface Store {
  table<T>(definition: TableDefinition<T>): Table<T>;
  /**
   * Writes all changes in one transaction, or none.
   * @returns true once they are on disk; false when a condition did not hold and nothing was written.
   * @throws STORE_WRITE_FAILED when the disk refused; nothing may be sent on the strength of it.
   */
  commit(changes: readonly Change[], conditions?: readonly Condition[]): Promise<boolean>;
  /** A consistent copy while the store is in use. @throws BACKUP_EXISTS when the directory holds a store already. */
  backup(directory: string): Promise<void>;
  close(): Promise<void>;
}
