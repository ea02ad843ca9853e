/** What programs hear of their caller's conversation, and where their advice goes. */
import type { DependencyContainer } from 'tsyringe';
import type { Caller } from '../../sdk/contract/task.ts';
import type { RunAuthority } from '../plugins/ports.ts';
import type { Conversations } from '../programs/conversation-ears.ts';
import { ADVICE_CODE, hear, newConversation } from '../programs/conversation-events.ts';
import { TASKS } from '../tokens.ts';

/** Conversations whose last advised input is remembered. */
const MAX_REMEMBERED = 10_000;

export function programConversations(from: DependencyContainer): Conversations {
  const claimed = new Map<string, string>();
  const callerOf = ({ principalId, agentId, conversationId }: RunAuthority): Caller => ({
    principalId,
    agentId,
    conversationId,
    sessionId: 'default',
    access: 'read',
  });

  return {
    async *listen(authority, signal) {
      const since = Date.now();
      // One stream per conversation would number its events alike for every listener; ids need that, so the epoch is the
      // conversation's own.
      const state = newConversation(authority.conversationId.slice(-12), authority.conversationId);
      for await (const news of from.resolve(TASKS).events(callerOf(authority), 0, signal)) {
        const heard = hear(state, news);
        if (news.at < since) continue;
        if (heard === 'halted') return;
        yield* heard;
      }
    },
    async deliver(authority, { text }) {
      await from.resolve(TASKS).notify(authority, { text: `A program of yours advises: ${text}`, code: ADVICE_CODE });
      return true;
    },
    claim({ conversationId }, inputId) {
      if (claimed.get(conversationId) === inputId) return false;
      claimed.delete(conversationId);
      claimed.set(conversationId, inputId);
      const [oldest] = claimed.keys();
      if (claimed.size > MAX_REMEMBERED && oldest !== undefined) claimed.delete(oldest);
      return true;
    },
  };
}
