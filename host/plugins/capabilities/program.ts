/**
 * `program`: what the runner of one program may do for it.
 *
 * Threat: the runner holds a hostile program, and may itself have been taken over. The port behind this knows the one
 * program that was started, the exact references it was granted and its limits, and checks each call against them.
 */

import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { anyJson, parsed } from './json.ts';

export const program: Capability<'program'> = {
  id: 'program',
  create({ ports: { program: port }, ended }) {
    if (!port) return undefined;
    return {
      call: async ([ref, args]) => JSON.stringify((await port.call(ref, anyJson(args), ended)) ?? null),
      report([text]) {
        port.report(parsed(text));
        return null;
      },
      async observe() {
        if (!port.observe) refuse('CAPABILITY_DENIED', { capability: 'program.observe' });
        return JSON.stringify(await port.observe(ended));
      },
      async advise([text]) {
        if (!port.advise) refuse('CAPABILITY_DENIED', { capability: 'program.advise' });
        return JSON.stringify(await port.advise(parsed(text), ended));
      },
    };
  },
};
