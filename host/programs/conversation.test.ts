import { describe, expect, it } from 'vitest';
import { type ConversationEvent, type Conversations, openEars } from './conversation-ears.ts';
import { ADVICE_CODE, hear, newConversation, type TaskNews } from './conversation-events.ts';

const caller = { principalId: 'p', agentId: 'a', conversationId: 'c' };

function notice(kind: string, text: string, code?: string): TaskNews {
  return {
    id: 1,
    type: 'task.notice',
    at: 5,
    data: { notice: { noticeId: 'n', kind, text, createdAt: 5, ...(code ? { code } : {}) } },
  };
}
function task(state: string, more: Record<string, unknown> = {}): TaskNews {
  return { id: 2, type: 'task.state', at: 6, data: { task: { state, ...more } } };
}
const kinds = (heard: ReturnType<typeof hear>) => (heard === 'halted' ? heard : heard.map((one) => one.event));

describe('a conversation as programs hear it', () => {
  it('tells what a person said and how tasks end', () => {
    const state = newConversation('x', 'c');
    expect(hear(state, notice('message', 'please stop at page two'))).toMatchObject([
      { id: 'x:1', event: 'input', sessionId: 'c', revision: 1, payload: { inputText: 'please stop at page two' } },
    ]);
    expect(kinds(hear(state, task('running')))).toEqual([]);
    expect(kinds(hear(state, task('waiting_input')))).toEqual(['turn_end']);
    expect(kinds(hear(state, task('needs_reconciliation', { outcome: 'unknown' })))).toEqual([
      'turn_end',
      'tool_error',
    ]);
    expect(kinds(hear(state, task('failed', { failure: { code: 'X', message: 'broke' } })))).toEqual([
      'turn_end',
      'tool_error',
      'agent_settled',
    ]);
    expect(kinds(hear(state, task('completed')))).toEqual(['turn_end', 'agent_settled']);
    expect(hear(state, notice('settled', 'Done.'))).toMatchObject([
      { event: 'agent_end', payload: { assistantText: 'Done.' }, feedback: false },
    ]);
  });

  it('is halted when the person cancels, not when the agent does', () => {
    const state = newConversation('x', 'c');
    expect(hear(state, task('cancelled', { cancellation: { requestedBy: 'agent' } }))).not.toBe('halted');
    expect(hear(state, task('cancelled', { cancellation: { requestedBy: 'user' } }))).toBe('halted');
  });

  it('does not tell of advice, and marks what follows it until a person speaks', () => {
    const state = newConversation('x', 'c');
    expect(hear(state, notice('message', 'advice', ADVICE_CODE))).toEqual([]);
    expect(hear(state, task('completed'))).toMatchObject([{ feedback: true }, { feedback: true }]);
    hear(state, notice('message', 'go on'));
    expect(hear(state, task('completed'))).toMatchObject([{ feedback: false }, { feedback: false }]);
  });

  it('passes over what it does not know', () => {
    const state = newConversation('x', 'c');
    for (const data of [{}, { notice: {} }, { task: undefined }])
      expect(hear(state, { id: 1, type: 'task.notice', at: 1, data })).toEqual([]);
    expect(hear(state, { id: 1, type: 'task.progress', at: 1, data: {} })).toEqual([]);
  });
});

describe('ears', () => {
  const event = (id: string, inputId: string, more: Partial<ConversationEvent> = {}): ConversationEvent => ({
    id,
    sequence: 1,
    event: 'turn_end',
    sessionId: 'c',
    revision: 1,
    at: 1,
    payload: { inputText: 'asked', assistantText: 'private', toolResults: 'secret' },
    inputId,
    feedback: false,
    ...more,
  });
  const observe = {
    events: ['turn_end'],
    include: ['inputText'],
    maxChars: 256,
    queueSize: 8,
    maxEventAgeMs: 1000,
    delivery: 'followUp' as const,
    triggerTurn: false,
    maxAdvice: 4,
  };

  function world(events: ConversationEvent[]) {
    const delivered: string[] = [];
    const claimed = new Set<string>();
    const conversations: Conversations = {
      async *listen() {
        yield* events;
      },
      deliver: async (_caller, { text }) => delivered.push(text) > 0,
      claim: (_caller, inputId) => !claimed.has(inputId) && claimed.add(inputId).size > 0,
    };
    return { conversations, delivered };
  }

  it('let no text out that was not asked for', async () => {
    const { conversations } = world([event('1', 'i', { event: 'input' }), event('2', 'i')]);
    const heard = await openEars(observe, caller, conversations).next();
    expect(heard).toMatchObject({ id: '2', payload: { inputText: 'asked' } });
    expect(JSON.stringify(heard)).not.toMatch(/private|secret|inputId/);
  });

  it('take one piece of advice for one word of the person, whoever observes', async () => {
    const { conversations, delivered } = world([event('1', 'i')]);
    const [first, second] = [openEars(observe, caller, conversations), openEars(observe, caller, conversations)];
    await Promise.all([first.next(), second.next()]);
    expect(await first.advise({ eventId: '1', message: 'look <b>here</b> & there' })).toEqual({ delivered: true });
    expect(await second.advise({ eventId: '1', message: 'no, there' })).toEqual({
      delivered: false,
      reason: 'duplicate',
    });
    expect(delivered).toEqual(['look &lt;b&gt;here&lt;/b&gt; &amp; there']);
  });

  it('know only events that they told', async () => {
    const { conversations } = world([event('1', 'i')]);
    const own = openEars(observe, caller, conversations);
    expect(await own.advise({ eventId: '1', message: 'x' })).toEqual({ delivered: false, reason: 'stale' });
  });

  it('end when the conversation is halted', async () => {
    const { conversations } = world([]);
    await expect(openEars(observe, caller, conversations).next()).rejects.toThrow('The conversation was halted');
  });
});
