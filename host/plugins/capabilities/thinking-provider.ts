/**
 * `thinking.provider`: messages in, text out. Address, key, model and budget are the host's; the plugin sees none of them.
 */
import * as v from 'valibot';
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

const MAX_MESSAGES = 64;
const MAX_TOKENS = 32_768;
const MAX_TIMEOUT_MS = 120_000;

const Part = v.variant('type', [
  v.strictObject({ type: v.literal('text'), text: v.string() }),
  v.strictObject({ type: v.literal('image'), mimeType: v.picklist(['image/png', 'image/jpeg']), data: v.string() }),
]);
const Request = v.strictObject({
  messages: v.pipe(
    v.array(
      v.strictObject({
        role: v.picklist(['system', 'user', 'assistant']),
        content: v.union([v.string(), v.array(Part)]),
      }),
    ),
    v.maxLength(MAX_MESSAGES),
  ),
  maxTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TOKENS))),
  timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TIMEOUT_MS))),
});

export const thinkingProvider: Capability<'thinking.provider'> = {
  id: 'thinking.provider',
  create({ ports, cancelled }) {
    const { think } = ports;
    if (!think) return undefined;
    return {
      async provider([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        const request = v.safeParse(Request, parsed(text));
        if (!request.success) {
          refuse('PLUGIN_CALL_INVALID', {
            path: v.getDotPath(request.issues[0]) ?? 'the request',
            problem: request.issues[0].message,
          });
        }
        return JSON.stringify(await think(request.output as never, cancelled));
      },
    };
  },
};
