/** Calls a command as a person would and keeps what it printed. */
import { Readable, Writable } from 'node:stream';
import { runCommand } from '../host/cli/run.ts';

export async function jevHost(
  args: string[],
  more: { env?: NodeJS.ProcessEnv; stdin?: string | NodeJS.ReadableStream; signal?: AbortSignal } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const out = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof out) =>
    new Writable({
      write(chunk, _encoding, done) {
        out[name] += String(chunk);
        done();
      },
    });
  const { stdin = '' } = more;
  const code = await runCommand(args, {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: more.env ?? { PATH: process.env.PATH },
    stdin: typeof stdin === 'string' ? Readable.from([stdin]) : stdin,
    signal: more.signal ?? new AbortController().signal,
  });
  return { code, ...out };
}
