/** `thinking.assist`: a field's text, an address, a verification or an action, from the host's Thinking. */
import * as v from 'valibot';
import { refuse } from '../../../sdk/contract/errors.ts';
import { ThinkingRequest } from '../../../sdk/contract/thinking.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

export const thinkingAssist: Capability<'thinking.assist'> = {
  id: 'thinking.assist',
  create({ ports, cancelled }) {
    const { assist } = ports;
    if (!assist) return undefined;
    return {
      async assist([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        const request = v.safeParse(ThinkingRequest, parsed(text));
        if (!request.success) {
          refuse('PLUGIN_CALL_INVALID', {
            path: v.getDotPath(request.issues[0]) ?? 'the request',
            problem: request.issues[0].message,
          });
        }
        return JSON.stringify(await assist(request.output as ThinkingRequest, cancelled));
      },
    };
  },
};
