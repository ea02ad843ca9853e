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

  it.each([
    [
      'a union of a million texts',
      `type D = '0'|'1'|'2'|'3'|'4'|'5'|'6'|'7'|'8'|'9'; const x: \`\${D}\${D}\${D}\${D}\${D}\${D}\` = 'x'; return x;`,
    ],
    [
      'texts that are taken apart character by character',
      `type Chars<S extends string, A extends unknown[] = []> = S extends \`\${infer H}\${infer T}\` ? Chars<T, [...A, H]> : A; const x: Chars<'${'x'.repeat(20_000)}'> = 1; return x;`,
    ],
    [
      'types that multiply with each other',
      `type P<A, B> = A extends unknown ? B extends unknown ? [A, B] : never : never; ${Array.from({ length: 12 }, (_, n) => `type U${n + 1} = P<${n === 0 ? '1|2|3' : `U${n}`}, ${n === 0 ? '1|2|3' : `U${n}`}>;`).join(' ')} const x: U12 = 1; return x;`,
    ],
    [
      'overloads without number',
      `${Array.from({ length: 1500 }, (_, n) => `function f(a: ${n}): ${n};`).join('')} function f(a: any): any { return a; } return f(f(f(f(input))));`,
    ],
    ['calls within calls', `const f = <T,>(x: T) => [x, x] as const; return ${'f('.repeat(60)}1${')'.repeat(60)};`],
    ['brackets within brackets', `return ${'['.repeat(20_000)}${']'.repeat(20_000)};`],
    [
      'one object of tens of thousands of keys',
      `return {${Array.from({ length: 9000 }, (_, n) => `k${n}:1`).join(',')}};`,
    ],
    ['conditions without end', `let a: any = input; ${'if (a) a = a.b; else '.repeat(2500)}; return a;`],
  ])(
    'comes to an end with %s, and goes on with the next',
    async (_what, code) => {
      const ended = await typeCheck.check({ declarations, code }).then(
        ({ diagnostics }) => `${diagnostics.length} findings`,
        (error) => error.message,
      );
      expect(ended).toMatch(/^\d+ findings$|^Jev program typecheck failed: /);
      expect((await typeCheck.check({ declarations, code: 'return 3;' })).diagnostics).toEqual([]);
      expect((await typeCheck.check({ declarations, code: `return ${Math.random()};` })).diagnostics).toEqual([]);
    },
    60_000,
  );

  it('lets callers take turns: one with many long checks holds another back by one', async () => {
    const own = createTypeCheck();
    try {
      const done: string[] = [];
      const slow = (n: number) => `const numbers = [${Array(4000).fill(n).join(',')}]; return numbers;`;
      const many = [1, 2, 3, 4].map((n) =>
        own.check({ declarations, code: slow(n) }, 'many').then(() => done.push('many')),
      );
      const one = own.check({ declarations, code: 'return 5;' }, 'one').then(() => done.push('one'));
      await Promise.all([...many, one]);
      expect(done.indexOf('one')).toBeLessThan(3);
    } finally {
      own.stop();
    }
  }, 30_000);

  it('says so when it was stopped', async () => {
    const own = createTypeCheck();
    const checked = own.check({ declarations, code: 'return 4;' });
    own.stop();
    await expect(checked).rejects.toMatchObject({ code: 'PROGRAM_TYPECHECK_FAILED' });
  });
});
