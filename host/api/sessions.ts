/**
 * Sessions: one conversation of one principal with one agent. Membership is ownership: a session belongs to the principal
 * that opened it, whatever right another key has.
 */
import type { Store } from '../../core/store/store.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Principal, Session } from './ports.ts';

/** The session that always exists. */
export const DEFAULT_SESSION = 'default';
/** Sessions that one principal may open with one agent. */
export const MAX_SESSIONS = 1000;
export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

interface SessionRecord {
  conversationId: string;
  createdAt: number;
}

export interface Sessions {
  list(principal: Principal, agentId: string): Session[];
  /** @returns undefined when there is no such session of this principal. */
  find(principal: Principal, agentId: string, sessionId: string): Session | undefined;
  /** Opens a session; a named one that exists is returned as it is. */
  open(principal: Principal, agentId: string, sessionId?: string): Promise<Session>;
}

export function createSessions(store: Store, deps: { now(): number; uuid(): string }): Sessions {
  const table = store.table<SessionRecord>({ name: 'api-sessions', version: 1 });

  const standard = (principal: Principal, agentId: string): Session => ({
    sessionId: DEFAULT_SESSION,
    conversationId: `conversation:${agentId}:${principal.keyId}`,
  });

  const find = (principal: Principal, agentId: string, sessionId: string): Session | undefined => {
    if (sessionId === DEFAULT_SESSION) return standard(principal, agentId);
    if (!SESSION_ID.test(sessionId)) return undefined;
    const record = table.get([principal.principalId, agentId, sessionId]);
    return record && { sessionId, conversationId: record.conversationId };
  };

  return {
    find,
    list: (principal, agentId) => [
      standard(principal, agentId),
      ...[...table.range({ prefix: [principal.principalId, agentId] })].map(({ key, value }) => ({
        sessionId: String(key[2]),
        conversationId: value.conversationId,
      })),
    ],
    async open(principal, agentId, wanted) {
      const sessionId = wanted ?? deps.uuid();
      const existing = find(principal, agentId, sessionId);
      if (existing) return existing;
      const prefix = [principal.principalId, agentId];
      if (table.count(prefix) >= MAX_SESSIONS) refuse('SESSION_LIMIT', { limit: MAX_SESSIONS });
      const key = [...prefix, sessionId];
      const record: SessionRecord = { conversationId: `conversation:${deps.uuid()}`, createdAt: deps.now() };
      // Two callers that name the same new session get the same conversation.
      if (!(await store.commit([table.put(key, record)], [table.unchanged(key, 0)]))) {
        const first = find(principal, agentId, sessionId);
        if (first) return first;
      }
      return { sessionId, conversationId: record.conversationId };
    },
  };
}
