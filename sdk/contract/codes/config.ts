import type { CodeEntry } from '../codes.ts';

export const configCodes = {
  INVALID_CONFIG: {
    says: ({ path, problem }) =>
      `The configuration is not valid${path ? ` at ${path}` : ''}${problem ? `: ${problem}` : '.'}`,
    next: 'Correct the named entry. `jev-host config check` lists every problem, `config schema` the allowed keys.',
    retry: 'useless',
  },
  INVALID_INPUT: {
    says: ({ path, problem }) => `The input is not valid${path ? ` at ${path}` : ''}${problem ? `: ${problem}` : '.'}`,
    next: 'Correct the named argument and send the call again. Nothing was changed.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
