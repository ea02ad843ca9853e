/**
 * The frame of every command. A command is one file beside this one, named as it is called, that exports `command`.
 *
 * Data goes to stdout and words go to stderr, so that a script can read the one and a person the other.
 */

export interface CommandIo {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadableStream;
  /** Aborts when the person or the system asks the process to stop (SIGINT, SIGTERM). */
  signal: AbortSignal;
}

export interface Command {
  name: string;
  /** One sentence for the list of commands. */
  summary: string;
  /** What `--help` prints: the call, its options, an example. */
  usage: string;
  /** @returns the exit code: 0 only when what was asked for happened. A thrown HostError is printed and exits with 1. */
  run(args: string[], io: CommandIo): Promise<number>;
}

/** A command was called wrongly; its sentence is printed with the way to the help, and the process exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** One line of data. */
export function print(io: Pick<CommandIo, 'stdout'>, text: string): void {
  io.stdout.write(line(/^[[{]/.test(text) ? escaped(text) : harmless(text)));
}

/** One line of words. */
export function say(io: Pick<CommandIo, 'stderr'>, text: string): void {
  io.stderr.write(line(harmless(text)));
}

const line = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/**
 * What moves a terminal's cursor or turns its reading direction. Line breaks and tabs are ours to use.
 *
 * Threat: words of pages and plugins reach these two functions in many ways. This is the last of the walls; `plain` is the
 * first, where a text is known to be somebody else's.
 */
const MOVING = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const harmless = (text: string): string => text.replace(MOVING, '·');
/** The same data, to whoever parses it. */
const escaped = (json: string): string =>
  json.replace(MOVING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
