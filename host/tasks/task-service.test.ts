import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { scriptedBrowser } from '../../sdk/testing/scripted-browser.ts';
import {
  buyer,
  caller,
  clickBuy,
  createTestRoom,
  leaseOf,
  result,
  settled,
  shopTab,
  type TestRoom,
} from '../../test/tasks/room.ts';

const signal = new AbortController().signal;
const verifier = {
  offers: () => ({ textHelper: false, verifier: true }),
  forRun: () => async () => ({ verified: true }),
};

async function spawned(room: TestRoom, more: Parameters<TestRoom['spawn']>[0] = {}) {
  await room.service.start();
  const { taskId } = await room.spawn(more);
  return room.until(taskId, settled, more.caller);
}

async function confirmed(room: TestRoom, taskId: string, expectedRevision = 1) {
  const { evidence } = await room.service.status(caller(), { taskId, evidence: 'fresh' }, signal);
  return room.service.update(caller(), {
    ...{ taskId, expectedRevision, mode: 'verify_browser', instruction: 'The page thanks for the order.' },
    expectedRequestId: evidence!.requestId,
    evidenceId: evidence!.evidenceId!,
  });
}

describe('a browser task', () => {
  it('runs, ends as a candidate, and is completed only by fresh evidence', async () => {
    const room = createTestRoom({ controller: buyer });
    const task = await spawned(room);
    expect(task).toMatchObject({
      state: 'needs_reconciliation',
      outcome: 'candidate',
      revision: 1,
      appliedRevision: 1,
    });
    expect(task.result).toBeUndefined();
    const { evidence } = await room.service.status(caller(), { taskId: task.taskId, evidence: 'fresh' }, signal);
    expect(evidence?.observation?.text).toContain('Thank you');
    const done = await confirmed(room, task.taskId);
    expect(done).toMatchObject({ state: 'completed', outcome: 'verified' });
    expect(done.browserReport?.verification?.source).toBe('parent');
  });

  it('writes each mutation into its receipt before it leaves, with what became of it', async () => {
    const room = createTestRoom({ controller: buyer });
    const task = await spawned(room);
    const [receipt] = await room.service.receipts(caller(), task.taskId);
    expect(receipt).toMatchObject({ status: 'ended', outcome: 'unknown', code: 'BROWSER_COMPLETION_CANDIDATE' });
    expect(receipt?.mutations).toMatchObject([{ operation: 'page_click', outcome: 'confirmed' }]);
  });

  it('does not take a controller’s word for success', async () => {
    const room = createTestRoom({
      controller: async () => result({ status: 'succeeded', reason: 'VERIFIED' }),
      thinking: verifier,
    });
    expect(await spawned(room)).toMatchObject({ state: 'needs_reconciliation', outcome: 'candidate' });
  });

  it('is completed when the host’s own verifier saw the page after the last action', async () => {
    const room = createTestRoom({
      thinking: verifier,
      controller: async (input, ports, run) => {
        const done = await clickBuy(ports, run);
        const acquired = JSON.parse(
          (await ports.callTool('browser_task_acquire', { ...input.scope, operation_id: randomUUID() }, run))
            .content[0]!.text,
        );
        const seen = JSON.parse(
          (await ports.callTool('page_observe', { ...input.scope, lease_token: leaseOf(acquired) }, run)).content[0]!
            .text,
        );
        const page = { url: seen.url, title: seen.title, text: seen.text, elements: [] };
        await ports.assist!({ kind: 'verify', goal: input.goal, page, recent_actions: [] }, run);
        return result({ ...done, status: 'succeeded', reason: 'VERIFIED' });
      },
    });
    expect(await spawned(room)).toMatchObject({ state: 'completed', outcome: 'verified' });
  });

  it('does not count a verification of a page that the device never showed', async () => {
    const room = createTestRoom({
      thinking: verifier,
      controller: async (input, ports, run) => {
        const done = await clickBuy(ports, run);
        const page = { url: 'https://shop.example/done', title: 'x', text: 'I made this up', elements: [] };
        await ports.assist!({ kind: 'verify', goal: input.goal, page, recent_actions: [] }, run);
        return result({ ...done, status: 'succeeded', reason: 'VERIFIED' });
      },
    });
    expect(await spawned(room)).toMatchObject({ state: 'needs_reconciliation', outcome: 'candidate' });
  });

  it('shows the verifier the page as the device showed it, whatever a controller leaves out or adds', async () => {
    const asked: unknown[] = [];
    const honest = verifier;
    const room = createTestRoom({
      thinking: {
        ...honest,
        forRun: () => async (request) => {
          asked.push(request);
          // The page itself shows no order: an honest verifier says so.
          return { verified: JSON.stringify(request).includes('Order confirmed') };
        },
      },
      controller: async (input, ports, run) => {
        const done = await clickBuy(ports, run);
        const acquired = JSON.parse(
          (await ports.callTool('browser_task_acquire', { ...input.scope, operation_id: randomUUID() }, run))
            .content[0]!.text,
        );
        const lease_token = leaseOf(acquired);
        const seen = JSON.parse(
          (await ports.callTool('page_observe', { ...input.scope, lease_token }, run)).content[0]!.text,
        );
        const page = { url: seen.url, title: 'Order confirmed', text: '', elements: [{ label: 'Order confirmed' }] };
        await ports.assist!({ kind: 'verify', goal: input.goal, page, recent_actions: [] }, run);
        return result({ ...done, status: 'succeeded', reason: 'VERIFIED' });
      },
    });
    expect(await spawned(room)).not.toMatchObject({ outcome: 'verified' });
    expect(JSON.stringify(asked)).not.toContain('Order confirmed');
  });

  it.each([
    ['is lost after the action', [{ tool: 'page_click', does: 'lost' as const }]],
    ['says that it does not know', [{ tool: 'page_click', does: 'unknown' as const }]],
    ['is something else', [{ tool: 'page_click', does: { anything: 1 } }]],
  ])('is in doubt when the device’s reply %s, whatever the controller says', async (_what, faults) => {
    const browser = scriptedBrowser({
      pages: { shop: { url: 'https://shop.example/', elements: [{ ref: 'e1', label: 'Buy', operations: ['CLICK'] }] } },
      faults,
    });
    const room = createTestRoom({
      browser,
      controller: async (_input, ports, run) => {
        const operationId = randomUUID();
        await clickBuy(ports, run, operationId).catch(() => {});
        return result({ lastAction: { operationId, operation: 'CLICK', outcome: 'confirmed' } });
      },
    });
    const task = await spawned(room);
    expect(task).toMatchObject({ state: 'needs_reconciliation', outcome: 'unknown' });
    expect(task.latestProgress?.text).toMatch(/^Unknown:/);
    await expect(confirmed(room, task.taskId)).rejects.toMatchObject({ code: 'BROWSER_VERIFICATION_UNAVAILABLE' });
    const again = { taskId: task.taskId, expectedRevision: 1, instruction: 'Try again', mode: 'when_ready' as const };
    await expect(room.service.update(caller(), again)).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
  });

  it('goes on after doubt once reading has settled it, and never as verified', async () => {
    const browser = scriptedBrowser({
      pages: { shop: { url: 'https://shop.example/', elements: [{ ref: 'e1', label: 'Buy', operations: ['CLICK'] }] } },
      faults: [{ tool: 'page_click', does: 'lost' }],
    });
    const room = createTestRoom({ browser, controller: buyer });
    const task = await spawned(room);
    expect(task.outcome).toBe('unknown');
    room.use(async () => result());
    const { evidence } = await room.service.status(caller(), { taskId: task.taskId, evidence: 'fresh' }, signal);
    expect(evidence?.operationStatus).toMatchObject({ state: 'completed' });
    const next = await room.service.update(caller(), {
      ...{ taskId: task.taskId, expectedRevision: 1, instruction: 'Check the basket', mode: 'reconcile_browser' },
      expectedRequestId: evidence!.requestId,
      evidenceId: evidence!.evidenceId!,
    });
    expect(next).toMatchObject({ revision: 2 });
    expect(next.outcome).not.toBe('verified');
    await room.until(task.taskId, (now) => now.appliedRevision === 2 && settled(now));
  });

  it.each([
    ['leaves out the action', () => result()],
    [
      'names another action',
      () => result({ lastAction: { operationId: randomUUID(), operation: 'CLICK', outcome: 'confirmed' } }),
    ],
    [
      'denies the action',
      (id: string) => result({ lastAction: { operationId: id, operation: 'CLICK', outcome: 'not_executed' } }),
    ],
  ])('is in doubt when the controller %s that its receipt names', async (_what, report) => {
    const room = createTestRoom({
      controller: async (_input, ports, run) => {
        const done = await clickBuy(ports, run);
        return report(done.lastAction.operationId);
      },
    });
    expect(await spawned(room)).toMatchObject({ state: 'needs_reconciliation', outcome: 'unknown' });
  });

  it('fails with the exact code at a known stop, and can be revised', async () => {
    const room = createTestRoom({ controller: async () => result({ status: 'blocked', reason: 'NO_PROGRESS' }) });
    const task = await spawned(room);
    expect(task).toMatchObject({
      state: 'failed',
      failure: { code: 'BROWSER_NO_PROGRESS' },
      outcome: 'needs_decision',
    });
    room.use(buyer);
    const { notices } = await room.service.status(caller(), { taskId: task.taskId }, signal);
    await room.service.status(caller(), { acknowledge: notices.map((one) => one.noticeId) }, signal);
    await room.service.update(caller(), {
      taskId: task.taskId,
      expectedRevision: 1,
      instruction: 'Buy it now',
      mode: 'when_ready',
    });
    expect(await room.until(task.taskId, (now) => now.appliedRevision === 2 && settled(now))).toMatchObject({
      outcome: 'candidate',
    });
    expect(room.runs.at(-1)?.goal).toBe('Buy it now');
  });

  it('asks for a missing field and fills exactly the given text', async () => {
    const asks = result({
      status: 'blocked',
      reason: 'FIELD_TEXT_REQUIRED',
      fieldRequest: { ref: 'e9', label: 'Street', reason: 'missing' },
    });
    const room = createTestRoom({ controller: async () => asks });
    const task = await spawned(room, { startUrl: 'https://shop.example/' });
    expect(task).toMatchObject({
      state: 'waiting_input',
      outcome: 'needs_field',
      pendingQuestion: { fieldLabel: 'Street' },
    });
    room.use(buyer);
    const questionId = task.pendingQuestion!.questionId;
    const long = { taskId: task.taskId, questionId, answer: 'it is', fieldText: 'x'.repeat(2001) };
    await expect(room.service.answer(caller(), long)).rejects.toMatchObject({ code: 'BROWSER_FIELD_VALUE_TOO_LONG' });
    await room.service.answer(caller(), { taskId: task.taskId, questionId, answer: 'it is', fieldText: ' Main 1 ' });
    await room.until(task.taskId, (now) => now.appliedRevision === 2 && settled(now));
    expect(room.runs[0]).toMatchObject({ startUrl: 'https://shop.example/' });
    expect(room.runs[1]?.startUrl).toBeUndefined();
    expect(room.runs[1]).toMatchObject({ goal: 'Buy the thing', fields: [{ label: 'Street', text: ' Main 1 ' }] });
    await expect(
      room.service.answer(caller(), { taskId: task.taskId, questionId, answer: 'again' }),
    ).rejects.toMatchObject({ code: 'QUESTION_NOT_FOUND' });
  });

  it('ends as cancelled when its controller stops, and stays in doubt when it does not', async () => {
    const obedient = createTestRoom({
      controller: (_input, _ports, run) =>
        new Promise((_resolve, reject) => run.addEventListener('abort', () => reject(new Error('stopped')))),
    });
    await obedient.service.start();
    const first = await obedient.spawn();
    await obedient.until(first.taskId, (task) => task.state === 'running');
    await obedient.service.cancel(caller(), { taskId: first.taskId });
    expect(await obedient.until(first.taskId, settled)).toMatchObject({ state: 'cancelled', outcome: 'cancelled' });

    const deaf = createTestRoom({ controller: () => new Promise(() => {}) });
    await deaf.service.start();
    const second = await deaf.spawn();
    await deaf.until(second.taskId, (task) => task.state === 'running');
    await deaf.service.cancel(caller(), { taskId: second.taskId });
    expect(await deaf.until(second.taskId, settled)).toMatchObject({
      state: 'needs_reconciliation',
      outcome: 'unknown',
      failure: { code: 'BROWSER_CANCEL_UNCONFIRMED' },
    });
  });

  it('sends nothing after its watchdog has spoken', async () => {
    let late: (() => Promise<unknown>) | undefined;
    const room = createTestRoom({
      controller: (_input, ports) => {
        late = () => clickBuy(ports, new AbortController().signal);
        return new Promise(() => {});
      },
    });
    await room.service.start();
    const { taskId } = await room.spawn();
    await room.until(taskId, (task) => task.state === 'running' && late !== undefined);
    await room.service.cancel(caller(), { taskId });
    await room.until(taskId, settled);
    const before = room.browser.done.length;
    await expect(late!()).rejects.toThrow();
    expect(room.browser.done.length).toBe(before);
  });

  it('does not run two tasks on the same tab at once', async () => {
    let running = 0;
    let most = 0;
    const room = createTestRoom({
      controller: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return result();
      },
    });
    await room.service.start();
    const others = [caller(), caller({ principalId: 'api:b', conversationId: 'conversation:assistant:b' })];
    const tasks = await Promise.all(others.map((who) => room.spawn({ caller: who })));
    await Promise.all(tasks.map((task, i) => room.until(task.taskId, settled, others[i])));
    expect(most).toBe(1);
  });
});

describe('identity', () => {
  it.each([
    ['principal', { principalId: 'api:b' }],
    ['agent', { agentId: 'other' }],
    ['conversation', { conversationId: 'conversation:assistant:elsewhere' }],
  ])('hides a task from another %s exactly as if it did not exist', async (_what, difference) => {
    const room = createTestRoom({ controller: buyer });
    const task = await spawned(room);
    const stranger = caller(difference);
    const attempts = (taskId: string) => [
      room.service.status(stranger, { taskId }, signal),
      room.service.status(stranger, { taskId, evidence: 'fresh' }, signal),
      room.service.receipts(stranger, taskId),
      room.service.cancel(stranger, { taskId }),
      room.service.update(stranger, { taskId, expectedRevision: 1, instruction: 'x', mode: 'when_ready' }),
      room.service.answer(stranger, { taskId, questionId: 'q', answer: 'x' }),
    ];
    const codes = async (taskId: string) =>
      (await Promise.allSettled(attempts(taskId))).map((one) => (one.status === 'rejected' ? one.reason.code : 'done'));
    expect(await codes(task.taskId)).toEqual(await codes(randomUUID()));
    expect(new Set(await codes(task.taskId))).toEqual(new Set(['TASK_NOT_FOUND']));
    expect((await room.service.status(stranger, {}, signal)).tasks).toEqual([]);
  });

  it('lets a read key look and nothing else', async () => {
    const room = createTestRoom();
    await room.service.start();
    await expect(room.spawn({ caller: caller({ principalId: 'api:reader' }) })).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
    });
    expect((await room.service.status(caller({ principalId: 'api:reader' }), {}, signal)).tasks).toEqual([]);
  });

  it('ends running work when the key is withdrawn, and discards its result', async () => {
    const room = createTestRoom({
      controller: async (_input, _ports, run) => {
        await new Promise((resolve) => run.addEventListener('abort', resolve));
        return result({ status: 'succeeded', reason: 'VERIFIED' });
      },
    });
    await room.service.start();
    const { taskId } = await room.spawn();
    await room.until(taskId, (task) => task.state === 'running');
    const ended = room.until(taskId, settled);
    room.authorization.reconfigure({ keys: [], agents: [{ id: 'assistant' }] });
    await expect(ended).rejects.toMatchObject({});
    await expect(room.service.status(caller(), { taskId }, signal)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
  });
});

describe('the same request', () => {
  it('makes one task, however often and however concurrently it is sent', async () => {
    const room = createTestRoom({ controller: buyer });
    await room.service.start();
    const tasks = await Promise.all(Array.from({ length: 20 }, () => room.spawn({ requestId: 'order-1' })));
    expect(new Set(tasks.map((task) => task.taskId)).size).toBe(1);
    await room.until(tasks[0]!.taskId, settled);
    expect((await room.spawn({ requestId: 'order-1' })).taskId).toBe(tasks[0]!.taskId);
    expect(room.runs).toHaveLength(1);
  });

  it('is refused with other contents and leaves the first as it was', async () => {
    const room = createTestRoom();
    await room.service.start();
    const { taskId } = await room.spawn({ requestId: 'order-1' });
    await expect(room.spawn({ requestId: 'order-1', instructions: 'Buy two' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect((await room.service.status(caller(), { taskId }, signal)).task?.currentInstructions).toBe('Buy the thing');
  });

  it('stays one task across a restart', async () => {
    const first = createTestRoom({ controller: buyer });
    const task = await spawned(first, { requestId: 'order-1' });
    await first.service.stop();
    const second = createTestRoom({ store: first.store, browser: shopTab() });
    await second.service.start();
    expect((await second.spawn({ requestId: 'order-1' })).taskId).toBe(task.taskId);
    expect(second.runs).toHaveLength(0);
  });
});

describe('a target', () => {
  it('serves one open session; a second task names the first', async () => {
    const room = createTestRoom({ controller: buyer });
    const task = await spawned(room);
    await expect(room.spawn()).rejects.toMatchObject({
      code: 'AUTOMATION_SESSION_EXISTS',
      details: { taskId: task.taskId },
    });
    await room.service.cancel(caller(), { taskId: task.taskId });
    expect((await room.spawn()).taskId).not.toBe(task.taskId);
  });

  it('is given to a new task when the old one failed before it did anything, or is proven', async () => {
    const room = createTestRoom({
      controller: async () => result({ status: 'blocked', reason: 'PAGE_CONTENT_UNAVAILABLE' }),
    });
    const failed = await spawned(room);
    room.use(buyer);
    const second = await room.spawn();
    expect((await room.service.status(caller(), { taskId: failed.taskId }, signal)).task).toMatchObject({
      replacedByTaskId: second.taskId,
    });
    await room.until(second.taskId, settled);
    await confirmed(room, second.taskId);
    await expect(room.spawn()).resolves.toMatchObject({ state: 'queued' });
  });
});

describe('replanning', () => {
  it('is allowed three times with different guidance, keeps the goal, and starts afresh with the user’s word', async () => {
    const room = createTestRoom({
      controller: async () => result({ status: 'blocked', reason: 'LOW_TARGET_CONFIDENCE' }),
    });
    const task = await spawned(room);
    const guide = async (instruction: string, revision: number) => {
      const { notices } = await room.service.status(caller(), { taskId: task.taskId }, signal);
      return room.service.update(caller(), {
        ...{ taskId: task.taskId, expectedRevision: revision, instruction, mode: 'when_ready' },
        noticeId: notices[0]!.noticeId,
      });
    };
    for (const [i, words] of ['Use the blue button', 'Scroll first', 'Close the banner'].entries()) {
      await guide(words, i + 1);
      await room.until(task.taskId, (now) => now.appliedRevision === i + 2 && settled(now));
      expect(room.runs.at(-1)).toMatchObject({ goal: 'Buy the thing', guidance: words });
      if (i === 0) await expect(guide('use the  BLUE button.', 2)).rejects.toMatchObject({ code: 'REPLAN_REPEATED' });
    }
    await expect(guide('Another way', 4)).rejects.toMatchObject({ code: 'REPLAN_LIMIT' });
  });
});

describe('waiting for a task', () => {
  it('ends when something is newer, and hands over the notice', async () => {
    const room = createTestRoom({ controller: buyer });
    await room.service.start();
    const { taskId, stateVersion } = await room.spawn();
    let version = stateVersion;
    for (;;) {
      const { task, notices } = await room.service.status(
        caller(),
        { taskId, waitMs: 60_000, afterVersion: version },
        signal,
      );
      version = task!.stateVersion;
      if (!settled(task!)) continue;
      expect(notices).toMatchObject([{ kind: 'settled', taskId, revision: 1 }]);
      break;
    }
  });

  it('tells every state change once, in order, and goes on after a given id', async () => {
    const room = createTestRoom({ controller: buyer });
    const task = await spawned(room);
    const seen: number[] = [];
    const stop = new AbortController();
    for await (const event of room.service.events(caller(), 0, stop.signal)) {
      seen.push(event.id);
      if ((event.data.notice as { taskId?: string } | undefined)?.taskId === task.taskId) stop.abort();
    }
    expect(seen).toEqual(seen.map((_, i) => i + 1));
    const rest = new AbortController();
    const first = room.service.events(caller(), 2, rest.signal)[Symbol.asyncIterator]();
    expect((await first.next()).value?.id).toBe(3);
    rest.abort();
  });
});
