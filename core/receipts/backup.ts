/**
 * Backups: a copy of the store and a note beside it that says what the copy is, so that a damaged, half-made or altered one
 * is refused before anything is replaced.
 *
 * A restored store is older than the world. What was under way or done after the copy is not in it, so a restored host may
 * start nothing by itself: the mark that is left here makes recovery hand every waiting task back to its owner.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as v from 'valibot';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import { holdExclusively } from '../store/exclusive.ts';
import { openLmdbStore } from '../store/lmdb-store.ts';
import { flushed, STORE_FILE } from '../store/store-file.ts';
import { createAuditLog } from './audit-log.ts';
import { type AuditVerdict, verifyAudit } from './audit-verification.ts';
import { RESTORE_KEY, type RestoreMark, restoreTable } from './restore-mark.ts';

/** The name of the note beside the copy. */
export const BACKUP_NOTE = 'backup.json';

const BackupNote = v.strictObject({
  format: v.literal(1),
  /** Milliseconds since the epoch. */
  takenAt: v.number(),
  /** Of the host that wrote the store. */
  hostVersion: v.string(),
  store: v.strictObject({ bytes: v.number(), sha256: v.string() }),
  /** Where the audit chain ended; a later store that still holds this head has lost nothing of what the backup knew. */
  audit: v.strictObject({ seq: v.number(), hash: v.string() }),
});
export type BackupNote = v.InferOutput<typeof BackupNote>;

/**
 * Checks a copy that was just made and writes the note beside it.
 * @throws BACKUP_INVALID when the copy cannot be read or its audit chain is not whole; the copy is kept to be looked at.
 */
export async function sealBackup(directory: string, made: { at: number; hostVersion: string }): Promise<BackupNote> {
  const { head } = await inspect(directory);
  const note: BackupNote = {
    format: 1,
    takenAt: made.at,
    hostVersion: made.hostVersion,
    store: await digestOf(join(directory, STORE_FILE)),
    audit: head,
  };
  const path = join(directory, BACKUP_NOTE);
  await writeFile(path, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await flushed(directory);
  return note;
}

export interface Restore {
  from: string;
  /** The data directory. No host may be running on it. */
  to: string;
  /** A store that is there is kept under another name instead of being a reason to refuse. */
  replace: boolean;
  now: number;
}

/**
 * @returns the note of the backup, and the name that a replaced store now has.
 * @throws BACKUP_INVALID, RESTORE_REFUSED; STORE_UNAVAILABLE when a host runs there. Nothing was changed then.
 */
export async function restoreBackup({ from, to, replace, now }: Restore): Promise<{ note: BackupNote; kept?: string }> {
  const note = readNote(from);
  const copied = await digestOf(join(from, STORE_FILE)).catch(() => undefined);
  if (copied?.sha256 !== note.store.sha256) invalid(from, 'the copy is not the one that its note describes');
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const lock = await holdExclusively(to);
  const making = join(to, 'restoring');
  try {
    const target = join(to, STORE_FILE);
    const present = existsSync(target);
    if (present && !replace) refuse('RESTORE_REFUSED', { directory: to });
    rmSync(making, { recursive: true, force: true });
    mkdirSync(making, { mode: 0o700 });
    await copyFile(join(from, STORE_FILE), join(making, STORE_FILE));
    await mark(making, { takenAt: note.takenAt, restoredAt: now });
    await flushed(join(making, STORE_FILE));
    const kept = present ? `${STORE_FILE}.replaced-${now}` : undefined;
    if (kept) linkSync(target, join(to, kept));
    // The one moment that counts: before it the old store is there whole, after it the new one.
    renameSync(join(making, STORE_FILE), target);
    rmSync(`${target}-lock`, { force: true });
    await flushed(to);
    return { note, ...(kept && { kept }) };
  } finally {
    rmSync(making, { recursive: true, force: true });
    await lock.release();
  }
}

async function mark(directory: string, restored: RestoreMark): Promise<void> {
  await inspect(directory);
  const store = await openLmdbStore({ directory });
  try {
    const audit = createAuditLog(store);
    await store.commit([
      store.table<RestoreMark>(restoreTable).put(RESTORE_KEY, restored),
      audit.note({ at: restored.restoredAt, kind: 'store.restored', data: { takenAt: restored.takenAt } }),
    ]);
    await audit.drain();
  } finally {
    await store.close();
  }
}

async function inspect(directory: string): Promise<AuditVerdict> {
  const unusable = (error: unknown): never => {
    throw new HostError('BACKUP_INVALID', { directory, problem: codeOf(error) }, { cause: error });
  };
  if (!existsSync(join(directory, STORE_FILE))) invalid(directory, 'it holds no store');
  const store = await openLmdbStore({ directory, readOnly: true, exclusive: false }).catch(unusable);
  try {
    const verdict = verifyAudit(store);
    const [problem] = verdict.problems;
    if (problem) invalid(directory, problem.says.replace(/\.$/, ''));
    if (store.health().damaged.length > 0) invalid(directory, 'a record in it cannot be read');
    return verdict;
  } finally {
    await store.close();
  }
}

function readNote(directory: string): BackupNote {
  let text: string;
  try {
    text = readFileSync(join(directory, BACKUP_NOTE), 'utf8');
  } catch {
    return invalid(directory, `it holds no ${BACKUP_NOTE}`);
  }
  try {
    return v.parse(BackupNote, JSON.parse(text));
  } catch {
    return invalid(directory, `its ${BACKUP_NOTE} is not one that this version writes`);
  }
}

const invalid = (directory: string, problem: string): never => refuse('BACKUP_INVALID', { directory, problem });

const codeOf = (error: unknown): string => (isHostError(error) ? error.code : 'it cannot be read');

async function digestOf(path: string): Promise<BackupNote['store']> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { bytes: statSync(path).size, sha256: hash.digest('hex') };
}
