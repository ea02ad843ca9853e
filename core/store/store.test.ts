import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { openLmdbStore } from './lmdb-store.ts';
import { createMemoryStore } from './memory-store.ts';
import type { Key, Store } from './store.ts';

const opened: Store[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function openOnDisk(): Promise<Store> {
  const store = await openLmdbStore({ directory: mkdtempSync(join(tmpdir(), 'store-')) });
  opened.push(store);
  return store;
}

const things = { name: 'things', version: 1 };
const others = { name: 'others', version: 1 };

describe.each([
  ['on disk', openOnDisk],
  ['in memory', async () => createMemoryStore()],
])('the store %s', (_name, openStore) => {
  it('returns what was committed, with a version that grows', async () => {
    const store = await openStore();
    const table = store.table<{ n: number }>(things);
    expect(table.get(['a'])).toBeUndefined();
    await store.commit([table.put(['a'], { n: 1 })]);
    const first = table.row(['a']);
    await store.commit([table.put(['a'], { n: 2 })]);
    const second = table.row(['a']);
    expect(second?.value).toEqual({ n: 2 });
    expect(second?.version).toBeGreaterThan(first?.version ?? Infinity);
  });

  it('writes all of a change or nothing of it', async () => {
    const store = await openStore();
    const table = store.table<string>(things);
    const other = store.table<string>(others);
    await store.commit([table.put(['a'], 'first')]);
    const stale = [table.unchanged(['a'], 0)];
    expect(await store.commit([table.put(['b'], 'x'), other.put(['c'], 'y')], stale)).toBe(false);
    expect(table.get(['b'])).toBeUndefined();
    expect(other.get(['c'])).toBeUndefined();
  });

  it('lets exactly one of many concurrent claims of the same key through', async () => {
    const store = await openStore();
    const table = store.table<number>(things);
    const claims = Array.from({ length: 64 }, (_, i) =>
      store.commit([table.put(['slot'], i)], [table.unchanged(['slot'], 0)]),
    );
    const won = (await Promise.all(claims)).flatMap((ok, i) => (ok ? [i] : []));
    expect(won).toHaveLength(1);
    expect(table.get(['slot'])).toBe(won[0]);
  });

  it('does not take a key that was removed and written again for unchanged', async () => {
    const store = await openStore();
    const table = store.table<string>(things);
    await store.commit([table.put(['a'], 'one')]);
    const before = table.row(['a'])?.version ?? 0;
    await store.commit([table.remove(['a'])]);
    await store.commit([table.put(['a'], 'one')]);
    expect(await store.commit([table.put(['a'], 'two')], [table.unchanged(['a'], before)])).toBe(false);
  });

  it('stores the value as it was when the change was computed', async () => {
    const store = await openStore();
    const table = store.table<{ n: number }>(things);
    const value = { n: 1 };
    const change = table.put(['a'], value);
    value.n = 2;
    await store.commit([change]);
    expect(table.get(['a'])).toEqual({ n: 1 });
  });

  it('ranges over any prefix, mark, direction and limit as a sorted list would', async () => {
    const store = await openStore();
    const table = store.table<number>(things);
    const part = fc.constantFrom('', 'a', 'b', 'a\0', 1, 2, -1);
    const key = fc.array(part, { minLength: 1, maxLength: 3 });
    const reference = createMemoryStore();
    const same = reference.table<number>(things);
    await fc.assert(
      fc.asyncProperty(
        key,
        fc.option(key, { nil: undefined }),
        fc.option(key, { nil: undefined }),
        fc.boolean(),
        fc.option(fc.nat(5), { nil: undefined }),
        async (added, prefix, after, reverse, limit) => {
          await store.commit([table.put(added, added.length)]);
          await reference.commit([same.put(added, added.length)]);
          const options = {
            reverse,
            ...(prefix ? { prefix } : {}),
            ...(after ? { after } : {}),
            ...(limit === undefined ? {} : { limit }),
          };
          const keys = [...table.range(options)].map((row) => row.key);
          const all = [...same.range()].map((row) => row.key);
          if (reverse) all.reverse();
          const begins = (k: Key) => !prefix || prefix.every((p, i) => k[i] === p);
          const order = new Map(all.map((k, i) => [JSON.stringify(k), i]));
          const wanted = all.filter(begins).filter((k) => {
            if (!after) return true;
            const mark = order.get(JSON.stringify(after));
            if (mark === undefined) return keys.some((x) => JSON.stringify(x) === JSON.stringify(k));
            return (order.get(JSON.stringify(k)) ?? -1) > mark;
          });
          expect(keys).toEqual(wanted.slice(0, limit ?? wanted.length));
          if (prefix) expect(table.count(prefix)).toBe(all.filter(begins).length);
        },
      ),
      { numRuns: 150 },
    );
    expect(table.count()).toBe(same.count());
  });
});
