/** Checking what callers send: every refusal names the path of what is wrong, and an unknown name by its name. */
import * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';

/** @throws INVALID_INPUT with `path` and `problem`. */
export function checked<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw invalid(parsed.issues[0]);
}

export function invalid(issue: v.BaseIssue<unknown>): HostError {
  const path = (issue.path ?? []).map((item) => String(item.key).slice(0, 100)).join('.');
  return new HostError('INVALID_INPUT', { path: path || undefined, problem: problem(issue) });
}

function problem(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'this argument does not exist here';
  if (issue.received === 'undefined') return 'is missing';
  if (issue.message.startsWith('Invalid ')) {
    // What was received may be long or private; its kind is enough.
    const received = issue.kind === 'schema' ? `, received ${kindOf(issue.input)}` : '';
    return issue.expected ? `expected ${issue.expected}${received}` : issue.message.slice(0, 200);
  }
  return `must be ${issue.message}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const Uuid = v.pipe(v.string(), v.regex(UUID, 'a UUID'));

/** Text without control characters that could act in a terminal or a log. */
export const text = (max: number, min = 1) => v.pipe(v.string(), v.minLength(min), v.maxLength(max));
export const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
