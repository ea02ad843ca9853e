import type { CodeDetails, CodeEntry } from '../codes.ts';

/** Programs are written by models: each refusal says in full what was wrong, so the sentence arrives with the details. */
const said = ({ message }: CodeDetails): string => String(message ?? 'The program was refused.');

export const programCodes = {
  PROGRAM_INVALID: {
    says: said,
    next: 'Correct the program, its schemas or its input and launch it again. Nothing was started.',
    retry: 'useless',
  },
  PROGRAM_TYPECHECK_FAILED: {
    says: said,
    next: 'Correct the named lines. `jev-host program check` shows the same list.',
    retry: 'useless',
  },
  PROGRAM_CAPABILITY_DENIED: {
    says: said,
    next: 'Name only references that the caller may use itself, or ask the operator for them.',
    retry: 'useless',
  },
  PROGRAM_CAPABILITIES_CHANGED: {
    says: said,
    next: 'Launch the program again; it is checked against what the caller may use now.',
    retry: 'safe',
  },
  PROGRAM_LIMIT_REACHED: {
    says: said,
    next: 'Wait for a running program to end, or stop one.',
    retry: 'safe',
  },
  PROGRAM_UNKNOWN_RUN: {
    says: said,
    next: 'List the runs with `jev_status`. Old runs are forgotten after a while.',
    retry: 'useless',
  },
  PROGRAM_CANCELLED: {
    says: said,
    next: 'Read the run with `jev_status`. Effects that were already sent stay as they are.',
    retry: 'unsafe',
  },
  PROGRAM_CLOSED: {
    says: said,
    next: 'Launch the program again once the plugin serves.',
    retry: 'safe',
  },
  PROGRAM_CALL_FAILED: {
    says: said,
    next: 'Read what the named tool reports before calling it again.',
    retry: 'unsafe',
  },
} as const satisfies Record<string, CodeEntry>;
