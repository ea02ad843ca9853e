/** What the store knows of itself: its layout, how often it was opened, and the schema of each table. */
import type { RootDatabase } from 'lmdb';
import { refuse } from '../../sdk/contract/errors.ts';
import { encodeKey } from './key-encoding.ts';
import { decodeRecord, encodeRecord, encodeValue } from './record-encoding.ts';
import type { TableDefinition } from './store.ts';

/** Layout of the whole store. A store with a greater number was written by a later host. */
export const STORE_FORMAT = 1;

interface StoreMeta {
  format: number;
  openings: number;
  /** The newest schema version written to each table. */
  schemas: Record<string, number>;
}

const META_TABLE = { name: 'meta', version: 1 };
/** A name that no table has, because it is empty. */
export const STORE_META_KEY = encodeKey(['', 'store']);

export function openStoreMeta(root: RootDatabase<Buffer, Buffer>, readOnly: boolean) {
  const stored = root.getBinary(STORE_META_KEY);
  const found: StoreMeta = stored
    ? decodeRecord<StoreMeta>(stored, META_TABLE).value
    : { format: STORE_FORMAT, openings: 0, schemas: {} };
  if (found.format > STORE_FORMAT) refuse('STORE_NEWER', { found: found.format, known: STORE_FORMAT });
  let meta = { ...found, openings: found.openings + 1 };
  let onDisk = meta.schemas;
  const record = () => encodeRecord(encodeValue(meta), META_TABLE.version, meta.openings);
  if (!readOnly) root.putSync(STORE_META_KEY, record());

  return {
    current: () => meta,
    /** Refuses a table whose records a later host wrote, and an older one that nobody knows how to read. */
    admit<T>({ name, version, migrate }: TableDefinition<T>) {
      const written = meta.schemas[name] ?? version;
      if (written > version) refuse('STORE_NEWER', { table: name, found: written, known: version });
      if (written < version && !migrate) refuse('STORE_OLDER', { table: name, found: written, known: version });
      if (meta.schemas[name] === version) return;
      meta = { ...meta, schemas: { ...meta.schemas, [name]: version } };
    },
    /** Versions of tables that are not on disk yet; they go with the next write. */
    unsaved(): { bytes: Buffer; saved(): void } | undefined {
      const { schemas } = meta;
      if (schemas === onDisk) return undefined;
      return {
        bytes: record(),
        saved: () => {
          onDisk = schemas;
        },
      };
    },
  };
}
