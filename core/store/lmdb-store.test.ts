import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type LmdbStore, openLmdbStore } from './lmdb-store.ts';
import type { TableDefinition } from './store.ts';

const child = join(import.meta.dirname, '../../test/store/writer.mjs');
const opened: LmdbStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
const freshDirectory = () => mkdtempSync(join(tmpdir(), 'store-'));
async function openStore(directory: string): Promise<LmdbStore> {
  const store = await openLmdbStore({ directory });
  opened.push(store);
  return store;
}
async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((store) => store.close()));
}

describe('the store on disk', () => {
  it('keeps what was committed across openings, and versions keep growing', async () => {
    const directory = freshDirectory();
    const first = await openStore(directory);
    const table = first.table<string>({ name: 'things', version: 1 });
    await first.commit([table.put(['a'], 'kept')]);
    const before = table.row(['a'])?.version ?? 0;
    await closeAll();
    const second = await openStore(directory);
    const again = second.table<string>({ name: 'things', version: 1 });
    expect(again.get(['a'])).toBe('kept');
    await second.commit([again.put(['a'], 'new')]);
    expect(again.row(['a'])?.version).toBeGreaterThan(before);
  });

  it('refuses a second host on the same directory and lets it in after the first closed', async () => {
    const directory = freshDirectory();
    await openStore(directory);
    await expect(openLmdbStore({ directory })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await closeAll();
    await expect(openStore(directory)).resolves.toBeDefined();
  });

  it('migrates older records when they are read, refuses newer ones and unknown older ones', async () => {
    const directory = freshDirectory();
    const old = await openStore(directory);
    const first = old.table<{ name: string }>({ name: 'people', version: 1 });
    await old.commit([first.put(['a'], { name: 'Ada' })]);
    await closeAll();

    const renamed: TableDefinition<{ title: string }> = {
      name: 'people',
      version: 2,
      migrate: (value, from) => ({ title: `${(value as { name: string }).name} (${from})` }),
    };
    const current = await openStore(directory);
    const migrated = current.table(renamed);
    expect(migrated.get(['a'])).toEqual({ title: 'Ada (1)' });
    await current.commit([migrated.put(['b'], { title: 'Bob' })]);
    await closeAll();

    const downgraded = await openStore(directory);
    expect(() => downgraded.table({ name: 'people', version: 1 })).toThrow(
      expect.objectContaining({ code: 'STORE_NEWER' }),
    );
    expect(() => downgraded.table({ name: 'people', version: 3 })).toThrow(
      expect.objectContaining({ code: 'STORE_OLDER' }),
    );
  });

  it('goes on reading however many walks over a table were begun and left', async () => {
    const store = await openStore(freshDirectory());
    const table = store.table<number>({ name: 'things', version: 1 });
    await store.commit(Array.from({ length: 200 }, (_, i) => table.put([i], i)));
    const left: unknown[] = [];
    for (let i = 0; i < 300; i++) {
      const walk = table.range();
      left.push(walk, walk.next());
      await store.commit([table.put(['more'], i)]);
    }
    expect([...table.range()]).toHaveLength(201);
    expect(left).toHaveLength(600);
  });

  it('makes a consistent copy while it is in use', async () => {
    const store = await openStore(freshDirectory());
    const table = store.table<number>({ name: 'things', version: 1 });
    for (let i = 0; i < 50; i++) await store.commit([table.put([i, 'left'], i), table.put([i, 'right'], i)]);
    const copy = freshDirectory();
    const writing = Array.from({ length: 50 }, (_, i) =>
      store.commit([table.put([50 + i, 'left'], i), table.put([50 + i, 'right'], i)]),
    );
    await store.backup(copy);
    await Promise.all(writing);
    const restored = (await openStore(copy)).table<number>({ name: 'things', version: 1 });
    const keys = [...restored.range()].map((row) => row.key);
    expect(keys.length).toBeGreaterThanOrEqual(100);
    expect(keys.filter(([, side]) => side === 'left')).toHaveLength(keys.length / 2);
  });

  it('names a damaged record, goes on reading the others, and writes nothing more', async () => {
    const directory = freshDirectory();
    const store = await openStore(directory);
    const table = store.table<string>({ name: 'things', version: 1 });
    await store.commit([table.put(['bad'], 'MARKER-ONE'), table.put(['good'], 'fine')]);
    await closeAll();
    const path = join(directory, 'store.mdb');
    const bytes = readFileSync(path);
    for (let at = bytes.indexOf('MARKER-ONE'); at !== -1; at = bytes.indexOf('MARKER-ONE', at + 1))
      bytes.write('X', at);
    writeFileSync(path, bytes);

    const reopened = await openStore(directory);
    const again = reopened.table<string>({ name: 'things', version: 1 });
    expect(() => again.get(['bad'])).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }));
    expect(again.get(['good'])).toBe('fine');
    expect([...again.range()].map((row) => row.value)).toEqual(['fine']);
    expect(reopened.health().writable).toBe(false);
    await expect(reopened.commit([again.put(['new'], 'x')])).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
  });

  it('refuses a file that was cut short', async () => {
    const directory = freshDirectory();
    const store = await openStore(directory);
    const table = store.table<string>({ name: 'things', version: 1 });
    for (let i = 0; i < 20; i++) await store.commit([table.put([i], 'x'.repeat(5000))]);
    await closeAll();
    const path = join(directory, 'store.mdb');
    truncateSync(path, statSync(path).size - 8192);
    await expect(openLmdbStore({ directory })).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
  });

  it.each([
    ['a few words', Buffer.from('this is no store')],
    ['zeros', Buffer.alloc(16_384)],
    ['a page of something else', Buffer.alloc(16_384, '<html>')],
  ])('refuses a file of %s instead of dying of it', async (_, bytes) => {
    const directory = freshDirectory();
    writeFileSync(join(directory, 'store.mdb'), bytes);
    for (const readOnly of [true, false]) {
      await expect(openLmdbStore({ directory, readOnly })).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    }
  });

  it('stops writing on a full disk, goes on reading, and writes again when there is room', async () => {
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      `ulimit -S -f 600; exec "${process.execPath}" "${child}" full "${freshDirectory()}"`,
    ]);
    expect(JSON.parse(stdout)).toEqual({ code: 'STORE_WRITE_FAILED', lost: 0, halves: 0, afterwards: true });
  }, 60_000);

  it('loses nothing that it confirmed and splits no change when its process is killed', async () => {
    for (let round = 0; round < 5; round++) {
      const directory = freshDirectory();
      const writer = spawn(process.execPath, [child, 'write', directory], { stdio: ['ignore', 'pipe', 'inherit'] });
      let confirmed = '';
      writer.stdout.setEncoding('utf8').on('data', (text: string) => {
        confirmed += text;
        if (confirmed.split('\n').length > 60 + round * 37) writer.kill('SIGKILL');
      });
      await new Promise((resolve) => writer.once('close', resolve));
      const table = (await openStore(directory)).table<number>({ name: 'pairs', version: 1 });
      const lines = confirmed.split('\n').slice(0, -1).map(Number);
      expect(lines.length).toBeGreaterThan(50);
      for (const n of lines) expect(table.get([n, 'left'])).toBe(n);
      expect(
        [...table.range()].filter(
          (row) => table.get([row.key[0] ?? '', row.key[1] === 'left' ? 'right' : 'left']) === undefined,
        ),
      ).toEqual([]);
      await closeAll();
    }
  }, 60_000);
});
