/**
 * Reads a credential from a file, anew each time, so that a key can be rotated without a restart.
 *
 * Threat: the path may name a pipe or a device (reading would never end), a huge file, or a file that anybody on the
 * machine can replace with a key of their own. Opening does not block, only regular files of a bounded size are read,
 * and a file that everybody may write is refused. A file that others may read still works; doctor reports it.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import { credentialText, MAX_CREDENTIAL_CHARS } from './credential-text.ts';
import { createFreshReads } from './fresh-read.ts';

/** Bytes that a credential file may have: the credential and a little white space. */
export const MAX_FILE_BYTES = MAX_CREDENTIAL_CHARS + 64;
const WRITABLE_BY_ALL = 0o002;
export const READABLE_BY_OTHERS = 0o044;

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** File systems that live on this machine, by the number in `statfs`: ext, xfs, btrfs, tmpfs, overlay, ramfs, f2fs, zfs. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x858458f6, 0xf2f52010, 0x2fc12fc1]);
/** Paths whose file system is remembered. */
const MAX_PATHS = 256;

/** @throws CREDENTIAL_UNUSABLE with the reason, never with contents. */
export async function readCredentialFile(path: string): Promise<string> {
  const source = `file ${path}`;
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, FLAGS);
    checkCredentialFile(await handle.stat(), source);
    const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return takeText(buffer, bytesRead, source);
  } catch (error) {
    throw unusable(error, source);
  } finally {
    await handle?.close().catch(() => {});
  }
}

/** For reads that do not leave the thread; wiped after each. */
const scratch = Buffer.alloc(MAX_FILE_BYTES + 1);

/** The same without leaving the thread: a few microseconds on a disk of this machine, endless on a dead network drive. */
function readLocalFile(path: string): string {
  const source = `file ${path}`;
  let handle: number | undefined;
  try {
    handle = openSync(path, FLAGS);
    checkCredentialFile(fstatSync(handle), source);
    return takeText(scratch, readSync(handle, scratch, 0, scratch.length, 0), source);
  } catch (error) {
    throw unusable(error, source);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/**
 * A reader for many requests. Under load, four trips to a thread and back would cost more than all else of an evaluation,
 * so a file on a disk of this machine is read at once; any other goes through the threads, shared by those who wait.
 */
export function createFileReader(): (path: string) => Promise<string> {
  const local = new Map<string, boolean>();
  const throughThreads = createFreshReads(readCredentialFile);
  const readNow = oncePerTurn(readLocalFile);
  return async (path) => {
    const known = local.get(path);
    if (known === true) return readNow(path);
    const text = await throughThreads(path);
    if (known === undefined) {
      if (local.size >= MAX_PATHS) local.clear();
      local.set(path, await isLocal(path));
    }
    return text;
  };
}

/** What is asked for again before this turn of the event loop ends gets the same: nothing else of this process ran between. */
function oncePerTurn(read: (path: string) => string): (path: string) => string {
  const seen = new Map<string, string>();
  return (path) => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    const text = read(path);
    if (seen.size === 0) setImmediate(() => seen.clear());
    seen.set(path, text);
    return text;
  };
}

async function isLocal(path: string): Promise<boolean> {
  return statfs(path).then(
    ({ type }) => LOCAL.has(type),
    () => false,
  );
}

function checkCredentialFile(stat: Stats, source: string): void {
  if (!stat.isFile()) refuse('CREDENTIAL_UNUSABLE', { source, problem: 'it is not a regular file' });
  if (stat.size > MAX_FILE_BYTES) refuse('CREDENTIAL_UNUSABLE', { source, problem: 'the file is too large' });
  if (stat.mode & WRITABLE_BY_ALL) {
    refuse('CREDENTIAL_UNUSABLE', { source, problem: 'every user of this machine may write the file (chmod 600)' });
  }
}

function takeText(buffer: Buffer, bytes: number, source: string): string {
  const text = buffer.toString('utf8', 0, bytes);
  buffer.fill(0, 0, bytes);
  if (bytes > MAX_FILE_BYTES) refuse('CREDENTIAL_UNUSABLE', { source, problem: 'the file is too large' });
  return credentialText(text, source);
}

/** The system's own short code says why: ENOENT, EACCES and the like. */
function unusable(error: unknown, source: string): HostError {
  if (isHostError(error)) return error;
  const code = (error as NodeJS.ErrnoException).code;
  const problem =
    code === 'ENOENT'
      ? 'the file does not exist'
      : code === 'EACCES' || code === 'EPERM'
        ? 'this process may not read the file'
        : `the file cannot be read (${code ?? 'unknown'})`;
  return new HostError('CREDENTIAL_UNUSABLE', { source, problem });
}
