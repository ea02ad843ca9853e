/**
 * Reads one reply of a Remote Browser tool (wire-contracts 1.1 and 1.3): what was answered, and what is known of the page.
 *
 * Threat: the reply comes from another process or machine. Anything that is not exactly the contract's shape counts as
 * "not known", never as success.
 */
import * as v from 'valibot';
import type { ToolReply } from '../contract/capabilities.ts';
import { MAX_REPLY_CHARS } from './remote-browser-contract.ts';

export const CODE = /^[A-Z][A-Z_0-9]{2,80}$/;

export type ReplyReading =
  | { kind: 'value'; value: Record<string, unknown> }
  /** A structured refusal. `executed` is false only if the device says so in exactly that word. */
  | { kind: 'refused'; code: string; cause?: string; executed: boolean }
  /** Not a reply of this contract. */
  | { kind: 'invalid'; code: 'INVALID_BROWSER_RESPONSE' | 'BROWSER_TOOL_FAILURE' };

const OneText = v.object({
  content: v.tuple([v.object({ type: v.literal('text'), text: v.pipe(v.string(), v.maxLength(MAX_REPLY_CHARS)) })]),
  isError: v.optional(v.boolean()),
});

export function readReply(reply: ToolReply): ReplyReading {
  const checked = v.safeParse(OneText, reply);
  if (!checked.success || checked.output.content.length !== reply.content.length) return invalid();
  const value = parseObject(checked.output.content[0].text);
  if (!value) return invalid();
  if ('error' in value) {
    const cause = codeOf(value.cause);
    return {
      kind: 'refused',
      code: codeOf(value.error) ?? 'ADAPTER_FAILURE',
      executed: value.action_executed !== false,
      ...(cause === undefined ? {} : { cause }),
    };
  }
  if (checked.output.isError) return { kind: 'invalid', code: 'BROWSER_TOOL_FAILURE' };
  if ('access' in value) return { kind: 'refused', code: 'CONSENT_REQUIRED', executed: false };
  if (value.replayed || value.state === 'unknown') return { kind: 'refused', code: 'OUTCOME_UNKNOWN', executed: true };
  return { kind: 'value', value };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' && CODE.test(value) ? value : undefined;
}

const invalid = (): ReplyReading => ({ kind: 'invalid', code: 'INVALID_BROWSER_RESPONSE' });
