/**
 * Plugins that ended by themselves too often. Each stays off until its operator enables it, approves another version or
 * changes its entry in the configuration, and that over restarts: a host that is restarted by its supervisor would else run
 * into the same crashes again and again.
 */
import type { Store, Table } from '../../core/store/store.ts';

export interface SwitchedOff {
  get(pluginId: string): CrashSummary | undefined;
  add(pluginId: string, summary: CrashSummary): Promise<void>;
  remove(pluginId: string): Promise<void>;
}

export interface CrashSummary {
  /** How often it ended by itself. */
  crashes: number;
  /** The last time's reason, in words. */
  problem: string;
}

/** Without a store, for as long as the host lives. */
export function createSwitchedOff(store: Store | undefined): SwitchedOff {
  const table: Table<CrashSummary> | undefined = store?.table<CrashSummary>({
    name: 'plugins-switched-off',
    version: 1,
  });
  const entries = new Map<string, CrashSummary>(
    table ? [...table.range()].map(({ key, value }) => [String(key[0]), value]) : [],
  );
  return {
    get: (pluginId) => entries.get(pluginId),
    async add(pluginId, summary) {
      entries.set(pluginId, summary);
      if (store && table) await store.commit([table.put([pluginId], summary)]);
    },
    async remove(pluginId) {
      if (!entries.delete(pluginId)) return;
      if (store && table) await store.commit([table.remove([pluginId])]);
    },
  };
}
