/** Small questions about what a principal may do. */
import type { Access, AccessLevel, Principal } from './ports.ts';

export function mayUse(principal: Principal, agentId: string, agents: readonly string[]): boolean {
  return agents.includes(agentId) && (principal.agents === '*' || principal.agents.includes(agentId));
}

const ORDER: Record<AccessLevel, number> = { read: 0, write: 1, admin: 2 };

export function atLeast(have: AccessLevel, need: AccessLevel): boolean {
  return ORDER[have] >= ORDER[need];
}

/** Whether the principal still has that right over that agent: asked again while a call is on its way. */
export function stillMay(access: Access, principalId: string, agentId: string, need: AccessLevel): boolean {
  const principal = access.principal(principalId);
  return principal !== undefined && mayUse(principal, agentId, access.agents()) && atLeast(principal.access, need);
}
