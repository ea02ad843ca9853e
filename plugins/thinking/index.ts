/**
 * Thinking: what a typed decision cannot give. The value of a field, the address of a named site, a second look at a
 * claim of completion, one action on a screenshot.
 *
 * It serves the host, not agents: `assist` is not listed among the plugin's tools. It keeps nothing between calls, and it
 * sees neither the model's address nor its key.
 */
import * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';
import { type ThinkingReply, ThinkingRequest } from '../../sdk/contract/thinking.ts';
import { defineHelper } from '../../sdk/plugin/define.ts';
import { chooseAction } from './action.ts';
import { findAddress } from './address.ts';
import type { Ask } from './ask.ts';
import { writeFieldText } from './field-text.ts';
import manifest from './plugin.json' with { type: 'json' };
import { verifyCompletion } from './verify.ts';

export default defineHelper(manifest, {
  tools: {
    async assist(given, ctx): Promise<ThinkingReply> {
      const parsed = v.safeParse(ThinkingRequest, given);
      if (!parsed.success) throw new HostError('INVALID_INPUT', { path: v.getDotPath(parsed.issues[0]) ?? '' });
      const ask: Ask = async (messages) => (await ctx.thinking.provider({ messages })).text;
      try {
        return await answer(parsed.output, ask);
      } catch (error) {
        // Errors lose their kind at the sandbox's border; a failure is therefore an answer that names itself.
        return { failure: failureOf(error) };
      }
    },
  },
});

function answer(request: ThinkingRequest, ask: Ask): Promise<ThinkingReply> {
  switch (request.kind) {
    case 'field_text':
      return writeFieldText(request, ask);
    case 'address':
      return findAddress(request, ask);
    case 'verify':
      return verifyCompletion(request, ask);
    case 'action':
      return chooseAction(request, ask);
  }
}

function failureOf(error: unknown): Record<string, unknown> {
  const { code, details } = error as { code?: unknown; details?: unknown };
  return {
    code: typeof code === 'string' ? code : 'ADAPTER_FAILURE',
    ...(typeof details === 'object' && details !== null ? { details: { ...details } } : {}),
  };
}
