import type { CodeEntry } from '../codes.ts';

export const cliCodes = {
  HOST_ANSWER_INVALID: {
    says: 'The host’s answer cannot be read.',
    next: 'Check that the address belongs to a jev-host of this version.',
    retry: 'safe',
  },
  HOST_NOT_RUNNING: {
    says: ({ directory }) => `No host answers${directory ? ` for ${directory}` : ' there'}.`,
    next: 'Start it with `jev-host serve`, or name a running one with --url and --key-file.',
    retry: 'safe',
  },
  HOST_REFUSED: {
    says: ({ status, code, message }) => `The host refused${message ? `: ${message}` : ''} (${code}, ${status}).`,
    next: 'docs/errors.md says what the code means and what is safe to do.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
