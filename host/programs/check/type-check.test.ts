import { afterAll, describe, expect, it } from 'vitest';
import { createTypeCheck } from './type-check.ts';

const declarations = 'declare const input: any;';

describe('the type check process', () => {
  const typeCheck = createTypeCheck();
  afterAll(() => typeCheck.stop());

  it('checks many at once, each with its own findings', async () => {
    const codes = ['return 1;', 'const a: number = "x"; return a;', 'return input.a;'];
    const results = await Promise.all(codes.map((code) => typeCheck.check({ declarations, code })));
    expect(results.map(({ diagnostics }) => diagnostics.length)).toEqual([0, 1, 0]);
  });

  it('gives the same result for the same program without checking it again', async () => {
    const [first, second] = [
      await typeCheck.check({ declarations, code: 'return 2;' }),
      await typeCheck.check({ declarations, code: 'return 2;' }),
    ];
    expect(second).toBe(first);
  });

  it('ends a check that takes too long, and goes on with the next', async () => {
    const bomb = `type Grow<T extends unknown[]> = T['length'] extends 3000 ? T : Grow<[...T, ...T, 1] | [...T, 2, ...T]>; const x: Grow<[1]> = 1 as never; return x;
      const sum = ${Array(20_000).fill('1').join('+')}; return sum;`;
    const ended = await typeCheck.check({ declarations, code: bomb }).then(
      (result) => result.diagnostics.length,
      (error) => error.message,
    );
    // A compiler that copes names the type; one that does not is ended.
    expect(ended).toSatisfy(
      (end: unknown) => typeof end === 'number' || /^Jev program typecheck failed: /.test(String(end)),
    );
    expect((await typeCheck.check({ declarations, code: 'return 3;' })).diagnostics).toEqual([]);
  }, 60_000);

  it('says so when it was stopped', async () => {
    const own = createTypeCheck();
    const checked = own.check({ declarations, code: 'return 4;' });
    own.stop();
    await expect(checked).rejects.toMatchObject({ code: 'PROGRAM_TYPECHECK_FAILED' });
  });
});
