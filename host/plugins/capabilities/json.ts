import * as v from 'valibot';
import { MAX_MESSAGE_CHARS } from '../../../sdk/contract/capabilities.ts';
import { refuse } from '../../../sdk/contract/errors.ts';

/** A plugin's JSON text as an object. What it must hold is checked by whoever uses it. */
export function parsed(text: string): Record<string, unknown> {
  const value = anyJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse('PLUGIN_CALL_INVALID', { path: 'the argument', problem: 'it is not an object' });
  }
  return value as Record<string, unknown>;
}

/** A plugin's JSON text, whatever it holds. */
export function anyJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse('PLUGIN_CALL_INVALID', { path: 'the argument', problem: 'it is not JSON' });
  }
}

/** A plugin's JSON text as what the schema says. */
export function checked<T>(schema: v.GenericSchema<unknown, T>, text: string): T {
  const result = v.safeParse(schema, parsed(text));
  if (result.success) return result.output;
  const [issue] = result.issues;
  return refuse('PLUGIN_CALL_INVALID', { path: v.getDotPath(issue) ?? 'the request', problem: issue.message });
}

/** An answer as JSON text, within what one message may carry. */
export function answered(call: string, value: unknown): string {
  const text = JSON.stringify(value ?? null);
  if (text.length > MAX_MESSAGE_CHARS)
    refuse('PLUGIN_CALL_INVALID', {
      path: call,
      problem: `its answer has ${text.length} characters; ${MAX_MESSAGE_CHARS} is the limit`,
    });
  return text;
}

/** Lets only so many calls of one run be on their way. */
export function atMost(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let inFlight = 0;
  return async (work) => {
    if (inFlight >= limit) refuse('PLUGIN_TOO_MANY_CALLS', { limit });
    inFlight += 1;
    try {
      return await work();
    } finally {
      inFlight -= 1;
    }
  };
}
