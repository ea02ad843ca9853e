/** From text to a checked configuration. */
import * as v from 'valibot';
import { crossChecks } from './cross-checks.ts';
import { type ConfigProblem, InvalidConfig, problemsOf } from './problems.ts';
import { HostConfig } from './schema.ts';

/** Characters of a configuration file. */
export const MAX_CONFIG_CHARS = 4 * 1024 * 1024;

/** @throws InvalidConfig with every problem that was found. */
export function parseConfig(text: string): HostConfig {
  if (text.length > MAX_CONFIG_CHARS)
    throw new InvalidConfig([{ path: '', says: `is longer than ${MAX_CONFIG_CHARS}` }]);
  return checkConfig(parseJson(text));
}

/** @throws InvalidConfig with every problem that was found. */
export function checkConfig(value: unknown): HostConfig {
  const parsed = v.safeParse(HostConfig, value);
  const problems: ConfigProblem[] = parsed.success ? [] : problemsOf(HostConfig, parsed.issues);
  // Some rules span sections; they are checked on what is readable, so that one run names everything.
  if (parsed.success) problems.push(...crossChecks(parsed.output));
  if (!parsed.success || problems.length > 0) throw new InvalidConfig(problems);
  return parsed.output;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new InvalidConfig([{ path: '', says: `is not JSON: ${whereJsonFails(text, error)}` }]);
  }
}

/** Node names the place in different ways from version to version; a line and a column help a person. */
function whereJsonFails(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined) return message.split('\n')[0]?.slice(0, 200) ?? message;
  const before = text.slice(0, Number(position));
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  // The rest of Node's sentence quotes the file.
  return `${message.split(/ in JSON| at position|,/)[0]?.slice(0, 80)} (line ${line}, column ${column})`;
}
