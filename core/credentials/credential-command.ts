/**
 * Runs a program of the operator's that prints a credential, such as a password manager.
 *
 * Threat: the program hangs, prints without end, leaves children behind, or reads our own credentials. No shell is
 * involved, it gets an allow-listed environment and no input, a deadline, a bound on what it prints, and a process group
 * of its own that is ended whole. What it prints on standard error is thrown away, because it may hold the secret.
 */
import { spawn } from 'node:child_process';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { childEnvironment } from './child-environment.ts';
import { MAX_FILE_BYTES } from './credential-file.ts';
import { credentialText } from './credential-text.ts';
import type { PrivateNames } from './private-names.ts';

/** Milliseconds that the program may take. */
const COMMAND_TIMEOUT_MS = 10_000;

export interface CommandContext {
  env: NodeJS.ProcessEnv;
  privateNames: PrivateNames;
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
}

/** @throws CREDENTIAL_UNUSABLE; the caller's abort reason when the signal aborts. */
export async function runCredentialCommand(argv: readonly string[], context: CommandContext): Promise<string> {
  const [program, ...args] = argv;
  if (!program) refuse('CREDENTIAL_UNUSABLE', { source: 'command', problem: 'no program is named' });
  const source = `command ${program}`;
  context.signal?.throwIfAborted();

  const output = await new Promise<string>((resolve, reject) => {
    const child = spawn(program, args, {
      env: childEnvironment(context.env, context.privateNames, { allow: ['DBUS_SESSION_BUS_ADDRESS'] }),
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (error: unknown): void => {
      killGroup(child.pid);
      child.stdout.destroy();
      finish();
      reject(error);
    };
    const fail = (problem: string): void => end(new HostError('CREDENTIAL_UNUSABLE', { source, problem }));
    const timer = setTimeout(() => fail('it took too long'), context.timeoutMs ?? COMMAND_TIMEOUT_MS);
    const onAbort = (): void => end(context.signal?.reason);
    const finish = (): void => {
      clearTimeout(timer);
      context.signal?.removeEventListener('abort', onAbort);
    };
    context.signal?.addEventListener('abort', onAbort, { once: true });

    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_FILE_BYTES) fail('it printed too much');
      else chunks.push(chunk);
    });
    child.on('error', (error: NodeJS.ErrnoException) => fail(`it cannot be started (${error.code ?? 'unknown'})`));
    child.on('close', (code, signal) => {
      if (code !== 0) return fail(`it ended with ${signal ?? code}`);
      finish();
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
  });
  return credentialText(output, source);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
