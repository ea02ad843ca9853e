/**
 * Reads a credential from a file, anew each time, so that a key can be rotated without a restart.
 *
 * Threat: the path may name a pipe or a device (reading would never end), a huge file, or a file that anybody on the
 * machine can replace with a key of their own. Opening does not block, only regular files of a bounded size are read,
 * and a file that everybody may write is refused. A file that others may read still works; doctor reports it.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import { credentialText, MAX_CREDENTIAL_CHARS } from './credential-text.ts';

/** Bytes that a credential file may have: the credential and a little white space. */
export const MAX_FILE_BYTES = MAX_CREDENTIAL_CHARS + 64;
const WRITABLE_BY_ALL = 0o002;
export const READABLE_BY_OTHERS = 0o044;

export interface CredentialFileState {
  /** Permission bits. */
  mode: number;
  bytes: number;
}

/** @throws CREDENTIAL_UNUSABLE with the reason, never with contents. */
export async function readCredentialFile(path: string): Promise<string> {
  const source = `file ${path}`;
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stat = await handle.stat();
    checkCredentialFile({ mode: stat.mode & 0o777, bytes: stat.size }, stat.isFile(), source);
    const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_FILE_BYTES) refuse('CREDENTIAL_UNUSABLE', { source, problem: 'the file is too large' });
    const text = buffer.toString('utf8', 0, bytesRead);
    buffer.fill(0, 0, bytesRead);
    return credentialText(text, source);
  } catch (error) {
    if (isHostError(error)) throw error;
    throw new HostError('CREDENTIAL_UNUSABLE', { source, problem: reason(error) });
  } finally {
    await handle?.close().catch(() => {});
  }
}

export function checkCredentialFile(state: CredentialFileState, isFile: boolean, source: string): void {
  if (!isFile) refuse('CREDENTIAL_UNUSABLE', { source, problem: 'it is not a regular file' });
  if (state.bytes > MAX_FILE_BYTES) refuse('CREDENTIAL_UNUSABLE', { source, problem: 'the file is too large' });
  if (state.mode & WRITABLE_BY_ALL) {
    refuse('CREDENTIAL_UNUSABLE', { source, problem: 'every user of this machine may write the file (chmod 600)' });
  }
}

/** The system's own short code: ENOENT, EACCES and the like. */
function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'the file does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'this process may not read the file';
  return typeof code === 'string' ? `the file cannot be read (${code})` : 'the file cannot be read';
}
