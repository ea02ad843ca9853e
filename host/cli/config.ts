/** `jev-host config`: is a file valid, and which keys are there. */
import { readConfig } from '../config/config-file.ts';
import { InvalidConfig } from '../config/problems.ts';
import { configJsonSchema } from '../config/reference.ts';
import { type Command, type CommandIo, print, say, UsageError } from './command.ts';
import { needed, parseOptions } from './options.ts';

export const command: Command = {
  name: 'config',
  summary: 'Checks a configuration file, or prints its schema.',
  usage: [
    'Usage: jev-host config check --config FILE [--json]',
    '       jev-host config schema',
    '',
    'check    Reads the file and lists every problem with its path. Exits with 1 when there is one.',
    '         --json prints { "valid": …, "problems": [{ "path", "says" }] }.',
    'schema   Prints the JSON Schema of the file, for an editor that completes and checks it.',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { config: 'text', json: 'flag' });
    const [action, ...more] = positionals;
    if (more.length > 0) throw new UsageError(`"${more[0]}" was not expected.`);
    if (action === 'schema') {
      print(io, JSON.stringify(configJsonSchema(), null, 2));
      return 0;
    }
    if (action === 'check') return check(needed(options.config, 'config'), options.json, io);
    throw new UsageError(action ? `There is no "config ${action}".` : 'Name what to do: check or schema.');
  },
};

async function check(path: string, json: boolean, io: CommandIo): Promise<number> {
  const problems = await problemsOf(path);
  if (json) print(io, JSON.stringify({ valid: problems.length === 0, problems }));
  else if (problems.length === 0) print(io, `${path} is valid.`);
  else {
    for (const { path: where, says } of problems) print(io, where === '' ? says : `${where}: ${says}`);
    say(io, `${path} has ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}.`);
  }
  return problems.length === 0 ? 0 : 1;
}

async function problemsOf(path: string): Promise<InvalidConfig['problems']> {
  try {
    await readConfig(path);
    return [];
  } catch (error) {
    if (error instanceof InvalidConfig) return error.problems;
    throw error;
  }
}
