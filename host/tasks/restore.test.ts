import { describe, expect, it } from 'vitest';
import { RESTORE_KEY, type RestoreMark, restoreTable } from '../../core/receipts/restore-mark.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { buyer, caller, createTestRoom, settled } from '../../test/tasks/room.ts';

const signal = new AbortController().signal;

/** A store with a task that waited for its turn when the copy was made. */
async function restoredStore() {
  const store = createMemoryStore();
  // A service that was never started runs nothing, so the task is there as it was accepted.
  const before = createTestRoom({ store });
  await before.service.start();
  await before.service.stop();
  const { taskId } = await before.spawn({ requestId: 'one' });
  const marks = store.table<RestoreMark>(restoreTable);
  await store.commit([marks.put(RESTORE_KEY, { takenAt: Date.UTC(2026, 10, 30), restoredAt: 1 })]);
  return { store, taskId, marks };
}

describe('a host on a restored store', () => {
  it('runs nothing by itself: a task that waited is paused, and its owner is told from when the backup is', async () => {
    const { store, taskId, marks } = await restoredStore();
    const room = createTestRoom({ store, controller: buyer });
    await room.service.start();
    const { task, notices } = await room.service.status(caller(), { taskId }, signal);
    expect(task).toMatchObject({ state: 'waiting_input', outcome: 'interrupted' });
    expect(task?.latestProgress?.text).toContain('restored from a backup of 2026-11-30T00:00:00.000Z');
    expect(notices).toMatchObject([{ kind: 'needs_move', taskId }]);
    expect(room.runs).toEqual([]);
    expect(marks.get(RESTORE_KEY)).toBeUndefined();
  });

  it('goes on with it once its owner says so', async () => {
    const { store, taskId } = await restoredStore();
    const room = createTestRoom({ store, controller: buyer });
    await room.service.start();
    const id = '00000000-0000-4000-8000-000000000001';
    await room.service.control(caller(), { taskId, id, action: 'resume', expectedRevision: 1 });
    expect((await room.until(taskId, settled)).outcome).toBe('candidate');
    expect(room.runs).toHaveLength(1);
  });

  it('answers the request that made the task with that task, and makes no second one', async () => {
    const { store, taskId } = await restoredStore();
    const room = createTestRoom({ store, controller: buyer });
    await room.service.start();
    expect((await room.spawn({ requestId: 'one' })).taskId).toBe(taskId);
    expect(room.runs).toEqual([]);
  });

  it('takes only the tasks of the backup aside: the next start lets new ones wait for their turn as ever', async () => {
    const { store } = await restoredStore();
    const first = createTestRoom({ store });
    await first.service.start();
    await first.service.stop();
    const room = createTestRoom({ store, controller: buyer });
    await room.service.start();
    const second = caller({ conversationId: 'conversation:assistant:b' });
    const { taskId } = await room.spawn({ caller: second });
    expect((await room.until(taskId, settled, second)).outcome).toBe('candidate');
  });

  it('tells a client that saw later events everything again instead of nothing', async () => {
    const { store, taskId } = await restoredStore();
    const room = createTestRoom({ store });
    await room.service.start();
    const first = await room.service.events(caller(), 4711, signal)[Symbol.asyncIterator]().next();
    expect(first.value).toMatchObject({ id: 1, taskId });
  });
});
