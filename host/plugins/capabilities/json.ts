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
