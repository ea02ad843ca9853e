/** Which commands there are, and how one is found: its file is loaded only when it is called. */
import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from './command.ts';

/** In the order in which a person meets them; a command that is not listed here comes after, by name. */
const ORDER = [
  'serve',
  'doctor',
  'config',
  'key',
  'login',
  'logout',
  'plugin',
  'device',
  'evaluator',
  'task',
  'receipts',
  'audit',
  'backup',
  'restore',
  'drill',
  'replay',
  'exec',
];

/** Files of this room that support commands and are none. */
const SUPPORT = new Set(['command', 'commands', 'options', 'run']);

const COMMAND_FILE = /^([a-z]+)\.(?:ts|js)$/;

/** @param directory where the command files lie; the default is this one. */
export function commandNames(directory = import.meta.dirname): string[] {
  const found = readdirSync(directory)
    .map((file) => COMMAND_FILE.exec(file)?.[1])
    .filter((name) => name !== undefined && !SUPPORT.has(name));
  const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return [...new Set(found as string[])].sort((a, b) => place(a) - place(b) || a.localeCompare(b));
}

/** @returns undefined when there is no such command, or when the file is a helper of commands and exports none. */
export async function loadCommand(name: string, directory = import.meta.dirname): Promise<Command | undefined> {
  if (!commandNames(directory).includes(name)) return undefined;
  const file = join(directory, `${name}${extname(import.meta.filename)}`);
  const module: { command?: Command } = await import(pathToFileURL(file).href);
  return module.command;
}
