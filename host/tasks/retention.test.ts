import { describe, expect, it } from 'vitest';
import { verifyAudit } from '../../core/receipts/audit-verification.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { scriptedBrowser } from '../../sdk/testing/scripted-browser.ts';
import { buyer, caller, createTestRoom, result, settled, shopTab } from '../../test/tasks/room.ts';
import { prune } from './retention.ts';
import { createRoom } from './task-service.ts';

const DAY = 86_400_000;
const config = { tasksDays: 90, evidenceDays: 14, eventsPerConversation: 100, auditDays: 3650 };
const signal = new AbortController().signal;

/** A finished task, and the room to look at its store a number of days later. */
async function daysLater(days: number, options: Parameters<typeof createTestRoom>[0], finish = true) {
  let now = 1_800_000_000_000;
  const store = createMemoryStore();
  const room = createTestRoom({ store, now: () => now, ...options });
  await room.service.start();
  const { taskId } = await room.spawn({ requestId: 'one' });
  await room.until(taskId, settled);
  if (finish) await room.service.cancel(caller(), { taskId });
  now += days * DAY;
  const inside = createRoom({ ...room.deps, store });
  return { room, store, inside, taskId, prune: () => prune(inside, config) };
}

describe('retention', () => {
  it('removes a finished task with everything of it, and says so in the audit log', async () => {
    const { room, store, inside, taskId, prune } = await daysLater(91, { controller: buyer });
    expect((await prune()).tasks).toBe(1);
    await expect(room.service.status(caller(), { taskId }, signal)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    for (const name of [
      'tasks',
      'task-revisions',
      'tasks-by-conversation',
      'tasks-by-time',
      'tasks-finished',
      'tasks-by-target',
      'receipts',
      'mutations',
      'evidence',
      'spawn-requests',
      'notices',
    ]) {
      expect([name, store.table({ name, version: 1 }).count()]).toEqual([name, 0]);
    }
    await inside.audit.drain();
    expect(verifyAudit(store)).toMatchObject({ whole: true });
    expect([...inside.audit.entries({ reverse: true, limit: 1 })]).toMatchObject([{ kind: 'task.pruned', taskId }]);
  });

  it('never accepts an operation id again, even after its task is gone', async () => {
    const { store, prune } = await daysLater(91, { controller: buyer });
    await prune();
    expect(store.table({ name: 'operations', version: 1 }).count()).toBe(1);
  });

  it.each([
    ['is younger', 89, { controller: buyer }, true],
    ['is not finished', 400, { controller: async () => result() }, false],
    [
      'has an action in doubt',
      400,
      {
        controller: buyer,
        browser: scriptedBrowser({
          pages: {
            s: {
              url: 'https://s.example/',
              elements: [{ ref: 'e1', label: 'Buy', operations: ['CLICK'] as 'CLICK'[] }],
            },
          },
          faults: [{ tool: 'page_click', does: 'unknown' }],
        }),
      },
      true,
    ],
  ])('keeps a task that %s', async (_what, days, options, finish) => {
    const { room, taskId, prune } = await daysLater(days, options, finish);
    expect((await prune()).tasks).toBe(0);
    expect((await room.service.status(caller(), { taskId }, signal)).task?.taskId).toBe(taskId);
  });

  it('lets page observations go earlier than the task', async () => {
    const { store, prune } = await daysLater(15, { controller: buyer, browser: shopTab() });
    expect(await prune()).toMatchObject({ tasks: 0, evidence: 1 });
    expect(store.table({ name: 'evidence', version: 1 }).count()).toBe(0);
  });

  it('keeps only so many events of a conversation, the newest', async () => {
    const { room, inside, store } = await daysLater(0, { controller: buyer });
    const where = caller();
    for (let i = 0; i < 150; i++) await inside.book.tell(where, [{ type: 'test', data: { i } }]);
    await prune(inside, config);
    expect(store.table({ name: 'events', version: 1 }).count()).toBe(100);
    expect(inside.events.after(where.conversationId, 0, 1000).at(-1)?.data).toEqual({ i: 149 });
    expect(room.runs).toHaveLength(1);
  });

  it('lets old audit entries go when their days are over, and what stays proves itself', async () => {
    const { room, store, inside, prune } = await daysLater(3651, { controller: buyer });
    await inside.audit.drain();
    const entries = [...inside.audit.entries({})].length;
    expect((await prune()).audit).toBe(entries);
    expect(verifyAudit(store)).toMatchObject({ whole: true, anchor: { seq: entries } });
    await room.spawn({ requestId: 'later' });
    await inside.audit.drain();
    expect(verifyAudit(store)).toMatchObject({ whole: true });
  });

  it('keeps of a conversation without tasks one event, so that its numbers go on', async () => {
    const { inside, store, prune } = await daysLater(91, { controller: buyer });
    const { conversationId } = caller();
    const last = inside.events.lastId(conversationId);
    await prune();
    expect(store.table({ name: 'events', version: 1 }).count()).toBe(1);
    await inside.book.tell(caller(), [{ type: 'test', data: {} }]);
    expect(inside.events.after(conversationId, 0, 10).map(({ id }) => id)).toEqual([last, last + 1]);
  });
});
