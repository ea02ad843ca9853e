/** Messages for a model, as `thinking.provider` and `model.messages` take them. */
import * as v from 'valibot';

const MAX_MESSAGES = 64;
const MAX_TOKENS = 32_768;
const MAX_TIMEOUT_MS = 120_000;

const Part = v.variant('type', [
  v.strictObject({ type: v.literal('text'), text: v.string() }),
  v.strictObject({ type: v.literal('image'), mimeType: v.picklist(['image/png', 'image/jpeg']), data: v.string() }),
]);

export const ModelRequest = v.strictObject({
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
