import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../core/store/memory-store.ts';
import type { Store } from '../../../core/store/store.ts';
import type { CapabilityRun } from './capability.ts';
import { clearStorage, MAX_SPACE_BYTES, MAX_SPACE_KEYS, MAX_VALUE_BYTES, storage } from './storage.ts';

function space(store: Store, pluginId = 'one', agentId = 'assistant') {
  const run = { pluginId, authority: { agentId } } as CapabilityRun;
  const handlers = storage.create(run, { log: () => {}, now: () => 0, store });
  if (!handlers) throw new Error('no storage');
  return {
    get: (key: string) => handlers.get([key]),
    put: (key: string, text: string) => handlers.put([key, text]),
    delete: (key: string) => handlers.delete([key]),
  };
}
const refused = (code: string) => expect.objectContaining({ code });
const full = 'x'.repeat(MAX_VALUE_BYTES);
const values = MAX_SPACE_BYTES / MAX_VALUE_BYTES;

describe('storage', () => {
  it('gives back what was put, replaces it, and forgets what was deleted', async () => {
    const one = space(createMemoryStore());
    expect(await one.get('a')).toBe(null);
    await one.put('a', 'แมว');
    await one.put('a', 'หมา');
    expect(await one.get('a')).toBe('หมา');
    await one.delete('a');
    await one.delete('never-there');
    expect(await one.get('a')).toBe(null);
  });

  it('keeps a plugin from reading, replacing or deleting what another stored, and one agent’s from another’s', async () => {
    const store = createMemoryStore();
    const [mine, other, elsewhere] = [space(store), space(store, 'two'), space(store, 'one', 'second')];
    await mine.put('a', 'mine');
    for (const stranger of [other, elsewhere]) {
      expect(await stranger.get('a')).toBe(null);
      await stranger.delete('a');
      await stranger.put('a', 'theirs');
    }
    expect(await mine.get('a')).toBe('mine');
  });

  it('counts a value in bytes, and keeps the old one when the new one is too large', async () => {
    const one = space(createMemoryStore());
    await one.put('a', 'old');
    await expect(one.put('a', 'แ'.repeat(MAX_VALUE_BYTES / 3 + 1))).rejects.toEqual(refused('STORAGE_VALUE_TOO_LARGE'));
    await one.put('b', full);
    expect(await one.get('a')).toBe('old');
  });

  it('is full at its limit, for this plugin and agent alone, until something is deleted', async () => {
    const store = createMemoryStore();
    const one = space(store);
    for (let at = 0; at < values; at += 1) await one.put(`k${at}`, full);
    await expect(one.put('more', 'x')).rejects.toEqual(refused('STORAGE_FULL'));
    await one.put('k0', full);
    await space(store, 'two').put('a', full);
    await space(store, 'one', 'second').put('a', full);
    await one.delete('k1');
    await one.put('more', 'x');
  });

  it('cannot be filled beyond its limit by writes at the same time', async () => {
    const store = createMemoryStore();
    const runs = [space(store), space(store)];
    const all = await Promise.allSettled(
      Array.from({ length: 2 * values }, (_, at) => runs[at % 2]!.put(`k${at}`, full)),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(values);
  });

  it('takes no more keys than its limit, however small the values', async () => {
    const one = space(createMemoryStore());
    for (let at = 0; at < MAX_SPACE_KEYS; at += 1) await one.put(`k${at}`, '');
    await expect(one.put('more', '')).rejects.toEqual(refused('STORAGE_TOO_MANY_KEYS'));
    await one.put('k1', 'still replaced');
  });

  it('counts right again after a write that failed', async () => {
    const store = createMemoryStore();
    let fails = true;
    const failing: Store = {
      ...store,
      table: (definition) => store.table(definition),
      commit: (changes) => (fails ? Promise.reject(new Error('disk')) : store.commit(changes)),
    };
    const one = space(failing);
    for (let at = 0; at < values; at += 1) await expect(one.put(`k${at}`, full)).rejects.toThrow('disk');
    fails = false;
    for (let at = 0; at < values; at += 1) await one.put(`k${at}`, full);
    await expect(one.put('more', 'x')).rejects.toEqual(refused('STORAGE_FULL'));
  });

  it('goes with its plugin, and with nobody else’s', async () => {
    const store = createMemoryStore();
    for (let at = 0; at < 1200; at += 1) await space(store, 'gone').put(`k${at}`, 'x');
    await space(store, 'kept').put('a', 'stays');
    await clearStorage(store, new Set(['kept']));
    expect(await space(store, 'gone').get('k0')).toBe(null);
    expect(await space(store, 'gone').get('k1199')).toBe(null);
    expect(await space(store, 'kept').get('a')).toBe('stays');
    // Its count began anew too.
    for (let at = 0; at < values; at += 1) await space(store, 'gone').put(`k${at}`, full);
  });

  it('holds, whatever is written in whatever order, what a plain map would hold', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(fc.tuple(key, fc.string()), fc.tuple(key, fc.constant(undefined)));
    await fc.assert(
      fc.asyncProperty(fc.array(step), async (steps) => {
        const one = space(createMemoryStore());
        const plain = new Map<string, string>();
        for (const [name, value] of steps) {
          if (value === undefined) {
            plain.delete(name);
            await one.delete(name);
          } else {
            plain.set(name, value);
            await one.put(name, value);
          }
        }
        for (const name of ['a', 'b', 'c']) expect(await one.get(name)).toBe(plain.get(name) ?? null);
      }),
      { numRuns: 50 },
    );
  });
});
