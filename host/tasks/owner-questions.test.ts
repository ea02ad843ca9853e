import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { isHostError } from '../../sdk/contract/errors.ts';
import { type Controller, caller, createTestRoom, result, settled } from '../../test/tasks/room.ts';
import { toExtensionTask } from '../api/mcp/extension-mapping.ts';

const heard: unknown[] = [];
const asking =
  (kind: 'ask' | 'confirm', text = 'Which colour?'): Controller =>
  async (_input, ports, signal) => {
    heard.length = 0;
    try {
      heard.push(await ports[kind]?.({ text }, signal));
    } catch (error) {
      heard.push(isHostError(error) ? error.code : error);
      throw error;
    }
    return result();
  };

async function asked(kind: 'ask' | 'confirm' = 'ask', store = createMemoryStore()) {
  const room = createTestRoom({ controller: asking(kind), store });
  await room.service.start();
  const { taskId } = await room.spawn();
  const task = await room.until(taskId, ({ pendingQuestion }) => pendingQuestion !== undefined);
  const answer = (text: string, by = caller()) =>
    room.service.answer(by, { taskId, questionId: task.pendingQuestion?.questionId ?? '', answer: text });
  return { room, taskId, task, answer, store };
}

describe('a question of a running controller', () => {
  it('is told while the run waits, and its answer goes to that run, word for word', async () => {
    const { room, taskId, task, answer } = await asked();
    expect(task).toMatchObject({ state: 'running', pendingQuestion: { text: 'Which colour?', revision: 1 } });
    expect(toExtensionTask(task)).toMatchObject({ status: 'input_required' });
    const { notices } = await room.service.status(caller(), { taskId }, AbortSignal.timeout(1000));
    expect(notices).toMatchObject([{ kind: 'question', text: 'Which colour?', code: 'TASK_QUESTION' }]);
    const taken = await answer(' Green, please ');
    expect(taken).toMatchObject({ state: 'running', revision: 1 });
    expect(taken.pendingQuestion).toBeUndefined();
    const done = await room.until(taskId, settled);
    expect(heard).toEqual([' Green, please ']);
    expect([done.pendingQuestion, room.runs.length]).toEqual([undefined, 1]);
    await expect(answer('again')).rejects.toMatchObject({ code: 'QUESTION_NOT_FOUND' });
    await room.service.stop();
  });

  it.each([
    ['yes', true],
    ['ใช่', true],
    ['no', false],
    ['yes, but only if it is free', false],
    ['', false],
  ])('that asks for consent takes a plain yes only: "%s"', async (words, consent) => {
    const { room, taskId, task, answer } = await asked('confirm');
    expect(task.pendingQuestion?.text).toBe('Which colour? (yes or no)');
    await answer(words);
    await room.until(taskId, settled);
    expect(heard).toEqual([consent]);
    await room.service.stop();
  });

  it('is answered by its owner only', async () => {
    const { room, taskId, answer } = await asked();
    const other = caller({ principalId: 'api:b', conversationId: 'conversation:assistant:b' });
    await expect(answer('Green', other)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await answer('Red');
    await room.until(taskId, settled);
    expect(heard).toEqual(['Red']);
    await room.service.stop();
  });

  it.each(['cancel', 'update'] as const)('ends with the run: %s', async (how) => {
    const { room, taskId, answer } = await asked();
    if (how === 'cancel') await room.service.cancel(caller(), { taskId });
    else {
      room.use(async () => result());
      const expectedRevision = room.service.status(caller(), { taskId }, AbortSignal.timeout(1000));
      await room.service.update(caller(), {
        ...{ taskId, instruction: 'Something else', mode: 'interrupt_and_resume' },
        expectedRevision: (await expectedRevision).task?.revision ?? 0,
      });
    }
    const ended = await room.until(taskId, (task) => settled(task) && task.pendingQuestion === undefined);
    expect(heard).toEqual(['RUN_CANCELLED']);
    expect(ended.state === 'cancelled').toBe(how === 'cancel');
    await expect(answer('late')).rejects.toMatchObject({ code: 'QUESTION_NOT_FOUND' });
    await room.service.stop();
  });

  it('after a restart waits for nobody: the run is gone, and the task says so', async () => {
    const { task, taskId, store } = await asked();
    // The first room is dropped as a killed process drops it.
    const next = createTestRoom({ controller: async () => result(), store });
    await next.service.start();
    const found = await next.until(taskId, (now) => now.state !== 'running');
    expect(found.outcome).toBe('interrupted');
    expect(found.pendingQuestion).toBeUndefined();
    await expect(
      next.service.answer(caller(), { taskId, questionId: task.pendingQuestion?.questionId ?? '', answer: 'Green' }),
    ).rejects.toMatchObject({ code: 'QUESTION_NOT_FOUND' });
    await next.service.stop();
  });
});
