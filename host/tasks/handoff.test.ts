import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { acting, controlled, done, notDone } from '../../test/tasks/commands.ts';
import type { RoomOptions } from '../../test/tasks/room.ts';
import { caller, result } from '../../test/tasks/room.ts';

const signal = new AbortController().signal;

/** A session in which the user's words came to nothing for this reason. */
async function afterWords(reason: string, options: RoomOptions & { words?: string } = {}) {
  const session = await controlled(options);
  const id = randomUUID();
  await session.say(options.words ?? 'กดบัว', { id });
  (await session.round(2)).end(notDone(reason));
  const settled = await session.settled();
  const update = (more: object = {}) =>
    session.room.service.update(caller(), {
      ...{ taskId: session.taskId, expectedRevision: 2, instruction: 'Press Plus', mode: 'when_ready' as const },
      ...more,
    });
  const receipts = async () =>
    (await session.events('input.execution_control'))
      .map(({ data }) => data.receipt as { inputId: string; status: string; code?: string })
      .filter((receipt) => receipt.inputId === id);
  return { ...session, id, settled, update, receipts };
}

describe('words that came to nothing', () => {
  it.each([
    'NO_SUPPORTED_ACTION',
    'UNCLEAR',
    'STALE_RETRY_BUDGET',
    'TARGET_OBSCURED',
    'FIELD_TEXT_REQUIRED',
    'NAVIGATION_UNRESOLVED',
    'JEV_INVALID_RESPONSE',
    'COMPLETION_CANDIDATE',
    'LOW_OPERATION_CONFIDENCE',
  ])('%s is handed to the agent, once, and nothing is spoken', async (reason) => {
    const { notices, receipts, events, task } = await afterWords(reason);
    expect(await notices()).toMatchObject([{ kind: 'handoff', code: 'AGENT_HANDOFF', text: 'กดบัว', revision: 2 }]);
    expect((await receipts()).map(({ status, code }) => [status, code])).toEqual([
      ['applied', undefined],
      ['needs_agent', 'AGENT_HANDOFF'],
    ]);
    expect(await events('task.reply')).toEqual([]);
    expect(await task()).toMatchObject({ state: 'waiting_input', automationController: 'user' });
  });

  it.each(['SCROLL_LIMIT', 'NEW_TAB_OUT_OF_SCOPE', 'HISTORY_UNAVAILABLE', 'KEY_UNSUPPORTED'])(
    '%s is its own answer: one spoken line, no hand-off',
    async (reason) => {
      const { notices, receipts, events } = await afterWords(reason);
      expect(await notices()).toEqual([]);
      expect((await receipts()).map(({ status }) => status)).toEqual(['applied']);
      expect(await events('task.reply')).toHaveLength(1);
    },
  );

  it('that acted are not handed over, nor a step list, nor a command in doubt', async () => {
    const acted = await controlled();
    acted.room.use(acting((last) => ({ ...notDone('NO_SUPPORTED_ACTION', { steps: 1 }), ...last })));
    await acted.say('กดซื้อ');
    await acted.settled();
    expect(await acted.notices()).toEqual([]);
    const steps = await controlled();
    await steps.say('a, b');
    const stepRun = {
      total: 2,
      completed: 0,
      stopReason: 'STEP_NOT_EXECUTED' as const,
      stoppedAt: 1,
      detail: 'UNCLEAR',
      remaining: ['a', 'b'],
    };
    (await steps.round(2)).end(notDone('UNCLEAR', { stepRun }));
    expect((await steps.settled()).latestProgress?.text).toMatch(/^Not done: stopped at step 1 of 2\. UNCLEAR\./);
    expect((await steps.notices()).map(({ kind }) => kind)).not.toContain('handoff');
    const doubt = await controlled();
    await doubt.say('กดซื้อ');
    (await doubt.round(2)).end(result({ reason: 'OUTCOME_UNKNOWN' }));
    await doubt.settled();
    expect((await doubt.notices()).map(({ kind }) => kind)).toEqual(['settled']);
    expect((await doubt.events('task.reply')).map(({ data }) => data.spoken)).toEqual([
      'ไม่แน่ใจว่า กดซื้อ ทำไปแล้วหรือยัง ดูหน้าจอก่อนสั่งใหม่',
    ]);
  });

  it('give the agent exactly one command, which runs as the user’s next one', async () => {
    const { update, round, settled: _, task, room, taskId } = await afterWords('UNCLEAR');
    const updated = await update();
    expect(updated).toMatchObject({
      revision: 3,
      executionControl: { action: 'revise', agentHandoff: true },
      automationController: 'user',
    });
    const third = await round(3);
    expect(third.input).toMatchObject({ goal: 'Press Plus', command: true, agentCommand: true });
    await expect(update()).rejects.toMatchObject({ code: 'AGENT_HANDOFF_USED' });
    await expect(update({ expectedRevision: 3 })).rejects.toMatchObject({ code: 'AGENT_HANDOFF_USED' });
    third.end(done());
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    await expect(update({ expectedRevision: 3 })).rejects.toMatchObject({ code: 'AGENT_HANDOFF_USED' });
    expect((await task()).revision).toBe(3);
  });

  it.each([
    [{ mode: 'interrupt_and_resume' }, 'INVALID_INPUT'],
    [{ fields: [{ label: 'Name', text: 'x' }] }, 'INVALID_INPUT'],
    [{ expectedRevision: 1 }, 'REVISION_CONFLICT'],
    [{ mode: 'verify_browser', expectedRequestId: 'x', evidenceId: 'y' }, 'AGENT_HANDOFF_ONE_COMMAND'],
  ])('refuse %j as %s', async (wrong, code) => {
    const { update, task } = await afterWords('UNCLEAR');
    await expect(update(wrong)).rejects.toMatchObject({ code });
    expect((await task()).revision).toBe(2);
  });

  it('allow the agent no cancellation and no answer, and leave the user’s own cancellation alone', async () => {
    const { room, taskId, task } = await afterWords('UNCLEAR');
    await expect(room.service.cancel(caller(), { taskId })).rejects.toMatchObject({
      code: 'AGENT_HANDOFF_ONE_COMMAND',
    });
    await expect(
      room.service.answer(caller(), { taskId, questionId: randomUUID(), answer: 'x' }),
    ).rejects.toMatchObject({ code: 'AGENT_HANDOFF_ONE_COMMAND' });
    expect((await task()).state).toBe('waiting_input');
    expect((await room.service.cancel(caller(), { taskId, by: 'user' })).state).toBe('cancelled');
  });

  it('are no longer the agent’s once the user has spoken again', async () => {
    const { say, update, round, notices } = await afterWords('UNCLEAR');
    await say('enter');
    await expect(update()).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    (await round(3)).end(done());
    expect((await notices()).map(({ kind }) => kind)).not.toContain('handoff');
  });

  it('are spoken of against the user’s own words when the agent’s command comes to nothing too, and handed over no more', async () => {
    const { update, round, room, taskId, events, notices, say } = await afterWords('UNCLEAR');
    await update();
    (await round(3)).end(notDone('NO_SUPPORTED_ACTION'));
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    expect((await events('task.reply')).map(({ data }) => data.spoken)).toEqual(['ไม่เจอปุ่ม กดบัว บนหน้าจอ']);
    expect(await notices()).toEqual([]);
    await say('enter');
    expect((await round(4)).input).not.toHaveProperty('agentCommand');
  });

  it('settle as the plain line when no agent takes them in time', async () => {
    const { room, taskId, events, notices, task, receipts, update } = await afterWords('NO_SUPPORTED_ACTION', {
      limits: { handoffMs: 1 },
    });
    const stop = new AbortController();
    for await (const { type } of room.service.events(caller(), 0, stop.signal)) if (type === 'task.reply') break;
    stop.abort();
    expect((await events('task.reply')).map(({ data }) => data.spoken)).toEqual(['ไม่เจอปุ่ม กดบัว บนหน้าจอ']);
    expect((await receipts()).at(-1)?.status).toBe('applied');
    expect((await task()).latestProgress?.text).toMatch(/^Not done:/);
    await room.until(taskId, () => true);
    expect(await notices()).toEqual([]);
    expect((await update()).executionControl?.agentHandoff).toBeUndefined();
  });
});

describe('a question', () => {
  it('is the agent’s to answer, and nothing may be done', async () => {
    const { notices, update, room, taskId, receipts, settled, events } = await afterWords('READ_REQUEST', {
      words: 'อ่านให้ฟังหน่อย',
    });
    expect(settled.latestProgress?.text).toMatch(/^Read request:/);
    const [notice] = await notices();
    expect(notice).toMatchObject({ kind: 'read_request', code: 'READ_REQUEST', text: 'อ่านให้ฟังหน่อย' });
    expect((await receipts()).at(-1)).toMatchObject({ status: 'needs_agent', code: 'READ_REQUEST' });
    expect(await events('task.reply')).toEqual([]);
    await expect(update()).rejects.toMatchObject({ code: 'READ_REQUEST_ONLY' });
    await expect(room.service.cancel(caller(), { taskId })).rejects.toMatchObject({ code: 'READ_REQUEST_ONLY' });
    await room.service.status(caller(), { taskId, acknowledge: [notice!.noticeId] }, signal);
    expect((await update()).revision).toBe(3);
  });
});

describe('a high-impact command of the agent', () => {
  async function asked() {
    const session = await afterWords('UNCLEAR');
    await session.update({ instruction: 'Press Delete' });
    (await session.round(3)).end(
      result({
        reason: 'COMMAND_WAITING_INPUT',
        commandOutcome: {
          done: false,
          reason: 'CONFIRMATION_REQUIRED',
          action: { kind: 'click', label: 'Delete\u202e it' },
        },
      }),
    );
    await session.room.until(session.taskId, ({ state }) => state === 'waiting_input');
    return session;
  }

  it('asks the user once, naming the control, and runs as the user’s own after the reply', async () => {
    const { say, round, events, task, notices } = await asked();
    expect((await events('task.reply')).map(({ data }) => [data.code, data.spoken])).toEqual([
      ['CONFIRMATION_REQUIRED', 'จะกด Delete it ใช่ไหม'],
    ]);
    expect((await task()).pendingQuestion).toBeUndefined();
    expect(await notices()).toEqual([]);
    await say('ใช่');
    const fourth = await round(4);
    expect(fourth.input).toMatchObject({ goal: 'ใช่', command: true, confirmation: { command: 'Press Delete' } });
    expect(fourth.input.agentCommand).toBeUndefined();
    fourth.end(done());
    await say('enter');
    expect((await round(5)).input.confirmation).toBeUndefined();
  });

  it('says nothing after a no', async () => {
    const { say, round, events, room, taskId, notices } = await asked();
    await say('ไม่');
    (await round(4)).end(notDone('CONFIRMATION_DECLINED'));
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    expect(await events('task.reply')).toHaveLength(1);
    expect(await notices()).toEqual([]);
  });

  it('keeps the question when the reply could not be read', async () => {
    const { say, round, room, taskId, events } = await asked();
    await say('ใช่');
    const failure = { providerFailure: { code: 'JEV_RATE_LIMITED' } };
    (await round(4)).end(notDone('JEV_RATE_LIMITED', failure));
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    expect((await events('task.reply')).at(-1)?.data.spoken).toBe('ระบบตอบไม่ทัน ลองพูดใหม่อีกครั้ง');
    await say('ใช่');
    expect((await round(5)).input).toMatchObject({ goal: 'ใช่', confirmation: { command: 'Press Delete' } });
  });

  it('ends the queue: what waited is listed, not sent past the question', async () => {
    const session = await afterWords('UNCLEAR');
    await session.update({ instruction: 'Press Delete' });
    const third = await session.round(3);
    await session.say('enter');
    third.end(
      result({
        reason: 'COMMAND_WAITING_INPUT',
        commandOutcome: { done: false, reason: 'CONFIRMATION_REQUIRED', action: { kind: 'click', label: 'Delete' } },
      }),
    );
    const task = await session.room.until(session.taskId, ({ state }) => state === 'waiting_input');
    expect(task.latestProgress?.text).toContain('1 queued command was not sent: "enter".');
    expect(session.rounds).toHaveLength(3);
  });
});
