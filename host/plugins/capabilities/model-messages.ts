/**
 * `model.messages`: the operator's own model (`gateway.jev.thinking`), for any plugin that was granted it.
 *
 * Threat: a model call costs money and can wait long. A run has few of them under way, as many altogether as the operator
 * allows a run (behind the port), and none after its cancellation. The plugin names neither address, key nor model.
 */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { answered, atMost, checked } from './json.ts';
import { ModelRequest } from './model-request.ts';

/** Model calls that one run may have under way. */
const MAX_AT_ONCE = 2;

export const modelMessages: Capability<'model.messages'> = {
  id: 'model.messages',
  create({ ports: { model }, cancelled }) {
    if (!model) return undefined;
    const inTurn = atMost(MAX_AT_ONCE);
    return {
      async messages([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        const request = checked(ModelRequest, text);
        return answered('model.messages', await inTurn(() => model(request as never, cancelled)));
      },
    };
  },
};
