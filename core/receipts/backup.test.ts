import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LmdbStore, openLmdbStore } from '../store/lmdb-store.ts';
import { auditTables, createAuditLog } from './audit-log.ts';
import { verifyAudit } from './audit-verification.ts';
import { restoreBackup, sealBackup } from './backup.ts';
import { RESTORE_KEY, type RestoreMark, restoreTable } from './restore-mark.ts';

const made = { at: 1000, hostVersion: '1.0.0' };
let folder: string;
let opened: LmdbStore[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((store) => store.close()));
  rmSync(folder, { recursive: true, force: true });
});
const at = (name: string) => join(folder, name);
async function openStore(name: string): Promise<LmdbStore> {
  const store = await openLmdbStore({ directory: at(name) });
  opened.push(store);
  return store;
}
async function close(store: LmdbStore): Promise<void> {
  opened = opened.filter((one) => one !== store);
  await store.close();
}

/** A change in two places and a note of it, as a task's change is. */
function change(store: LmdbStore, audit: ReturnType<typeof createAuditLog>, n: number) {
  const table = store.table<number>({ name: 'things', version: 1 });
  const note = audit.note({ at: n, kind: 'thing', data: { n } });
  const written = store.commit([table.put([n, 'left'], n), table.put([n, 'right'], n), note]);
  audit.kick();
  return written;
}

/** @returns a backup that was taken in the middle of writes. */
async function busyBackup(name: string): Promise<{ store: LmdbStore; seal(): ReturnType<typeof sealBackup> }> {
  const store = await openStore('data');
  const audit = createAuditLog(store);
  for (let n = 0; n < 20; n++) await change(store, audit, n);
  await audit.drain();
  const copying = store.backup(at(name));
  const writing = Array.from({ length: 100 }, (_, n) => change(store, audit, 20 + n));
  await Promise.all([copying, ...writing]);
  await audit.drain();
  return { store, seal: () => sealBackup(at(name), made) };
}

describe('a backup', () => {
  it('is whole while writes go on, and its head is part of the chain that went on', async () => {
    const { store, seal } = await busyBackup('copy');
    const note = await seal();
    expect(verifyAudit(store, note.audit)).toMatchObject({ whole: true, entries: 120 });
    expect(note).toMatchObject({ takenAt: 1000, hostVersion: '1.0.0' });
  });

  it('is never written over another, and leaves nothing behind when it is refused', async () => {
    const { store, seal } = await busyBackup('copy');
    await seal();
    const before = readFileSync(join(at('copy'), 'store.mdb'));
    await expect(store.backup(at('copy'))).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
    expect(readFileSync(join(at('copy'), 'store.mdb')).equals(before)).toBe(true);
    expect(readdirSync(at('copy')).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it('says that a place cannot be written to, and the store goes on', async () => {
    const { store } = await busyBackup('copy');
    writeFileSync(at('file'), 'in the way');
    await expect(store.backup(join(at('file'), 'copy'))).rejects.toThrow(/ENOTDIR/);
    const table = store.table<number>({ name: 'things', version: 1 });
    expect(await store.commit([table.put(['after'], 1)])).toBe(true);
  });

  it('gets no note when its audit chain is not whole', async () => {
    const { store } = await busyBackup('copy');
    await close(store);
    const copy = await openStore('copy');
    await copy.commit([copy.table(auditTables.chain).remove([3])]);
    await close(copy);
    await expect(sealBackup(at('copy'), made)).rejects.toMatchObject({ code: 'BACKUP_INVALID' });
    expect(existsSync(join(at('copy'), 'backup.json'))).toBe(false);
  });
});

describe('a restore', () => {
  const restore = (more: object = {}) =>
    restoreBackup({ from: at('copy'), to: at('new'), replace: false, now: 5000, ...more });

  it('gives a store to start on: changes whole, chain whole, and marked as older than the world', async () => {
    const { seal } = await busyBackup('copy');
    const sealed = await seal();
    expect(await restore()).toEqual({ note: sealed });
    const store = await openStore('new');
    const keys = [...store.table<number>({ name: 'things', version: 1 }).range()].map((row) => row.key);
    expect(keys.length).toBeGreaterThanOrEqual(40);
    expect(keys.filter(([, side]) => side === 'left')).toHaveLength(keys.length / 2);
    expect(store.table<RestoreMark>(restoreTable).get(RESTORE_KEY)).toEqual({ takenAt: 1000, restoredAt: 5000 });
    const verdict = verifyAudit(store, sealed.audit);
    expect(verdict.whole).toBe(true);
    const last = [...createAuditLog(store).entries({ reverse: true, limit: 1 })];
    expect(last).toMatchObject([{ kind: 'store.restored', data: { takenAt: 1000 } }]);
    expect(readdirSync(at('new')).filter((name) => !name.startsWith('store.mdb'))).toEqual([]);
  });

  it('refuses a directory that holds a store; with replace the old store is kept beside the new one', async () => {
    const { seal } = await busyBackup('copy');
    await seal();
    const old = await openStore('new');
    await old.commit([old.table<string>({ name: 'things', version: 1 }).put(['old'], 'kept')]);
    await close(old);
    await expect(restore()).rejects.toMatchObject({ code: 'RESTORE_REFUSED' });
    const { kept } = await restore({ replace: true });
    expect(kept).toBe('store.mdb.replaced-5000');
    const now = await openStore('new');
    expect(now.table<string>({ name: 'things', version: 1 }).get(['old'])).toBeUndefined();
    expect(readFileSync(join(at('new'), 'store.mdb.replaced-5000')).includes('kept')).toBe(true);
  });

  it('refuses while a host runs on the directory', async () => {
    const { seal } = await busyBackup('copy');
    await seal();
    await openStore('new');
    await expect(restore({ replace: true })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it.each([
    ['was cut short', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 9000)), 'store.mdb'],
    [
      'was altered by one byte',
      (path: string) => {
        const bytes = readFileSync(path);
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
        writeFileSync(path, bytes);
      },
      'store.mdb',
    ],
    ['is gone', (path: string) => rmSync(path), 'store.mdb'],
    ['has no note', (path: string) => rmSync(path), 'backup.json'],
    ['has a note of something else', (path: string) => writeFileSync(path, '{"format":2}'), 'backup.json'],
  ])('refuses a copy that %s, and changes nothing', async (_what, spoil, name) => {
    const { seal } = await busyBackup('copy');
    await seal();
    spoil(join(at('copy'), name));
    await expect(restore()).rejects.toMatchObject({ code: 'BACKUP_INVALID' });
    expect(existsSync(join(at('new'), 'store.mdb'))).toBe(false);
  });
});
