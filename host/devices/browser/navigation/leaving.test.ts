import { describe, expect, it } from 'vitest';
import { Leaving } from './leaving.ts';

/** @returns whether it resolves by itself. */
const resolves = async (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);

describe('a tab that shows what it must not show', () => {
  it('is not looked at until each such document has gone', async () => {
    const leaving = new Leaving();
    expect(await resolves(leaving.gone())).toBe(true);
    leaving.begin('main', 'bad-1');
    leaving.begin('frame', 'bad-2');
    const gone = leaving.gone();
    expect(leaving.shows('frame', 'bad-2')).toBe(true);
    leaving.end('frame');
    expect(await resolves(gone)).toBe(false);
    expect(leaving.any).toBe(true);
    leaving.end('main');
    expect(await resolves(gone)).toBe(true);
    expect(leaving.any).toBe(false);
  });

  it('knows such a document from what takes its place', () => {
    const leaving = new Leaving();
    leaving.begin('main', 'bad-1');
    expect(leaving.shows('main', 'next')).toBe(false);
    expect(leaving.shows('other', 'bad-1')).toBe(false);
    expect(leaving.shows('main', 'bad-1')).toBe(true);
  });

  it('may be looked at again once its whole page was replaced', async () => {
    const leaving = new Leaving();
    leaving.begin('frame', 'bad-1');
    leaving.begin('inner', 'bad-2');
    const gone = leaving.gone();
    leaving.endAll();
    expect(await resolves(gone)).toBe(true);
  });
});
