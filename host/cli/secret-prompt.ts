/**
 * Asks for a secret.
 *
 * Threat: what is typed must not stay on the screen, in the shell's history or in a process list. So it is never an
 * argument, and a terminal does not echo it.
 */
import type { ReadStream } from 'node:tty';
import { type CommandIo, UsageError } from './command.ts';

/** Characters that a typed secret may have. */
const MAX_CHARS = 16_384;

/** @throws UsageError when nothing was typed or it was given up. */
export async function readSecret(prompt: string, io: CommandIo): Promise<string> {
  const terminal = io.stdin as ReadStream;
  const secret = terminal.isTTY ? await typed(prompt, terminal, io) : await firstLine(io.stdin);
  if (secret.trim() === '') throw new UsageError('No key was given; nothing was stored.');
  return secret;
}

function typed(prompt: string, terminal: ReadStream, io: CommandIo): Promise<string> {
  io.stderr.write(prompt);
  terminal.setRawMode(true);
  terminal.setEncoding('utf8');
  terminal.resume();
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (settle: () => void): void => {
      terminal.setRawMode(false);
      terminal.pause();
      terminal.off('data', onData);
      io.signal.removeEventListener('abort', onAbort);
      io.stderr.write('\n');
      settle();
    };
    const giveUp = (): void => end(() => reject(new UsageError('Given up; nothing was stored.')));
    const onAbort = giveUp;
    const onData = (chunk: string): void => {
      for (const character of chunk) {
        if (character === '\r' || character === '\n') {
          end(() => resolve(text));
          return;
        }
        if (character === '\u0003' || character === '\u0004') {
          giveUp();
          return;
        }
        if (character === '\u007f' || character === '\b') text = text.slice(0, -1);
        else if (character === '\u0015') text = '';
        else if (text.length < MAX_CHARS) text += character;
      }
    };
    terminal.on('data', onData);
    io.signal.addEventListener('abort', onAbort, { once: true });
  });
}

async function firstLine(stdin: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.includes('\n') || text.length > MAX_CHARS) break;
  }
  return text.split('\n')[0] ?? '';
}
