import { describe, expect, it } from 'vitest';
import { createFreshReads } from './fresh-read.ts';

describe('shared reads', () => {
  it('never answer with what was read before the question', async () => {
    let stored = 'old';
    let reads = 0;
    const finish: (() => void)[] = [];
    const read = createFreshReads(async () => {
      reads += 1;
      const seen = stored;
      await new Promise<void>((resolve) => finish.push(resolve));
      return seen;
    });
    const first = read('k');
    stored = 'new';
    const later = [read('k'), read('k'), read('k')];
    finish.shift()?.();
    expect(await first).toBe('old');
    await expect.poll(() => finish.length).toBe(1);
    finish.shift()?.();
    expect(await Promise.all(later)).toEqual(['new', 'new', 'new']);
    expect(reads).toBe(2);
  });

  it('go on after one that failed, each with its own answer', async () => {
    let reads = 0;
    const read = createFreshReads(async (key) => {
      reads += 1;
      if (reads === 1) throw new Error(`no ${key}`);
      return key;
    });
    const first = read('a');
    const second = read('a');
    await expect(first).rejects.toThrow('no a');
    expect(await second).toBe('a');
    expect(await read('b')).toBe('b');
  });
});
