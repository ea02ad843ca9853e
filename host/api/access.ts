/**
 * Which principal a key speaks for.
 *
 * Threat: keys are guessed and timed. Only SHA-256 digests are kept, every configured digest is compared in constant
 * time, and an unknown key costs what a known one costs.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from './config.ts';
import type { Access, Principal } from './ports.ts';

export interface AccessSource {
  keys(): readonly ApiKey[];
  agents(): readonly string[];
  now(): number;
}

/** Reads the configuration at every call, so that a removed key is refused from its next request on. */
export function createAccess(source: AccessSource): Access {
  const live = (key: ApiKey) => key.expiresAt === undefined || Date.parse(key.expiresAt) > source.now();
  return {
    principalOf(secret) {
      const digest = createHash('sha256').update(secret).digest();
      let found: ApiKey | undefined;
      for (const key of source.keys()) if (timingSafeEqual(digest, Buffer.from(key.sha256, 'hex'))) found = key;
      return found && live(found) ? principal(found) : undefined;
    },
    principalById(keyId) {
      const key = source.keys().find(({ id }) => id === keyId);
      return key && live(key) ? principal(key) : undefined;
    },
    agents: () => source.agents(),
    keyIds: () => source.keys().map(({ id }) => id),
  };
}

function principal(key: ApiKey): Principal {
  return { principalId: `api:${key.id}`, keyId: key.id, agents: key.agents, access: key.access };
}

export function mayUse(principal: Principal, agentId: string, agents: readonly string[]): boolean {
  return agents.includes(agentId) && (principal.agents === '*' || principal.agents.includes(agentId));
}

const ORDER = { read: 0, write: 1, admin: 2 } as const;

export function atLeast(have: keyof typeof ORDER, need: keyof typeof ORDER): boolean {
  return ORDER[have] >= ORDER[need];
}
