import type { CodeEntry } from '../codes.ts';

export const credentialCodes = {
  CREDENTIAL_UNUSABLE: {
    says: ({ source, problem }) => `The credential from ${source} cannot be used: ${problem}.`,
    next: 'Correct the file, variable or command that the configuration names. `jev-host doctor` checks it.',
    retry: 'safe',
  },
  CREDENTIAL_NOT_STORED: {
    says: ({ path, problem }) => `The key could not be stored in ${path} (${problem}).`,
    next: 'Check that the data directory exists and may be written, then log in again.',
    retry: 'safe',
  },
} as const satisfies Record<string, CodeEntry>;
