/** `speech`: audio to words and back. This host has no voice, so a plugin that is granted it is refused at its start. */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { answered, atMost, parsed } from './json.ts';

/** Pieces of audio that one run may have under way. */
const MAX_AT_ONCE = 2;

export const speech: Capability<'speech'> = {
  id: 'speech',
  create({ ports: { transcribe, speak }, cancelled }) {
    if (!transcribe && !speak) return undefined;
    const inTurn = atMost(MAX_AT_ONCE);
    return {
      async transcribe([options, audio]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        if (!transcribe) refuse('CAPABILITY_DENIED', { capability: 'speech' });
        return answered('speech.transcribe', await inTurn(() => transcribe(parsed(options), audio, cancelled)));
      },
      async speak([options]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        if (!speak) refuse('CAPABILITY_DENIED', { capability: 'speech' });
        return inTurn(() => speak(parsed(options), cancelled));
      },
    };
  },
};
