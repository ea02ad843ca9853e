/** `image`: scale, crop, mark, mask. The port decodes and checks; this host has none, so a plugin that is granted it is refused at its start. */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { answered, atMost, parsed } from './json.ts';

/** Pictures that one run may have under way. */
const MAX_AT_ONCE = 2;

export const image: Capability<'image'> = {
  id: 'image',
  create({ ports: { image: transform }, cancelled }) {
    if (!transform) return undefined;
    const inTurn = atMost(MAX_AT_ONCE);
    return {
      async transform([operation, bytes]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        const { info, data } = await inTurn(() => transform(parsed(operation), bytes, cancelled));
        return { info: answered('image.transform', info), data };
      },
    };
  },
};
