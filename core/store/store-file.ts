/**
 * The store as a file: its name, whether a file can be a store at all, and how a copy comes into being.
 *
 * Threat: LMDB maps the file and follows what it finds there. A file of anything else (a restored archive, a download page,
 * zeros after a crash of the disk) does not make it fail but ends the whole process.
 */
import { chmodSync, closeSync, fstatSync, linkSync, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { refuse } from '../../sdk/contract/errors.ts';

export const STORE_FILE = 'store.mdb';

/** LMDB's number in the first meta page, after the page's own header. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
/** Two meta pages of the smallest size that is used. */
const LEAST_BYTES = 2 * 4096;

/** @returns false for a file that exists, holds something, and is no store. */
export function mayBeStore(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
  try {
    const { size } = fstatSync(file);
    if (size === 0) return true;
    const head = Buffer.alloc(MAGIC_AT + 4);
    return size >= LEAST_BYTES && readSync(file, head, 0, head.length, 0) === head.length && isMagic(head);
  } finally {
    closeSync(file);
  }
}

function isMagic(head: Buffer): boolean {
  return head.readUInt32LE(MAGIC_AT) === MAGIC || head.readUInt32BE(MAGIC_AT) === MAGIC;
}

/**
 * Makes a copy under its final name only once it is whole and on disk, and never over another.
 * @throws BACKUP_EXISTS when the directory holds a store.
 */
export async function copyInto(directory: string, copy: (path: string) => Promise<void>): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, STORE_FILE);
  const unfinished = `${path}.unfinished`;
  if (isThere(path)) refuse('BACKUP_EXISTS', { directory });
  rmSync(unfinished, { force: true });
  await copy(unfinished);
  chmodSync(unfinished, 0o600);
  await flushed(unfinished);
  try {
    // Unlike a rename, a link does not replace what somebody else put there meanwhile.
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') refuse('BACKUP_EXISTS', { directory });
    throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
  await flushed(directory);
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Resolves when the disk has the file, or the names in the directory. */
export async function flushed(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
