/** Who sends a request. Identity comes from the bearer alone, never from arguments, headers or the address. */
import type { FastifyRequest } from 'fastify';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import { atLeast, mayUse } from './access.ts';
import type { Access, AccessLevel, Principal } from './ports.ts';
import type { Sessions } from './sessions.ts';
import { TICKET_PREFIX, type TicketHolder, type Tickets } from './tickets.ts';

/** What authentication found: a key's principal, or a ticket's holder. */
export interface Sender {
  principal: Principal;
  ticket?: TicketHolder;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler of a route that needs a key. */
    sender: Sender | undefined;
    /** Came by the local owner's socket and shows no key. */
    fromOwner: boolean;
    /** Aborts when the client went away or the host stops. */
    gone: AbortSignal;
  }
}

/** Longer bearers are not hashed. */
const MAX_BEARER_CHARS = 512;

/** @throws UNAUTHORIZED. */
export function senderOf(header: string | undefined, access: Access, tickets: Tickets): Sender {
  const secret = /^Bearer +([\x21-\x7e]+) *$/i.exec(header ?? '')?.[1];
  if (secret === undefined || secret.length > MAX_BEARER_CHARS) return refuse('UNAUTHORIZED');
  if (secret.startsWith(TICKET_PREFIX)) {
    const ticket = tickets.holderOf(secret);
    return ticket ? { principal: ticket.principal, ticket } : refuse('UNAUTHORIZED');
  }
  const principal = access.authenticate(secret);
  return principal ? { principal } : refuse('UNAUTHORIZED');
}

/** The principal of a request under `/api/v1`. @throws ACCESS_DENIED for a ticket: it opens `/mcp` only. */
export function principalOf(request: FastifyRequest): Principal {
  const { sender } = request;
  if (!sender) return refuse('UNAUTHORIZED');
  if (sender.ticket) return refuse('ACCESS_DENIED');
  return sender.principal;
}

/**
 * The principal, when it has that right over that agent.
 * @throws ACCESS_DENIED, the same for an agent that does not exist.
 */
export function principalFor(request: FastifyRequest, access: Access, agentId: string, need: AccessLevel): Principal {
  const principal = principalOf(request);
  if (!mayUse(principal, agentId, access.agents()) || !atLeast(principal.access, need)) refuse('ACCESS_DENIED');
  return principal;
}

/** The caller of one session. @throws ACCESS_DENIED, the same for a session that does not exist. */
export function callerOf(principal: Principal, sessions: Sessions, agentId: string, sessionId: string): Caller {
  const session = sessions.find(principal, agentId, sessionId);
  if (!session) return refuse('ACCESS_DENIED');
  return {
    principalId: principal.principalId,
    agentId,
    sessionId: session.sessionId,
    conversationId: session.conversationId,
    access: principal.access,
  };
}
