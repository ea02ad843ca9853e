import type { CodeEntry } from '../codes.ts';

export const authorizationCodes = {
  UNAUTHORIZED: {
    says: 'The key is missing or not known here.',
    next: 'Send a valid key as a bearer token. `jev-host key create` makes one.',
    retry: 'useless',
  },
  ACCESS_DENIED: {
    says: 'This caller may not do that, or the thing does not exist for it.',
    next: 'Use a key with the right for this agent, or ask the operator for it.',
    retry: 'useless',
  },
  EXECUTION_DENIED: {
    says: 'This caller may not run actions on that task.',
    next: 'Ask the operator for write access, or use the key that owns the task.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
