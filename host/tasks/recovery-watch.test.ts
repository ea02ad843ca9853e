import { describe, expect, it } from 'vitest';
import { verifyAudit } from '../../core/receipts/audit-verification.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import type { ToolReply } from '../../sdk/contract/capabilities.ts';
import type { ScriptedFault } from '../../sdk/testing/index.ts';
import { scriptedBrowser } from '../../sdk/testing/index.ts';
import { agents, buyer, caller, createTestRoom, keys, settled } from '../../test/tasks/room.ts';
import { createRecoveryWatch, RECOVERY_AT_ONCE, RECOVERY_PAUSE_MS } from './recovery-watch.ts';
import { createRoom } from './task-service.ts';

const signal = new AbortController().signal;
const reply = (body: object): ToolReply => ({
  content: [{ type: 'text', text: JSON.stringify(body) }],
  isError: false,
});

/**
 * Tasks whose one click was lost on its way back, and a watch with a clock of its own.
 * @param status what the device says of an operation; default: what is on its record.
 */
async function inDoubt(
  options: { count?: number; fault?: ScriptedFault['does']; status?: (operationId: string) => object | 'hang' } = {},
) {
  const { count = 1, fault = 'lost', status } = options;
  let now = 1_800_000_000_000;
  const store = createMemoryStore();
  const asked: string[] = [];
  let listening = false;
  const tab = () =>
    scriptedBrowser({
      pages: {
        shop: {
          url: 'https://shop.example/',
          elements: [{ ref: 'e1', label: 'Buy', operations: ['CLICK'], goto: 'done' }],
        },
        done: { url: 'https://shop.example/done', text: 'Thank you' },
      },
      faults: [{ tool: 'page_click', does: fault }],
    });
  let browser = tab();
  const roomOptions: Parameters<typeof createTestRoom>[0] = {
    store,
    controller: buyer,
    now: () => now,
    callTool: async (name, args, abort) => {
      if (listening && name !== 'operation_status') throw new Error(`${name} was called while only reading is allowed`);
      if (name !== 'operation_status' || !listening) return browser.callTool(name, args, abort);
      asked.push(String(args.operation_id));
      const said = status?.(String(args.operation_id));
      if (said === 'hang') return new Promise((_, fail) => abort.addEventListener('abort', () => fail(abort.reason)));
      return said ? reply(said) : browser.callTool(name, args, abort);
    },
  };
  const room = createTestRoom(roomOptions);
  await room.service.start();
  const tasks: { taskId: string; who: ReturnType<typeof caller> }[] = [];
  for (let n = 0; n < count; n++) {
    browser = tab();
    const who = caller({ conversationId: `conversation-${n}` });
    const { taskId } = await room.spawn({ caller: who });
    await room.until(taskId, settled, who);
    tasks.push({ taskId, who });
  }
  await room.service.stop();
  listening = true;
  const inside = createRoom({ ...room.deps, store });
  inside.book.unfinished();
  const watch = createRecoveryWatch(inside);
  const [{ taskId, who }] = tasks as [(typeof tasks)[0]];
  return {
    ...{ room, inside, watch, asked, tasks, taskId, who, store },
    wait: (ms: number) => {
      now += ms;
    },
    look: async () => (await room.service.status(who, { taskId }, signal)).task!,
    /** The surface of the next host, which may do everything again. */
    next: () => {
      listening = false;
      return createTestRoom(roomOptions).service;
    },
    receipt: () => inside.receipts.list(taskId)[0]!,
    outcome: () => inside.receipts.lastMutation(taskId, inside.receipts.list(taskId)[0]!.requestId)?.outcome,
  };
}

describe('a task in doubt', () => {
  it('learns from the device, without its agent asking, that the action was carried out; it stays where it is', async () => {
    const { watch, look, outcome, inside, who, store } = await inDoubt();
    expect(outcome()).toBe('unknown');
    await watch.pass();
    expect(outcome()).toBe('confirmed');
    expect(await look()).toMatchObject({ state: 'needs_reconciliation', outcome: 'interrupted' });
    const told = inside.book.notices(who.conversationId).map((notice) => notice.text);
    expect(told).toContain("The device's record says: one action was carried out. Look at the page before going on.");
    await inside.audit.drain();
    expect(verifyAudit(store)).toMatchObject({ whole: true });
  });

  it('learns that the action was not carried out', async () => {
    const { watch, outcome, look } = await inDoubt({
      status: (operation_id) => ({ operation_id, state: 'not_executed' }),
    });
    await watch.pass();
    expect(outcome()).toBe('not_executed');
    expect((await look()).latestProgress?.text).toContain('one was not');
  });

  it.each([
    ['does not know', (operation_id: string) => ({ operation_id, state: 'unknown' })],
    ['has no record of it', (operation_id: string) => ({ operation_id, state: 'not_found' })],
    ['speaks of another one', () => ({ operation_id: '00000000-0000-4000-8000-00000000beef', state: 'completed' })],
    ['says nothing of the kind', () => ({ done: true })],
    ['refuses', () => ({ error: 'NOT_NOW' })],
  ])('stays in doubt while the device %s, and nothing is written', async (_what, status) => {
    const { watch, outcome, look, store, asked } = await inDoubt({ status });
    const before = (await look()).stateVersion;
    const notes = verifyAudit(store).entries;
    await watch.pass();
    expect(asked).toHaveLength(1);
    expect(outcome()).toBe('unknown');
    expect((await look()).stateVersion).toBe(before);
    expect(verifyAudit(store).entries).toBe(notes);
  });

  it('is asked about once in fifteen seconds, until it is known or its session is closed', async () => {
    let known = false;
    const { watch, asked, wait } = await inDoubt({
      status: (operation_id) => ({ operation_id, state: known ? 'completed' : 'unknown' }),
    });
    for (let second = 0; second < 31; second++) {
      await watch.pass();
      wait(1000);
    }
    expect(asked).toHaveLength(3);
    known = true;
    wait(RECOVERY_PAUSE_MS);
    await watch.pass();
    expect(asked).toHaveLength(4);
    wait(RECOVERY_PAUSE_MS);
    await watch.pass();
    expect(asked).toHaveLength(4);
  });

  it('is not asked about any more when its session has closed', async () => {
    const { watch, asked, wait } = await inDoubt({ status: (operation_id) => ({ operation_id, state: 'unknown' }) });
    wait(31 * 60_000);
    await watch.pass();
    expect(asked).toEqual([]);
  });

  it('is asked about beside at most one other, the oldest doubt first, and each gets its turn', async () => {
    const { watch, asked, wait } = await inDoubt({
      count: 5,
      status: (operation_id) => ({ operation_id, state: 'unknown' }),
    });
    await watch.pass();
    expect(asked).toHaveLength(RECOVERY_AT_ONCE);
    wait(1000);
    await watch.pass();
    wait(1000);
    await watch.pass();
    expect(new Set(asked).size).toBe(5);
  });

  it('is found again by the next host', async () => {
    const { room, store, look } = await inDoubt();
    const next = createRoom({ ...room.deps, store });
    next.book.unfinished();
    await createRecoveryWatch(next).pass();
    expect(await look()).toMatchObject({ outcome: 'interrupted' });
  });

  it('keeps nothing of an answer that came after it was cancelled or its key was taken away', async () => {
    for (const meanwhile of ['cancel', 'revoke'] as const) {
      const made = await inDoubt({ status: (operation_id) => ({ operation_id, state: 'completed' }) });
      const { inside, watch, room, taskId, who, outcome } = made;
      const resolve = inside.targets.open;
      inside.targets = {
        ...inside.targets,
        open: async (...args) => {
          const tools = await resolve(...args);
          return {
            ...tools,
            call: async (...call) => {
              const said = await tools.call(...call);
              if (meanwhile === 'cancel') await room.service.cancel(who, { taskId });
              else room.authorization.reconfigure({ keys: keys.filter(({ id }) => id !== 'a'), agents });
              return said;
            },
          };
        },
      };
      await watch.pass();
      if (meanwhile === 'revoke') expect(outcome()).toBe('unknown');
      expect(inside.book.notices(who.conversationId).map(({ text }) => text)).not.toContainEqual(
        expect.stringContaining("The device's record"),
      );
    }
  });

  it('goes on only by fresh evidence and the word of its agent', async () => {
    const { watch, taskId, who, look, next } = await inDoubt();
    await watch.pass();
    const service = next();
    const go = (proof: object) =>
      service.update(who, {
        ...{ taskId, expectedRevision: 1, mode: 'reconcile_browser', instruction: 'Go on' },
        ...proof,
      });
    await expect(go({})).rejects.toMatchObject({ code: 'STALE_BROWSER_EVIDENCE' });
    const { evidence } = await service.status(who, { taskId, evidence: 'fresh' }, signal);
    await go({ expectedRequestId: evidence!.requestId, evidenceId: evidence!.evidenceId });
    expect(await look()).toMatchObject({ state: 'queued', revision: 2 });
  });
});
