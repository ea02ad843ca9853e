/**
 * `storage`: a plugin's own small key-value space.
 *
 * Threat: a plugin is hostile. Every key is prefixed by the host with the plugin's id and the agent that the run works for,
 * so that no key can name another plugin's space, nor carry one agent's data into another agent's run. Values are text
 * within limits, so that a plugin cannot fill the disk; what a space holds is counted once and then kept in mind, so that
 * neither many small values nor many writes at the same time cost the host more than the writing.
 */
import type { Store, Table } from '../../../core/store/store.ts';
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';

/** Bytes of UTF-8 that one value may take. */
export const MAX_VALUE_BYTES = 64 * 1024;
/** Bytes that all values of one plugin may take for one agent. */
export const MAX_SPACE_BYTES = 8 * 1024 * 1024;
/** Keys of one plugin for one agent. */
export const MAX_SPACE_KEYS = 4096;
/** Keys that are removed in one write when a plugin is gone. */
const REMOVE_AT_ONCE = 500;

const definition = { name: 'plugin-storage', version: 1 };

export const storage: Capability<'storage'> = {
  id: 'storage',
  create({ pluginId, authority }, { store }) {
    if (!store) return undefined;
    const table = store.table<string>(definition);
    const prefix = [pluginId, authority.agentId];
    return {
      get: ([key]) => table.get([...prefix, key]) ?? null,

      async put([key, text]) {
        const bytes = Buffer.byteLength(text);
        if (bytes > MAX_VALUE_BYTES) refuse('STORAGE_VALUE_TOO_LARGE', { key, bytes, limit: MAX_VALUE_BYTES });
        const space = spaceOf(store, table, prefix);
        const before = space.sizes.get(key);
        if (before === undefined && space.sizes.size >= MAX_SPACE_KEYS)
          refuse('STORAGE_TOO_MANY_KEYS', { limit: MAX_SPACE_KEYS });
        if (space.bytes - (before ?? 0) + bytes > MAX_SPACE_BYTES) refuse('STORAGE_FULL', { limit: MAX_SPACE_BYTES });
        // Taken before the write, so that writes at the same time cannot pass the limit together.
        space.bytes += bytes - (before ?? 0);
        space.sizes.set(key, bytes);
        await written(store, prefix, [table.put([...prefix, key], text)]);
        return null;
      },

      async delete([key]) {
        const space = spaceOf(store, table, prefix);
        space.bytes -= space.sizes.get(key) ?? 0;
        space.sizes.delete(key);
        await written(store, prefix, [table.remove([...prefix, key])]);
        return null;
      },
    };
  },
};

/** Removes what plugins stored that are no longer in the configuration. */
export async function clearStorage(store: Store, kept: ReadonlySet<string>): Promise<void> {
  const table = store.table<string>(definition);
  for (;;) {
    const gone = [];
    for (const { key } of table.range()) {
      if (kept.has(String(key[0]))) continue;
      gone.push(table.remove(key));
      spaces.get(store)?.delete(nameOf([String(key[0]), String(key[1])]));
      if (gone.length === REMOVE_AT_ONCE) break;
    }
    if (gone.length === 0) return;
    await store.commit(gone);
  }
}

interface Space {
  bytes: number;
  readonly sizes: Map<string, number>;
}

const spaces = new WeakMap<Store, Map<string, Space>>();
const nameOf = (prefix: readonly string[]): string => JSON.stringify(prefix);

function spaceOf(store: Store, table: Table<string>, prefix: readonly string[]): Space {
  const known = spaces.get(store) ?? new Map<string, Space>();
  spaces.set(store, known);
  const found = known.get(nameOf(prefix));
  if (found) return found;
  const space: Space = { bytes: 0, sizes: new Map() };
  for (const { key, value } of table.range({ prefix })) {
    const size = Buffer.byteLength(value);
    space.bytes += size;
    space.sizes.set(String(key[2]), size);
  }
  known.set(nameOf(prefix), space);
  return space;
}

/** A write that failed leaves the space to be counted anew. */
async function written(
  store: Store,
  prefix: readonly string[],
  changes: Parameters<Store['commit']>[0],
): Promise<void> {
  try {
    await store.commit(changes);
  } catch (error) {
    spaces.get(store)?.delete(nameOf(prefix));
    throw error;
  }
}
