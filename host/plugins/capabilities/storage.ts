/**
 * `storage`: a plugin's own small key-value space.
 *
 * Threat: a plugin is hostile. Every key is prefixed by the host with the plugin's id and the agent that the run works for,
 * so that no key can name another plugin's space, nor carry one agent's data into another agent's run. Values are text
 * within limits, so that a plugin cannot fill the disk.
 */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';

/** Bytes of UTF-8 that one value may take. */
export const MAX_VALUE_BYTES = 64 * 1024;
/** Bytes that all values of one plugin may take for one agent. */
export const MAX_SPACE_BYTES = 8 * 1024 * 1024;

const definition = { name: 'plugin-storage', version: 1 };

export const storage: Capability<'storage'> = {
  id: 'storage',
  create({ pluginId, authority }, { store }) {
    if (!store) return undefined;
    const table = store.table<string>(definition);
    const space = [pluginId, authority.agentId];
    const bytes = (): number => {
      let sum = 0;
      for (const { value } of table.range({ prefix: space })) sum += Buffer.byteLength(value);
      return sum;
    };
    return {
      get: ([key]) => table.get([...space, key]) ?? null,

      async put([key, text]) {
        const size = Buffer.byteLength(text);
        if (size > MAX_VALUE_BYTES) refuse('STORAGE_VALUE_TOO_LARGE', { key, bytes: size, limit: MAX_VALUE_BYTES });
        const before = Buffer.byteLength(table.get([...space, key]) ?? '');
        if (bytes() - before + size > MAX_SPACE_BYTES) refuse('STORAGE_FULL', { limit: MAX_SPACE_BYTES });
        await store.commit([table.put([...space, key], text)]);
        return null;
      },

      async delete([key]) {
        await store.commit([table.remove([...space, key])]);
        return null;
      },
    };
  },
};
