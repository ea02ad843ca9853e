/**
 * The one place that answers: may this principal do this to this target now?
 *
 * Threat: identity in arguments. A caller's principal, agent and conversation come from its key or ticket; a thing that
 * belongs to another agent, principal or conversation answers exactly as one that does not exist.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { AgentConfig } from './config.ts';
import { createFences, type Fences, type Ground } from './fences.ts';

export type Access = 'read' | 'write' | 'admin';
const RANK: Record<Access, number> = { read: 0, write: 1, admin: 2 };

export interface ApiKeyEntry {
  id: string;
  /** Hex SHA-256 of the key. */
  sha256: string;
  agents: readonly string[] | '*';
  access: Access;
  /** ISO time after which the key opens nothing. */
  expiresAt?: string | undefined;
}

export interface Principal {
  principalId: string;
  keyId: string;
  agents: readonly string[] | '*';
  access: Access;
}

/** Whose thing it is. */
export interface Ownership {
  agentId: string;
  principalId: string;
  conversationId: string;
}

export interface AuthorizationConfig {
  keys: readonly ApiKeyEntry[];
  agents: readonly AgentConfig[];
}

/** Who sits at this machine's own socket: every agent, every right, no key. */
export const LOCAL_OWNER: Principal = {
  principalId: 'local:owner',
  keyId: 'local:owner',
  agents: '*',
  access: 'admin',
};

export interface Authorization {
  /** @param secret the bearer as it was sent. */
  authenticate(secret: string): Principal | undefined;
  /** The principal as it is allowed now; undefined once its key is gone or expired. */
  principal(principalId: string): Principal | undefined;
  agent(agentId: string): AgentConfig | undefined;
  /**
   * May this principal do this for this agent, and to this thing, now?
   * @param thing its owner must be the same agent, principal and conversation.
   */
  may(
    who: { principalId: string; agentId: string; conversationId?: string },
    access: Access,
    thing?: Ownership,
  ): boolean;
  /** What running work of this caller stands on. */
  groundsOf(who: { principalId: string; agentId: string }): Ground[];
  fences: Fences;
  /** Takes over a new configuration and withdraws what it no longer gives. */
  reconfigure(config: AuthorizationConfig): void;
}

export function createAuthorization(initial: AuthorizationConfig, clock: { now(): number } = Date): Authorization {
  const fences = createFences();
  let config = initial;

  const live = (key: ApiKeyEntry | undefined): Principal | undefined => {
    if (!key || (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= clock.now())) return undefined;
    return { principalId: `api:${key.id}`, keyId: key.id, agents: key.agents, access: key.access };
  };
  const principal = (principalId: string) =>
    principalId === LOCAL_OWNER.principalId
      ? LOCAL_OWNER
      : live(config.keys.find((key) => `api:${key.id}` === principalId));
  const agent = (agentId: string) => config.agents.find((entry) => entry.id === agentId);

  return {
    fences,
    principal,
    agent,
    authenticate(secret) {
      const digest = createHash('sha256').update(secret).digest();
      // Every key is compared, so that the time says nothing about which one was near.
      let found: ApiKeyEntry | undefined;
      for (const key of config.keys) {
        const stored = Buffer.from(key.sha256, 'hex');
        if (stored.length === digest.length && timingSafeEqual(stored, digest)) found = key;
      }
      return live(found);
    },
    may(who, access, thing) {
      const known = principal(who.principalId);
      if (!known || !agent(who.agentId)) return false;
      if (known.agents !== '*' && !known.agents.includes(who.agentId)) return false;
      if (RANK[known.access] < RANK[access]) return false;
      if (!thing) return true;
      return (
        thing.agentId === who.agentId &&
        thing.principalId === who.principalId &&
        thing.conversationId === who.conversationId
      );
    },
    groundsOf: ({ principalId, agentId }) => [`key:${principalId}`, `agent:${agentId}`],
    reconfigure(next) {
      const before = config;
      config = next;
      for (const key of before.keys) {
        const now = next.keys.find((other) => other.id === key.id);
        if (!now || !sameKey(key, now)) fences.withdraw(`key:api:${key.id}`);
      }
      for (const old of before.agents) {
        const now = next.agents.find((other) => other.id === old.id);
        if (!now || narrowed(old, now)) fences.withdraw(`agent:${old.id}`);
      }
    },
  };
}

function sameKey(a: ApiKeyEntry, b: ApiKeyEntry): boolean {
  return (
    a.sha256 === b.sha256 &&
    a.access === b.access &&
    a.expiresAt === b.expiresAt &&
    JSON.stringify(a.agents) === JSON.stringify(b.agents)
  );
}

function narrowed(before: AgentConfig, now: AgentConfig): boolean {
  const off = (entry: AgentConfig) => [
    entry.allow_tools === false,
    entry.jev?.enabled === false,
    entry.computerUse?.enabled === false,
  ];
  const was = off(before);
  return off(now).some((closed, index) => closed && !was[index]);
}
