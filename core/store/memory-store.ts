/** The store without a disk, for tests: same keys, same encoding, same conditions. */
import { refuse } from '../../sdk/contract/errors.ts';
import { asChange, asCondition, asUnchanged, asWrite, type Write } from './change.ts';
import { decodeKey, encodeKey } from './key-encoding.ts';
import { boundsOf } from './range.ts';
import { decodeRecord, encodeRecord, encodeValue, versionOf } from './record-encoding.ts';
import type { Change, Condition, Key, RangeOptions, Row, Store, Table, TableDefinition } from './store.ts';

/** Latin-1 keeps one character per byte, so that JavaScript's string order is the order of the bytes. */
const nameOf = (key: Buffer): string => key.toString('latin1');

class SortedRecords {
  private readonly records = new Map<string, Buffer>();
  private order: string[] | undefined = [];

  get(key: Buffer): Buffer | undefined {
    return this.records.get(nameOf(key));
  }

  apply(write: Write, version: number): void {
    const name = nameOf(write.key);
    if (write.record) {
      if (!this.records.has(name)) this.order = undefined;
      this.records.set(name, write.record(version));
    } else if (this.records.delete(name)) {
      this.order = undefined;
    }
  }

  names(): readonly string[] {
    this.order ??= [...this.records.keys()].sort();
    return this.order;
  }
}

export interface MemoryStore extends Store {
  /** Lets every later commit fail as a full disk would, until called with false. */
  failWrites(fail: boolean): void;
}

export function createMemoryStore(): MemoryStore {
  const tables = new Map<string, SortedRecords>();
  let version = 0;
  let failing = false;

  const recordsOf = (name: string): SortedRecords => {
    const known = tables.get(name);
    if (known) return known;
    const created = new SortedRecords();
    tables.set(name, created);
    return created;
  };

  function table<T>(definition: TableDefinition<T>): Table<T> {
    const records = recordsOf(definition.name);
    const read = (key: Key, bytes: Buffer): Row<T> => ({ key, ...decodeRecord(bytes, definition) });

    function* range(options: RangeOptions = {}): IterableIterator<Row<T>> {
      const bounds = boundsOf(options);
      const [start, end] = [nameOf(bounds.start), nameOf(bounds.end)];
      const names = records.names().filter((name) => name >= start && name < end);
      if (options.reverse) names.reverse();
      for (const name of names.slice(0, options.limit)) {
        const key = Buffer.from(name, 'latin1');
        const bytes = records.get(key);
        if (bytes) yield read(decodeKey(key), bytes);
      }
    }

    const row = (key: Key): Row<T> | undefined => {
      const bytes = records.get(encodeKey(key));
      return bytes && read(key, bytes);
    };

    return {
      row,
      get: (key) => row(key)?.value,
      range,
      count: (prefix) => [...range(prefix ? { prefix } : {})].length,
      put: (key, value) => {
        const text = encodeValue(value);
        return asChange({
          table: definition.name,
          key: encodeKey(key),
          record: (at) => encodeRecord(text, definition.version, at),
        });
      },
      remove: (key) => asChange({ table: definition.name, key: encodeKey(key) }),
      unchanged: (key, at) => asCondition({ table: definition.name, key: encodeKey(key), version: at }),
    };
  }

  return {
    table,
    async commit(changes: readonly Change[], conditions: readonly Condition[] = []) {
      if (failing) refuse('STORE_WRITE_FAILED', {});
      const holds = conditions.map(asUnchanged).every((condition) => {
        const bytes = recordsOf(condition.table).get(condition.key);
        return (bytes ? versionOf(bytes) : 0) === condition.version;
      });
      if (!holds) return false;
      for (const change of changes) recordsOf(asWrite(change).table).apply(asWrite(change), ++version);
      return true;
    },
    async backup() {},
    async close() {},
    failWrites(fail) {
      failing = fail;
    },
  };
}
