import { describe, expect, it } from 'vitest';
import { controlled, done, notDone } from '../../test/tasks/commands.ts';
import { caller } from '../../test/tasks/room.ts';

const signal = new AbortController().signal;

describe('a message of the user', () => {
  it('for no task becomes the agent’s', async () => {
    const { room, rounds } = await controlled();
    const receipt = await room.service.message(caller(), { text: 'How is it going?' });
    expect(receipt).toMatchObject({ status: 'accepted' });
    const { notices } = await room.service.status(caller(), {}, signal);
    expect(notices).toContainEqual(expect.objectContaining({ kind: 'message', text: 'How is it going?' }));
    expect(rounds).toHaveLength(1);
  });

  it('for a task is its next command, and the same message again runs nothing more', async () => {
    const { room, taskId, round, settled, rounds } = await controlled();
    const said = { text: 'กด enter', executionTaskId: taskId, requestId: 'r1' };
    const receipt = await room.service.message(caller(), said);
    expect(receipt).toMatchObject({ status: 'applied', taskId, revision: 2 });
    (await round(2)).end(done());
    await settled();
    expect(await room.service.message(caller(), said)).toEqual(receipt);
    await expect(room.service.message(caller(), { ...said, text: 'กด tab' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect(rounds).toHaveLength(2);
  });

  it('behind a running command is queued, and its receipt follows it', async () => {
    const { room, taskId, round, settled } = await controlled();
    await room.service.message(caller(), { text: 'enter', executionTaskId: taskId });
    await round(2);
    const said = { text: 'บัว', executionTaskId: taskId, requestId: 'r2' };
    expect(await room.service.message(caller(), said)).toMatchObject({ status: 'queued' });
    (await round(2)).end(done());
    await round(3);
    expect(await room.service.message(caller(), said)).toMatchObject({ status: 'applied', revision: 3 });
    (await round(3)).end(notDone('UNCLEAR'));
    await settled();
    expect(await room.service.message(caller(), said)).toMatchObject({ status: 'needs_agent', code: 'AGENT_HANDOFF' });
  });

  it('that the task cannot take becomes the agent’s, with the code that says why', async () => {
    const { room, taskId, rounds } = await controlled();
    await room.service.cancel(caller(), { taskId });
    const said = { text: 'enter', executionTaskId: taskId, requestId: 'r3' };
    const receipt = await room.service.message(caller(), said);
    expect(receipt).toMatchObject({ status: 'needs_agent', code: 'AUTOMATION_SESSION_CLOSED', taskId });
    expect(await room.service.message(caller(), said)).toEqual(receipt);
    const { notices } = await room.service.status(caller(), { taskId }, signal);
    expect(notices.filter(({ kind }) => kind === 'message')).toMatchObject([
      { text: 'enter', code: 'AUTOMATION_SESSION_CLOSED', taskId },
    ]);
    expect(rounds).toHaveLength(1);
  });

  it('for another’s task is refused, and so is an empty one', async () => {
    const { room, taskId } = await controlled();
    const other = caller({ principalId: 'api:b', conversationId: 'other' });
    await expect(room.service.message(other, { text: 'enter', executionTaskId: taskId })).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    });
    for (const text of ['', '  ', 'x'.repeat(4001)]) {
      await expect(room.service.message(caller(), { text })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
    await expect(
      room.service.message(caller({ access: 'read', principalId: 'api:reader' }), { text: 'hi' }),
    ).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
  });

  it('lets the agent act again after a hand-off, under its notice', async () => {
    const { room, taskId, say, round, settled } = await controlled();
    await say('บัว');
    (await round(2)).end(notDone('UNCLEAR'));
    await settled();
    const update = (more: object) =>
      room.service.update(caller(), {
        ...{ taskId, expectedRevision: 2, instruction: 'Press Plus', mode: 'when_ready' as const },
        ...more,
      });
    await update({});
    (await round(3)).end(notDone('UNCLEAR'));
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    await expect(update({ expectedRevision: 3 })).rejects.toMatchObject({ code: 'AGENT_HANDOFF_USED' });
    await room.service.message(caller(), { text: 'Then press Minus' });
    const { notices } = await room.service.status(caller(), {}, signal);
    const { noticeId } = notices.find(({ kind }) => kind === 'message')!;
    expect(await update({ expectedRevision: 3, noticeId })).toMatchObject({ revision: 4 });
  });
});

describe('speech', () => {
  it('to a task has at most one typed echo, which runs nothing', async () => {
    let now = 1_000_000;
    const { room, taskId, round, settled, rounds } = await controlled({ now: () => now });
    const said = { text: 'กด enter ครับ', executionTaskId: taskId };
    await room.service.message(caller(), { ...said, modality: 'live_voice' });
    (await round(2)).end(done());
    await settled();
    const typed = { text: 'กด  Enter', executionTaskId: taskId };
    expect(await room.service.message(caller(), typed)).toMatchObject({
      status: 'applied',
      code: 'DUPLICATE_VOICE_ECHO',
    });
    expect(rounds).toHaveLength(2);
    expect(await room.service.message(caller(), typed)).toMatchObject({ status: 'applied', revision: 3 });
    (await round(3)).end(done());
    await settled();
    await room.service.message(caller(), { ...said, modality: 'live_voice' });
    (await round(4)).end(done());
    await settled();
    now += 10_001;
    expect(await room.service.message(caller(), typed)).toMatchObject({ revision: 5 });
  });

  it('pauses what the agent drives and waits behind the user’s own command', async () => {
    const { room, taskId, say, round, settled } = await controlled();
    expect(room.service.speechRule(caller(), taskId)).toBe('runs');
    await say('enter');
    const second = await round(2);
    expect(room.service.speechRule(caller(), taskId)).toBe('queues');
    second.end(done());
    await settled();
    const other = caller({ principalId: 'api:b', conversationId: 'other' });
    expect(() => room.service.speechRule(other, taskId)).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
    const goal = await controlled({ first: 'waits' });
    await goal.round(1);
    expect(goal.room.service.speechRule(caller(), goal.taskId)).toBe('pauses');
  });
});
