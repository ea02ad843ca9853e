import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { acting, controlled, done, notDone } from '../../test/tasks/commands.ts';
import { caller, createTestRoom, result, settled } from '../../test/tasks/room.ts';

describe('the start of a session', () => {
  it('ends ready, silent and open for the next command', async () => {
    const { task, notices, events } = await controlled();
    expect(await task()).toMatchObject({
      state: 'waiting_input',
      automationController: 'user',
      latestProgress: { text: 'Ready: the session is open and waits for the next command.' },
    });
    expect((await notices()).map(({ kind }) => kind)).not.toContain('handoff');
    expect(await events('task.reply')).toEqual([]);
  });
});

describe('a command', () => {
  it('runs verbatim as the next revision, and its line says what it did', async () => {
    const { say, round, settled, task } = await controlled();
    expect(await say('  กด enter ครับ ')).toMatchObject({ revision: 2, state: 'queued' });
    const { input, end } = await round(2);
    expect(input).toMatchObject({ goal: '  กด enter ครับ ', command: true });
    end(done());
    expect(await settled()).toMatchObject({
      state: 'waiting_input',
      latestProgress: { text: 'Done: pressed the Enter key' },
    });
    expect((await task()).executionControl).toMatchObject({ action: 'revise', phase: 'applied', revision: 2 });
  });

  it('is told what came before it, without what was typed', async () => {
    const { say, round, settled } = await controlled();
    await say('พิมพ์ ความลับ');
    (await round(2)).end({
      ...done({ action: { kind: 'type', label: 'Name' } }),
      observation: { url: 'https://shop.example/form?token=1', title: 'Form' },
    });
    const { actionLog } = await settled();
    expect(actionLog.at(-1)).toMatchObject({ command: 'พิมพ์ [text]', result: 'Done: entered text in "Name"' });
    await say('อีก');
    const { interactionContext } = (await round(3)).input;
    expect(interactionContext).toContain('Previous command: พิมพ์ [text] -> Done: entered text in "Name"');
    expect(interactionContext).toContain('It ended on: https://shop.example/form (Form)');
    expect(interactionContext).not.toMatch(/ความลับ|token/);
  });

  it('sent twice with one id runs once; with other words it is refused', async () => {
    const { say, rounds, settled, round } = await controlled();
    const id = randomUUID();
    const first = await say('enter', { id });
    (await round(2)).end(done());
    await settled();
    expect((await say('enter', { id, expectedRevision: first.revision })).revision).toBe(2);
    expect(rounds).toHaveLength(2);
    await expect(say('tab', { id })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it.each([
    [{ expectedRevision: 7 }, 'REVISION_CONFLICT'],
    [{ text: '' }, 'INVALID_INPUT'],
    [{ text: 'x'.repeat(4001) }, 'INVALID_INPUT'],
    [{ action: 'pause' as const }, 'INVALID_INPUT'],
    [{ taskId: randomUUID() }, 'TASK_NOT_FOUND'],
  ])('with %j is refused as %s', async (wrong, code) => {
    const { say, task } = await controlled();
    await expect(say('enter', wrong)).rejects.toMatchObject({ code });
    expect((await task()).revision).toBe(1);
  });

  it('of another principal finds no task', async () => {
    const { room, taskId } = await controlled();
    const command = { id: randomUUID(), taskId, action: 'revise' as const, expectedRevision: 1, text: 'enter' };
    await expect(
      room.service.control(caller({ principalId: 'api:b', conversationId: 'other' }), command),
    ).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });

  it('restarts a round that failed, and closes a question that waited', async () => {
    const failed = await controlled({ first: result({ status: 'blocked', reason: 'NO_PROGRESS' }) });
    expect((await failed.task()).state).toBe('failed');
    await failed.say('enter');
    (await failed.round(2)).end(done());
    expect(await failed.settled()).toMatchObject({ state: 'waiting_input' });
    const asked = await controlled({
      first: result({
        status: 'blocked',
        reason: 'FIELD_TEXT_REQUIRED',
        fieldRequest: { ref: 'a', label: 'Name', reason: 'missing' },
      }),
    });
    expect((await asked.task()).pendingQuestion).toBeDefined();
    await asked.say('enter');
    expect((await asked.task()).pendingQuestion).toBeUndefined();
    expect((await asked.notices()).map(({ kind }) => kind)).toEqual([]);
  });

  it('is refused while an outcome is unknown, whoever sends it', async () => {
    const { say, round, settled, control, rounds } = await controlled();
    await say('enter');
    (await round(2)).end(
      result({ reason: 'OUTCOME_UNKNOWN', commandOutcome: { done: false, reason: 'OUTCOME_UNKNOWN' } }),
    );
    expect(await settled()).toMatchObject({ state: 'needs_reconciliation', outcome: 'unknown' });
    for (const action of ['revise', 'resume', 'pause'] as const) {
      await expect(control(action, action === 'revise' ? 'tab' : undefined)).rejects.toMatchObject({
        code: 'STATE_CONFLICT',
      });
    }
    await control('agent');
    await expect(say('tab')).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
    expect(rounds).toHaveLength(2);
  });

  it('is refused by a session that is closed', async () => {
    let now = 1_000_000;
    const { say, control } = await controlled({ now: () => now });
    await control('agent');
    now += 30 * 60_000 + 1;
    await expect(say('enter')).rejects.toMatchObject({ code: 'AUTOMATION_SESSION_CLOSED' });
    await expect(control('pause')).rejects.toMatchObject({ code: 'AUTOMATION_SESSION_CLOSED' });
  });
});

describe('rapid commands', () => {
  it('wait their turn and run verbatim, in order, one revision each', async () => {
    const { say, round, settled, task, rounds } = await controlled();
    await say('9');
    await round(2);
    for (const text of ['+', '3', '=']) await say(text);
    expect((await task()).queuedCommands).toEqual(['+', '3', '=']);
    for (const number of [2, 3, 4, 5]) (await round(number)).end(done());
    expect(await settled()).toMatchObject({ revision: 5, state: 'waiting_input' });
    expect(rounds.slice(1).map(({ input }) => [input.goal, input.command])).toEqual(
      ['9', '+', '3', '='].map((text) => [text, true]),
    );
  });

  it('are at most twenty', async () => {
    const { say, round } = await controlled();
    await say('0');
    await round(2);
    for (let count = 1; count <= 20; count++) await say(String(count));
    await expect(say('21')).rejects.toMatchObject({ code: 'COMMAND_QUEUE_FULL' });
  });

  it('are not sent after a restart: they are dropped, listed, and the session goes on with the next word', async () => {
    const before = await controlled();
    await before.say('9');
    await before.round(2);
    for (const text of ['+', '3']) await before.say(text);
    // Killed, not stopped: the store is all that is left.
    const after = createTestRoom({ store: before.room.store });
    await after.service.start();
    const { tasks } = await after.service.status(caller(), {}, new AbortController().signal);
    const [task] = tasks ?? [];
    expect(task?.queuedCommands ?? []).toEqual([]);
    expect(task?.latestProgress?.text).toMatch(/“\+”.*“3”|"\+".*"3"/s);
    expect(after.runs).toEqual([]);
  });

  it('are dropped and listed by a pause; what it stopped goes on alone when it is resumed', async () => {
    const { say, round, control, room, taskId, rounds, task, events } = await controlled();
    await say('9');
    await round(2);
    for (const text of ['+', '3']) await say(text);
    await control('pause');
    const paused = await room.until(taskId, ({ state }) => state === 'waiting_input');
    expect(paused.latestProgress?.text).toContain(': "+", "3".');
    expect((await events('task.command_queue_dropped')).map(({ data }) => data.commands)).toMatchObject([
      [{ text: '+' }, { text: '3' }],
    ]);
    await control('resume');
    (await round(3)).end(done());
    await room.until(taskId, settled);
    expect(rounds.slice(1).map(({ input }) => input.goal)).toEqual(['9', '9']);
    expect((await task()).queuedCommands ?? []).toEqual([]);
  });

  it('go on behind a command that did nothing', async () => {
    const { say, round, settled, rounds } = await controlled();
    await say('enter');
    await round(2);
    await say('tab');
    (await round(2)).end(notDone('NO_SUPPORTED_ACTION'));
    (await round(3)).end(done());
    await settled();
    expect(rounds[2]?.input.goal).toBe('tab');
  });

  it.each([
    ['fails', result({ status: 'blocked', reason: 'CONSENT_REQUIRED' })],
    ['is in doubt', result({ reason: 'OUTCOME_UNKNOWN' })],
  ])('are dropped and listed when the one before %s', async (_what, end) => {
    const { say, round, settled, rounds, events } = await controlled();
    await say('9');
    await round(2);
    await say('+');
    await say('3');
    (await round(2)).end(end);
    const task = await settled();
    expect(task.latestProgress?.text).toContain('2 queued commands were not sent: "+", "3".');
    expect(task.queuedCommands).toBeUndefined();
    expect((await events('task.command_queue_dropped')).map(({ data }) => data.count)).toEqual([2]);
    expect(rounds).toHaveLength(2);
  });

  it.each(['pause', 'agent'] as const)('are dropped and listed by %s', async (action) => {
    const { say, round, control, task } = await controlled();
    await say('9');
    await round(2);
    await say('+');
    await say('3');
    await control(action);
    expect((await task()).latestProgress?.text).toMatch(/2 queued commands were not sent: "\+", "3"\.$/);
    expect((await task()).queuedCommands).toBeUndefined();
  });

  it('are dropped and listed by a cancellation', async () => {
    const { say, round, room, taskId, events } = await controlled();
    await say('9');
    await round(2);
    await say('+');
    await room.service.cancel(caller(), { taskId });
    expect((await events('task.command_queue_dropped')).map(({ data }) => data.count)).toEqual([1]);
    const ended = await room.until(taskId, ({ state }) => state === 'cancelled');
    expect(ended.latestProgress?.text).toContain('1 queued command was not sent: "+".');
  });

  it('are dropped by giving control away, and the line of the run that goes on lists them', async () => {
    const { say, round, control, settled: waits } = await controlled();
    await say('9');
    const running = await round(2);
    await say('+');
    await control('agent');
    running.end(done());
    expect((await waits()).latestProgress?.text).toContain('1 queued command was not sent: "+".');
  });
});

describe('a correction of the agent’s goal', () => {
  it('stops it, keeps the goal behind the correction, and lets later commands wait', async () => {
    const { say, round, rounds, settled } = await controlled({ first: 'waits' });
    await round(1);
    expect(await say('only the blue one')).toMatchObject({ state: 'interrupting', revision: 2 });
    await say('enter');
    const second = await round(2);
    expect(rounds[0]?.stopped).toBe(true);
    expect(second.input.goal).toBe(
      'Latest user correction: only the blue one\n\nOriginal goal: Open a session and wait',
    );
    expect(second.input.command ?? false).toBe(false);
    second.end(done());
    (await round(3)).end(done());
    expect(await settled()).toMatchObject({ revision: 3 });
    expect(rounds[2]?.input.goal).toBe('enter');
  });

  it('keeps every correction, newest first', async () => {
    const { say, round, control, room, taskId, rounds } = await controlled({ first: 'waits' });
    await round(1);
    await control('pause');
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    await say('first');
    await round(2);
    await say('second');
    const third = await round(3);
    expect(third.input.goal).toBe(
      'Latest user correction: second\n\nEarlier user correction: first\n\nOriginal goal: Open a session and wait',
    );
    expect(rounds[1]?.stopped).toBe(true);
  });
});

describe('a pause', () => {
  it('stops the run and holds the task until it is resumed', async () => {
    const { control, round, room, taskId, rounds, task } = await controlled({ first: 'waits' });
    await round(1);
    await control('pause');
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    expect((await task()).executionControl).toMatchObject({ action: 'pause', phase: 'paused' });
    expect(rounds).toHaveLength(1);
    await control('resume');
    expect((await round(2)).input.goal).toBe('Open a session and wait');
  });

  it('has nothing to resume when nothing was paused, or when the command had acted', async () => {
    const { control, say, room } = await controlled();
    await expect(control('resume')).rejects.toMatchObject({ code: 'NOTHING_TO_RESUME' });
    await control('pause');
    await expect(control('resume')).rejects.toMatchObject({ code: 'NOTHING_TO_RESUME' });
    let acted: () => void = () => {};
    const clicked = new Promise<void>((resolve) => {
      acted = resolve;
    });
    room.use(async (input, ports, signal) => {
      const claim = await acting()(input, ports, signal);
      acted();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return claim;
    });
    await say('กดซื้อ');
    await clicked;
    await control('pause');
    await room.until(
      (await room.service.status(caller(), {}, new AbortController().signal)).tasks![0]!.taskId,
      ({ state }) => state === 'waiting_input',
    );
    await expect(control('resume')).rejects.toMatchObject({ code: 'NOTHING_TO_RESUME' });
    expect(room.browser.done).toEqual(['page_click e1']);
  });
});

describe('who gives the next instruction', () => {
  it('is switched without anything being sent', async () => {
    const { control, task, rounds, notices } = await controlled();
    expect((await control('agent')).automationController).toBe('agent');
    expect((await notices()).map(({ kind }) => kind)).toContain('needs_move');
    expect((await control('user')).automationController).toBe('user');
    expect(await task()).toMatchObject({ state: 'waiting_input', revision: 1 });
    expect(rounds).toHaveLength(1);
  });
});

describe('the agent, when a session waits', () => {
  it('may give the next instruction, three times until its user speaks', async () => {
    const { room, taskId, round, settled, task } = await controlled();
    for (const [index, instruction] of ['open the shop', 'search shoes', 'sort by price'].entries()) {
      await room.service.update(caller(), { taskId, expectedRevision: index + 1, instruction, mode: 'when_ready' });
      const { input, end } = await round(index + 2);
      expect(input.goal).toBe(instruction);
      end(done());
      await settled();
    }
    const fourth = { taskId, expectedRevision: 4, instruction: 'buy', mode: 'when_ready' as const };
    await expect(room.service.update(caller(), fourth)).rejects.toMatchObject({ code: 'REPLAN_LIMIT' });
    await room.service.message(caller(), { text: 'Yes, buy them' });
    const { notices } = await room.service.status(caller(), {}, new AbortController().signal);
    const { noticeId } = notices.find(({ kind }) => kind === 'message')!;
    await room.service.update(caller(), { ...fourth, noticeId });
    expect((await task()).revision).toBe(5);
  });
});

describe('a command of the user that waits', () => {
  it('is neither overtaken nor replaced by an instruction of the agent', async () => {
    const { room, taskId, say, round, rounds, settled } = await controlled({ first: 'waits' });
    await round(1);
    await say('only the blue one');
    const update = { taskId, expectedRevision: 2, instruction: 'buy', mode: 'when_ready' as const };
    await expect(room.service.update(caller(), update)).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
    (await round(2)).end(done());
    await settled();
    expect(rounds).toHaveLength(2);
  });

  it('is listed when the agent’s run it would have corrected is cancelled, or taken over', async () => {
    const { room, taskId, say, round, events } = await controlled({ first: 'waits' });
    await round(1);
    await say('only the blue one');
    await room.service.cancel(caller(), { taskId, by: 'user' });
    expect((await events('task.command_queue_dropped')).map(({ data }) => data.commands)).toMatchObject([
      [{ text: 'only the blue one' }],
    ]);
  });

  it('holds a paused task against the agent until the user resumes it or gives control away', async () => {
    const { room, taskId, control, round } = await controlled({ first: 'waits' });
    await round(1);
    await control('pause');
    await room.until(taskId, ({ state }) => state === 'waiting_input');
    const update = { taskId, expectedRevision: 1, instruction: 'buy', mode: 'when_ready' as const };
    await expect(room.service.update(caller(), update)).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
    await control('agent');
    expect((await room.service.update(caller(), update)).revision).toBe(2);
  });
});
