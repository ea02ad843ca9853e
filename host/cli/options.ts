/** Options of commands: `--name value`, `--name=value` and bare `--flag`; anything unknown is an error that names it. */
import { parseArgs } from 'node:util';
import { UsageError } from './command.ts';

export type OptionKinds = Record<string, 'text' | 'flag' | 'list'>;

export type Options<K extends OptionKinds> = {
  [Name in keyof K]: K[Name] extends 'flag' ? boolean : K[Name] extends 'list' ? string[] : string | undefined;
};

export interface Parsed<K extends OptionKinds> {
  options: Options<K>;
  positionals: string[];
  /** What follows a bare `--`, untouched. */
  rest: string[];
}

/**
 * @param kinds which options exist. A `list` may be given more than once.
 * @throws UsageError for an unknown option, a missing value, or a value where none belongs.
 */
export function parseOptions<const K extends OptionKinds>(args: string[], kinds: K): Parsed<K> {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const rest = end < 0 ? [] : args.slice(end + 1);
  try {
    const parsed = parseArgs({
      args: own,
      allowPositionals: true,
      strict: true,
      options: Object.fromEntries(
        Object.entries(kinds).map(([name, kind]) => [
          name,
          kind === 'flag' ? { type: 'boolean' as const } : { type: 'string' as const, multiple: kind === 'list' },
        ]),
      ),
    });
    const values: Record<string, unknown> = {};
    for (const [name, kind] of Object.entries(kinds)) {
      values[name] = parsed.values[name] ?? (kind === 'flag' ? false : kind === 'list' ? [] : undefined);
    }
    return { options: values as Options<K>, positionals: parsed.positionals, rest };
  } catch (error) {
    const sentence = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new UsageError(`${sentence}.`);
  }
}

/** @throws UsageError naming the option that is missing. */
export function needed(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${option} is needed.`);
  return value;
}
