/**
 * `jev.evaluate`: one request to the evaluation service, in the task's name.
 *
 * Threat: a plugin could ask on after its task was cancelled, and so spend. A cancelled run's requests are aborted and new
 * ones refused. The request's text is parsed here and validated by the service; the plugin never names a caller.
 */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

export const jevEvaluate: Capability<'jev.evaluate'> = {
  id: 'jev.evaluate',
  create({ ports, cancelled }) {
    const { evaluate } = ports;
    if (!evaluate) return undefined;
    return {
      async evaluate([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        return JSON.stringify(await evaluate(parsed(text) as never, cancelled));
      },
    };
  },
};
