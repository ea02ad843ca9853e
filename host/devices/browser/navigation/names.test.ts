import { describe, expect, it } from 'vitest';
import { namesWithin } from './names.ts';

const silent = () => new Promise<string[]>(() => {});

describe('looking up names', () => {
  it('gives the addresses, and none for a name that there is not', async () => {
    const names = namesWithin(1000, async (name) => {
      if (name !== 'shop.example') throw new Error('ENOTFOUND');
      return ['93.184.216.34'];
    });
    expect(await names('shop.example')).toEqual(['93.184.216.34']);
    expect(await names('nowhere.example')).toEqual([]);
  });

  it('ends when no answer comes, also for those that wait for their turn behind it', async () => {
    const names = namesWithin(20, silent);
    const asked = ['a', 'b', 'c', 'd', 'a'].map((name) => names(`${name}.example`));
    expect(await Promise.all(asked)).toEqual(['late', 'late', 'late', 'late', 'late']);
  });

  it('looks equal names up once at a time, and few names at once', async () => {
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const names = namesWithin(60_000, (name) => {
      asked.push(name);
      return new Promise((resolve) => answers.push(() => resolve(['93.184.216.34'])));
    });
    const all = Promise.all(['a', 'a', 'b', 'c', 'a'].map(names));
    expect(asked).toEqual(['a', 'b']);
    while (answers.length > 0) {
      answers.shift()?.();
      await new Promise(setImmediate);
    }
    expect(await all).toHaveLength(5);
    expect(asked).toEqual(['a', 'b', 'c']);
    // Asked again, it is looked up again: an answer is kept for nobody.
    void names('a');
    expect(asked).toEqual(['a', 'b', 'c', 'a']);
  });
});
