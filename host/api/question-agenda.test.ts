import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import type { Caller, Notice, TaskSnapshot } from '../../sdk/contract/task.ts';
import type { StatusReply, TaskService } from '../tasks/service.ts';
import { createQuestionAgenda, type QuestionAgenda } from './question-agenda.ts';

const caller: Caller = {
  principalId: 'api:a',
  agentId: 'assistant',
  sessionId: 'default',
  conversationId: 'c',
  access: 'write',
};
const signal = new AbortController().signal;
const MINUTE = 60_000;

let now: number;
let question: string | undefined;
let notices: Notice[];
let waits: (number | undefined)[];
let agenda: QuestionAgenda;

beforeEach(() => {
  now = 1000;
  question = 'q1';
  notices = [{ noticeId: 'n1', taskId: 't1', kind: 'question', createdAt: 1 }];
  waits = [];
  const status: TaskService['status'] = async (_caller, query): Promise<StatusReply> => {
    waits.push(query.waitMs);
    notices = notices.filter(({ noticeId }) => !query.acknowledge?.includes(noticeId));
    const task = {
      taskId: 't1',
      ...(question && { pendingQuestion: { questionId: question, text: 'Which?', revision: 2 } }),
    } as TaskSnapshot;
    return { tasks: [task], notices };
  };
  agenda = createQuestionAgenda({ store: createMemoryStore(), tasks: { status }, now: () => now });
});

const seen = async () => (await agenda.status(caller, {}, signal)).notices.map(({ noticeId }) => noticeId);
const act = (action: 'ask' | 'discuss' | 'defer' | 'mute' | 'resume', more: { text?: string; delayMs?: number } = {}) =>
  agenda.act(caller, { action, questionIds: ['q1'], ...more }, signal);

describe('the agenda of questions', () => {
  it('leaves notices alone until something is said about a question', async () => {
    expect(await seen()).toEqual(['n1']);
  });

  it('withholds a deferred question, then reminds once until that is acknowledged', async () => {
    expect(await act('defer', { delayMs: MINUTE })).toEqual([
      { questionId: 'q1', taskId: 't1', standing: 'deferred', until: now + MINUTE },
    ]);
    expect(await seen()).toEqual([]);
    now += MINUTE;
    expect(await seen()).toEqual(['reminder:q1']);
    expect(await seen()).toEqual(['reminder:q1']);
    await agenda.status(caller, { acknowledge: ['reminder:q1'] }, signal);
    expect(await seen()).toEqual([]);
  });

  it('wakes a waiting caller when the time of a deferred question has come', async () => {
    await act('defer', { delayMs: MINUTE });
    await agenda.status(caller, { waitMs: 60_000_000 }, signal);
    expect(waits.at(-1)).toBe(MINUTE);
  });

  it('keeps a muted question quiet until it is resumed', async () => {
    await act('mute');
    now += 100 * MINUTE;
    expect(await seen()).toEqual([]);
    await act('resume');
    expect(await seen()).toEqual(['reminder:q1']);
  });

  it('keeps what was said and forgets it when the question is gone', async () => {
    await act('ask', { text: 'Red or blue?' });
    expect(await act('discuss', { text: 'Is red cheaper?' })).toEqual([
      { questionId: 'q1', taskId: 't1', standing: 'discussed', note: 'Red or blue?\nIs red cheaper?' },
    ]);
    question = undefined;
    await seen();
    question = 'q1';
    expect(await act('ask')).toEqual([{ questionId: 'q1', taskId: 't1', standing: 'asked' }]);
  });

  it('changes nothing when one of the questions is not pending here', async () => {
    const request = { action: 'mute' as const, questionIds: ['q1', 'other'] };
    await expect(agenda.act(caller, request, signal)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    expect(await seen()).toEqual(['n1']);
  });
});
