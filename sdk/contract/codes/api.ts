import type { CodeEntry } from '../codes.ts';

/** What the surfaces themselves refuse, before any room is asked. */
export const apiCodes = {
  NOT_FOUND: {
    says: 'There is nothing at this address.',
    next: 'Check the path and the method. docs/http-and-mcp.md lists the routes.',
    retry: 'useless',
  },
  METHOD_NOT_ALLOWED: {
    says: 'The address exists, but not for this method.',
    next: 'Check the method. docs/http-and-mcp.md lists the routes.',
    retry: 'useless',
  },
  BODY_TOO_LARGE: {
    says: ({ limit }) => `The body is larger than ${limit} bytes.`,
    next: 'Send less in one call. Nothing was changed.',
    retry: 'useless',
  },
  HOST_NOT_ALLOWED: {
    says: 'The request names a host that is not served here.',
    next: 'Use the address that the host prints, or add the name to gateway.api.allowedHosts.',
    retry: 'useless',
  },
  ORIGIN_NOT_ALLOWED: {
    says: 'A web page of another origin may not call this host.',
    next: 'If the page is yours, add its origin to gateway.api.allowedOrigins.',
    retry: 'useless',
  },
  TOO_MANY_REQUESTS: {
    says: ({ retryAfter }) => `This key has sent too many requests; wait ${retryAfter} s.`,
    next: 'Wait for the named time, then send the call again. Nothing was changed.',
    retry: 'safe',
  },
  TOO_MANY_OPEN: {
    says: ({ limit }) => `This key already has ${limit} calls open.`,
    next: 'Let one of the open calls end, then send this one again. Nothing was changed.',
    retry: 'safe',
  },
  INVALID_PAGE: {
    says: 'limit must be 1 to 100 and offset 0 or more.',
    next: 'Correct the page and ask again.',
    retry: 'useless',
  },
  INVALID_REFRESH: {
    says: 'refresh must be true or false.',
    next: 'Correct the query and ask again.',
    retry: 'useless',
  },
  AGENT_NOT_NAMED: {
    says: 'This key belongs to more than one agent, so the address must name one.',
    next: 'Use /mcp/<agentId>.',
    retry: 'useless',
  },
  SESSION_LIMIT: {
    says: ({ limit }) => `There are already ${limit} sessions of this kind.`,
    next: 'Use one of the sessions that exist.',
    retry: 'useless',
  },
  CAPABILITY_CATALOG_CHANGED: {
    says: 'The list changed while it was read.',
    next: 'Start again at offset 0 without catalog_version.',
    retry: 'safe',
  },
  ORCHESTRATION_DISABLED: {
    says: 'Tasks are switched off for this agent.',
    next: 'Ask the operator to switch on gateway.jev.features.browserTasks and to allow the agent.',
    retry: 'useless',
  },
  DEVICE_NOT_RUNNING: {
    says: 'The host runs no browser device of its own now.',
    next: 'Switch it on under devices.browser, or look into the log if it should be running.',
    retry: 'safe',
  },
  NOT_READY: {
    says: 'The host is starting or stopping.',
    next: 'Wait a moment, then ask again.',
    retry: 'safe',
  },
  INTERNAL: {
    says: 'The host failed in a way that it did not expect.',
    next: 'Read the task before acting again, and report the reference from the log.',
    retry: 'unsafe',
  },
} as const satisfies Record<string, CodeEntry>;
