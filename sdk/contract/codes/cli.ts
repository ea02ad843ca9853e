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
  RECORDING_NOT_FOUND: {
    says: ({ run }) => `There is no recording of ${run}.`,
    next: 'Set `plugins.<id>.record` before the run, and name the file or the attempt’s id from `jev-host receipts show`.',
    retry: 'useless',
  },
  RECORDING_INVALID: {
    says: ({ problem }) => `The recording cannot be read: ${problem}`,
    next: 'Use the file as the host wrote it, with a jev-host of the version that wrote it.',
    retry: 'useless',
  },
  REPLAY_PLUGIN_UNKNOWN: {
    says: ({ plugin }) => `The recording is of the plugin "${plugin}", which is not known here.`,
    next: 'Name its folder with --plugin DIR, or a configuration that has it with --config FILE.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
