/** Every problem of a configuration, each with the path of what is wrong and the way out. */
import type * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';
import { closest, keysAt } from './known-keys.ts';

export interface ConfigProblem {
  /** Such as `gateway.api.keys[0].sha256`; empty for the file as a whole. */
  path: string;
  says: string;
}

/** Problems that are listed; a file with more is wrong in kind, not in detail. */
const MAX_PROBLEMS = 50;

/** INVALID_CONFIG with the whole list; the message names the first problem. */
export class InvalidConfig extends HostError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const first = problems[0] ?? { path: '', says: 'unknown problem' };
    super('INVALID_CONFIG', { path: first.path, problem: first.says, problems: problems.length });
    this.problems = problems;
  }
}

export function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part.slice(0, 100))}]`;
  }
  return text;
}

export function problemsOf(schema: v.GenericSchema, issues: readonly v.BaseIssue<unknown>[]): ConfigProblem[] {
  return issues.slice(0, MAX_PROBLEMS).map((issue) => problemOf(schema, deepest(issue)));
}

/** A union fails with the issues of all its options; what matters is the option that got furthest. */
function deepest(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  const inner = issue.issues ?? [];
  let found = issue;
  for (const candidate of inner.map(deepest))
    if ((candidate.path?.length ?? 0) > (found.path?.length ?? 0)) found = candidate;
  return found;
}

function problemOf(schema: v.GenericSchema, issue: v.BaseIssue<unknown>): ConfigProblem {
  const path = (issue.path ?? []).map((item) => item.key as string | number);
  const shown = pathText(path);
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const wrong = String(path.at(-1));
    const known = keysAt(schema, path.slice(0, -1));
    const meant = closest(wrong, known);
    return {
      path: shown,
      says: meant
        ? `there is no such key; did you mean "${meant}"?`
        : `there is no such key. Known: ${known.join(', ')}`,
    };
  }
  if (issue.received === 'undefined') return { path: shown, says: 'is missing' };
  return { path: shown, says: describe(issue) };
}

function describe(issue: v.BaseIssue<unknown>): string {
  // Valibot's own sentences begin with "Invalid"; ours say what belongs there.
  if (!issue.message.startsWith('Invalid ')) return `must be ${issue.message}`;
  const expected = issue.expected ? `expected ${issue.expected}` : issue.message;
  return `${expected}, found ${issue.received.slice(0, 100)}`;
}
