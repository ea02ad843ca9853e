/**
 * `thinking.provider`: messages in, text out. Address, key, model and budget are the host's; the plugin sees none of them.
 */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { checked } from './json.ts';
import { ModelRequest } from './model-request.ts';

export const thinkingProvider: Capability<'thinking.provider'> = {
  id: 'thinking.provider',
  create({ ports, cancelled }) {
    const { think } = ports;
    if (!think) return undefined;
    return {
      async provider([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        return JSON.stringify(await think(checked(ModelRequest, text) as never, cancelled));
      },
    };
  },
};
