import { describe, expect, it } from 'vitest';
import { program, workbench } from '../../test/support/programs.ts';
import { authored, withPosition } from './source-position.ts';

describe('an error that ends a program names line and column of the author’s code', () => {
  const failing: [string, string, string, number, number][] = [
    ['of the language', 'const a: any = null;\n  return a.b;', "TypeError: cannot read property 'b' of null", 2, 10],
    ['below types that are gone', 'interface A { n: number }\ntype B = A;\nthrow new Error("mine");', 'mine', 3, 11],
    [
      'inside a function',
      'const f = (n: number): never => {\n  throw new RangeError("1");\n};\nawait null;\nf(1);',
      'RangeError: 1',
      2,
      13,
    ],
    [
      'of a refused call',
      'await program.emit(1);\nawait program.sleep(-1);\nreturn 1;',
      'Invalid program.sleep duration',
      2,
      15,
    ],
    [
      'of a call that was not granted',
      "const ref: string = 'a.b';\nawait tools.call({ ref });",
      'Capability not granted to Jev program: a.b',
      2,
      13,
    ],
    [
      'of a value that is no JSON',
      'await program.emit(() => 1);',
      'Program event must contain only finite JSON values',
      1,
      15,
    ],
  ];
  it.each(failing)('%s', async (_what, code, sentence, line, column) => {
    const { error } = await workbench().run({ program: program(code) });
    expect(error).toBe(`${sentence} (line ${line}, column ${column})`);
  });

  it('and nothing where there is none', async () => {
    const { error } = await workbench().run({ program: program('throw "text";') });
    expect(error).toBe('text');
  });

  it('but believes no stack that leads nowhere', () => {
    for (const stack of [
      '',
      'at x (program:999999:1)',
      'at x (program:1:1',
      '(program:-1:2)',
      `${'('.repeat(4000)}program:1:1)`,
    ])
      expect(withPosition('failed', stack, 'AAAA')).toBe('failed');
    expect(withPosition('x'.repeat(3000), '(program:1:5)', 'AACA')).toMatch(/^x{1900,} \(line 1, column 1\)$/);
    expect(withPosition('x'.repeat(3000), '(program:1:5)', 'AACA')).toHaveLength(2000);
    expect(authored({ line: 1, column: 1 }, '***,;;~')).toBeUndefined();
  });
});
