import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

describe('turns', () => {
  it('go round the callers, in the order of each, one at a time', async () => {
    const turns = new Turns();
    const done: string[] = [];
    let atOnce = 0;
    const work = (name: string) => async () => {
      expect(++atOnce).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
      done.push(name);
    };
    await Promise.all([
      ...['a1', 'a2', 'a3', 'a4'].map((name) => turns.take('a', work(name))),
      ...['b1', 'b2'].map((name) => turns.take('b', work(name))),
      turns.take('c', work('c1')),
    ]);
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('go on after work that failed, and begin again after a rest', async () => {
    const turns = new Turns();
    const failing = turns.take('a', async () => {
      throw new Error('no');
    });
    const next = turns.take('a', async () => 'yes');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
    expect(await turns.take('b', async () => 'again')).toBe('again');
  });
});
