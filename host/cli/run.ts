/** From arguments to an exit code. Nothing here ends the process; `host/main.ts` does. */
import { codes, describeCode } from '../../sdk/contract/codes.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import { type CommandIo, print, say, UsageError } from './command.ts';
import { commandNames, loadCommand } from './commands.ts';

const FAILED = 1;
const CALLED_WRONGLY = 2;

/** @param directory where the command files lie. */
export async function runCommand(args: string[], io: CommandIo, directory?: string): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    say(io, await overview(directory));
    return CALLED_WRONGLY;
  }
  if (name === '--help' || name === '-h' || name === 'help') return help(rest[0], io, directory);

  const command = await loadCommand(name, directory);
  if (!command) {
    say(io, `There is no command "${name}".\n\n${await overview(directory)}`);
    return CALLED_WRONGLY;
  }
  // What follows a bare `--` belongs to somebody else's command.
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (own.includes('--help') || own.includes('-h')) {
    print(io, command.usage);
    return 0;
  }
  try {
    return await command.run(rest, io);
  } catch (error) {
    return explain(error, name, io);
  }
}

async function help(name: string | undefined, io: CommandIo, directory?: string): Promise<number> {
  const command = name === undefined ? undefined : await loadCommand(name, directory);
  if (name !== undefined && !command) {
    say(io, `There is no command "${name}".`);
    return CALLED_WRONGLY;
  }
  print(io, command ? command.usage : await overview(directory));
  return 0;
}

async function overview(directory?: string): Promise<string> {
  const lines = ['Usage: jev-host <command> [options]', '', 'Commands:'];
  for (const name of commandNames(directory)) {
    const command = await loadCommand(name, directory);
    if (command) lines.push(`  ${name.padEnd(12)}${command.summary}`);
  }
  lines.push('', 'jev-host <command> --help explains one command.');
  return lines.join('\n');
}

function explain(error: unknown, name: string, io: CommandIo): number {
  if (error instanceof UsageError) {
    say(io, `${error.message}\njev-host ${name} --help explains the options.`);
    return CALLED_WRONGLY;
  }
  if (error instanceof HostError) {
    // A line break in somebody else's words does not begin a sentence of ours.
    say(io, `${error.code}: ${describeCode(error.code, error.details).replaceAll('\n', '\n  ')}`);
    say(io, codes[error.code].next);
    return FAILED;
  }
  // A fault of ours: the stack helps whoever reports it, and holds no values of the person's.
  say(io, error instanceof Error ? (error.stack ?? error.message) : String(error));
  return FAILED;
}
