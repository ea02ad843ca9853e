/**
 * Whether a file can be a store at all, before it is handed to native code.
 *
 * Threat: LMDB maps the file and follows what it finds there. A file of anything else (a restored archive, a download page,
 * zeros after a crash of the disk) does not make it fail but ends the whole process.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

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
