/**
 * `log`: lines in the host's log, marked with the plugin and the run.
 *
 * Threat: a plugin writes what it likes. Control characters are shown as such, so that a line cannot look like another's;
 * the rate is bounded by the broker.
 */
import type { Capability } from './capability.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be shown
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

export const log: Capability<'log'> = {
  id: 'log',
  create({ pluginId, runId }, deps) {
    return {
      write([level, text]) {
        const shown = text.replace(
          CONTROL,
          (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        deps.log({ pluginId, runId, level, text: shown });
        return null;
      },
    };
  },
};
