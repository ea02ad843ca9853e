import { describe, expect, it } from 'vitest';
import { type TaskRecord, taskTables } from '../../core/receipts/task-record.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import type { Store } from '../../core/store/store.ts';
import { makeIndexes } from './indexes.ts';

const task = (n: number): TaskRecord =>
  ({
    ...{ taskId: `task-${String(n).padStart(5, '0')}`, createdAt: 10_000 - n },
    ...(n % 3 === 0 ? { state: 'needs_reconciliation', outcome: 'unknown' } : { state: 'completed' }),
  }) as TaskRecord;

/** A store as a host without these indexes left it. */
async function olderStore(count: number): Promise<Store> {
  const store = createMemoryStore();
  const tasks = store.table<TaskRecord>(taskTables.tasks);
  await store.commit(Array.from({ length: count }, (_, n) => tasks.put([task(n).taskId], task(n))));
  return store;
}
const keys = (store: Store, name: 'byTime' | 'uncertain') =>
  [...store.table<null>(taskTables[name]).range()].map(({ key }) => String(key.at(-1)));

describe('a store of an older host', () => {
  it('gets its missing indexes from its tasks: all by their time, and those in doubt', async () => {
    const store = await olderStore(1201);
    await makeIndexes(store);
    expect(keys(store, 'byTime')).toEqual(Array.from({ length: 1201 }, (_, n) => task(1200 - n).taskId));
    expect(keys(store, 'uncertain')).toHaveLength(401);
  });

  it('gets them once, and begins again when a start was cut short', async () => {
    const store = await olderStore(1201);
    let writes = 0;
    const dying: Store = {
      ...store,
      commit: (...args) => (++writes > 2 ? Promise.reject(new Error('killed')) : store.commit(...args)),
    };
    await expect(makeIndexes(dying)).rejects.toThrow('killed');
    await makeIndexes(store);
    expect(keys(store, 'byTime')).toHaveLength(1201);
    writes = 0;
    await makeIndexes(dying);
    expect(writes).toBe(0);
  });
});
