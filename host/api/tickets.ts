/**
 * Tickets: short-lived bearers for `/mcp`, bound to one session.
 *
 * Threat: a ticket is handed to a process that we do not trust with a key. It never carries admin rights, opens nothing
 * but the MCP endpoint, dies with the key that it came from, and is kept only as a digest.
 */
import { createHash } from 'node:crypto';
import { mayUse } from './access.ts';
import type { Access, AccessLevel, Principal } from './ports.ts';

/** Milliseconds that a ticket lives. */
export const TICKET_MS = 60 * 60 * 1000;
/** Tickets that live at once; the oldest goes first. */
export const MAX_TICKETS = 10_000;

/** Tells a ticket from a key before anything is looked up. */
export const TICKET_PREFIX = 'jt_';

interface Ticket {
  principalId: string;
  agentId: string;
  sessionId: string;
  access: AccessLevel;
  expiresAt: number;
}

export interface TicketHolder {
  principal: Principal;
  agentId: string;
  sessionId: string;
}

export interface Tickets {
  issue(principal: Principal, agentId: string, sessionId: string): { ticket: string; expiresAt: number };
  /** @returns undefined for a ticket that is unknown, expired, or whose key lost its right. */
  holderOf(ticket: string): TicketHolder | undefined;
}

export function createTickets(
  access: Access,
  deps: { now(): number; randomBytes(count: number): Uint8Array },
): Tickets {
  const tickets = new Map<string, Ticket>();
  const digest = (ticket: string) => createHash('sha256').update(ticket).digest('base64');

  const drop = (now: number) => {
    for (const [key, { expiresAt }] of tickets) if (expiresAt <= now) tickets.delete(key);
    for (const key of tickets.keys()) if (tickets.size >= MAX_TICKETS) tickets.delete(key);
  };

  return {
    issue(principal, agentId, sessionId) {
      const now = deps.now();
      if (tickets.size >= MAX_TICKETS) drop(now);
      const ticket = `${TICKET_PREFIX}${Buffer.from(deps.randomBytes(32)).toString('base64url')}`;
      const expiresAt = now + TICKET_MS;
      tickets.set(digest(ticket), {
        principalId: principal.principalId,
        agentId,
        sessionId,
        access: principal.access === 'read' ? 'read' : 'write',
        expiresAt,
      });
      return { ticket, expiresAt };
    },
    holderOf(text) {
      const key = digest(text);
      const ticket = tickets.get(key);
      if (!ticket) return undefined;
      if (ticket.expiresAt <= deps.now()) {
        tickets.delete(key);
        return undefined;
      }
      const principal = access.principal(ticket.principalId);
      if (!principal || !mayUse(principal, ticket.agentId, access.agents())) return undefined;
      const level = principal.access === 'read' ? 'read' : ticket.access;
      return {
        principal: { ...principal, agents: [ticket.agentId], access: level },
        agentId: ticket.agentId,
        sessionId: ticket.sessionId,
      };
    },
  };
}
