import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evade } from './evasion.ts';

/** What the sandbox's own source check refuses. */
const refused = /(^|[^.]|\.\.\.)\bimport(\s*(?:\(|\/[/*]))|(^|[^.])\beval(\s*\()|<!--|-->/;
const evaluated = (code: string): unknown => new Function(`return ${code}`)();

describe('the evasion pass', () => {
  it.each([
    ['a string that holds an import', `"import('x')"`],
    ['a string that holds an import and a comment', `"import /* x */ y"`],
    ['a template that holds an eval', '`eval(x) and $' + '{1 + 1} import (y)`'],
    ['a regular expression for html comments', `/<!--(.*?)-->/u.test("<!-- x -->")`],
    ['a character class that spans a range', `/[+-->]/.test("-")`],
    ['an escaped angle bracket', `"\\<!-- x"`],
    ['a method named import', `({ import(x) { return x } }).import(2)`],
    ['a method named eval, called optionally', `({ eval(x) { return x } })?.eval(3)`],
    ['a countdown arrow', `(() => { let n = 3, seen = 0; while (n-->0) seen++; return seen })()`],
    ['comments of both kinds', `/* import('x') */ 4 // eval(x)\n`],
  ])('keeps the meaning of %s', (_what, code) => {
    const evaded = evade(`(${code}\n)`);
    expect(evaded.findings).toEqual([]);
    expect(evaded.code).not.toMatch(refused);
    expect(evaluated(evaded.code)).toEqual(evaluated(`(${code}\n)`));
  });

  it('keeps the value of every string and the number of every line', () => {
    const hostile = fc.array(
      fc.constantFrom('import', 'eval', '(', ' ', '<!--', '-->', '\\', '"', '\n', '/*', 'é', '`'),
    );
    fc.assert(
      fc.property(hostile, (parts) => {
        const text = parts.join('');
        const source = `[${JSON.stringify(text)}, \`${text.replace(/[\\`]/g, '\\$&')}\`, /* ${text.replaceAll('*/', '')} */ 1]`;
        const evaded = evade(source).code;
        expect(evaded).not.toMatch(refused);
        expect(evaluated(evaded)).toEqual(evaluated(source));
        expect(evaded.split('\n')).toHaveLength(source.split('\n').length);
      }),
    );
  });

  it('names the line of a real dynamic import and of a direct eval', () => {
    const { findings } = evade('const a = 1;\nconst b = import("x");\n(() => eval("a"))();');
    expect(findings.map(({ line }) => line)).toEqual([2, 3]);
  });
});
