/**
 * Indexes that a store of an older host lacks are made from its tasks, once, before anything else reads them. Writing a row that
 * is there already changes nothing, so a start that is cut short begins again.
 */
import { type TaskRecord, taskTables } from '../../core/receipts/task-record.ts';
import type { Store } from '../../core/store/store.ts';
import { isUncertain } from './known-stops.ts';

/** Grows with each index that is made here. */
const INDEX_VERSION = 1;
/** Tasks that one write indexes. */
const BATCH = 500;

export async function makeIndexes(store: Store): Promise<void> {
  const made = store.table<number>(taskTables.indexes);
  if ((made.get(['version']) ?? 0) >= INDEX_VERSION) return;
  const tasks = store.table<TaskRecord>(taskTables.tasks);
  const byTime = store.table<null>(taskTables.byTime);
  const uncertain = store.table<null>(taskTables.uncertain);
  let last: string | undefined;
  for (;;) {
    const rows = [...tasks.range({ limit: BATCH, ...(last === undefined ? {} : { after: [last] }) })];
    if (rows.length === 0) break;
    await store.commit(
      rows.flatMap(({ value }) => [
        byTime.put([value.createdAt, value.taskId], null),
        ...(isUncertain(value) ? [uncertain.put([value.taskId], null)] : []),
      ]),
    );
    last = String(rows.at(-1)?.key[0]);
  }
  await store.commit([made.put(['version'], INDEX_VERSION)]);
}
