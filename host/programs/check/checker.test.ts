import { describe, expect, it } from 'vitest';
import { declarationsFor } from '../../../plugins/programs/declarations.ts';
import { Checker } from './checker.ts';

const checker = new Checker();
const granted = (more: Partial<Parameters<typeof declarationsFor>[0]> = {}) =>
  declarationsFor({ inputSchema: {}, requires: ['jev.evaluate'], tools: [], observes: false, ...more });
const check = (code: string, more: Parameters<typeof granted>[0] = {}) =>
  checker.check({ declarations: granted(more), code });
const places = (code: string, more: Parameters<typeof granted>[0] = {}) =>
  check(code, more).diagnostics.map(({ line, column, code: number }) => [line, column, number]);

const ask = `const { answers } = await jev.evaluate({ state: 's', questions: {
  pick: { type: 'choice', instructions: 'Which?', criteria: { a: 'A', b: null } },
  sure: { type: 'noul', instructions: 'Is it?' },
  level: { type: 'score', instructions: 'How much?', criteria: ['none', 'some', 'all'] },
} });\n`;

describe('answers are typed by their questions', () => {
  it('a choice is one of the options that were written', () => {
    expect(places(`${ask}const pick: 'a' | 'b' = answers.pick.choice; return pick;`)).toEqual([]);
    expect(places(`${ask}const pick: 'a' = answers.pick.choice; return pick;`)).toEqual([[6, 7, 2322]]);
    expect(places(`${ask}if (answers.pick.choice === 'c') return 1; return 0;`)).toEqual([[6, 5, 2367]]);
    expect(places(`${ask}return answers.pick.probabilities.c;`)).toEqual([[6, 35, 2339]]);
  });

  it('a noul is a number, a score has one', () => {
    expect(places(`${ask}const sum: number = answers.sure.noul + answers.level.score; return sum;`)).toEqual([]);
    expect(places(`${ask}return answers.sure.confidence;`)).toEqual([[6, 21, 2339]]);
  });

  it('a question that was not asked has no answer', () => {
    expect(places(`${ask}return answers.other;`)).toEqual([[6, 16, 2339]]);
  });

  it('questions that are built in a loop are typed too', () => {
    const code = `const questions = Object.fromEntries(['x', 'y'].map((id) => [id, { type: 'choice' as const, instructions: id, criteria: { yes: null, no: null } }]));
const { answers } = await jev.evaluate({ state: {}, questions });
const said: 'yes' | 'no' | undefined = answers['x']?.choice; return said ?? null;`;
    expect(places(code)).toEqual([]);
  });

  it('a question of an unknown type is a finding', () => {
    const [found] = check(
      `await jev.evaluate({ state: 's', questions: { q: { type: 'text', instructions: 'x' } } }); return null;`,
    ).diagnostics;
    expect(found?.line).toBe(1);
  });
});

describe('a program is checked against what it was granted', () => {
  it('jev is there only when it was required', () => {
    expect(places('return await jev.evaluate({ state: 1 as never, questions: {} });', { requires: [] })).toEqual([
      [1, 14, 2304],
    ]);
  });

  const tools = [
    {
      ref: 'shop.find',
      inputSchema: {
        type: 'object',
        properties: { q: { type: 'string' }, most: { type: 'integer' } },
        required: ['q'],
      },
      outputSchema: {
        type: 'object',
        properties: { ids: { type: 'array', items: { type: 'string' } } },
        required: ['ids'],
      },
    },
    { ref: 'shop.close' },
  ];
  const shop = { requires: ['shop.find', 'shop.close'], tools } as never;

  it('tools have the types of their schemas, both ways of calling', () => {
    expect(
      places(`const { ids } = await shop.find({ q: 'x' }); return ids.map((id) => id.toUpperCase());`, shop),
    ).toEqual([]);
    expect(
      places(`const { ids } = await tools.call({ ref: 'shop.find', args: { q: 'x' } }); return ids[0];`, shop),
    ).toEqual([]);
    expect(places(`await shop.find({}); return null;`, shop)).toEqual([[1, 17, 2345]]);
    expect(places(`await shop.find({ q: 4 }); return null;`, shop)).toEqual([[1, 19, 2322]]);
    expect(places(`await shop.close(); await shop.close({ any: 1 }); return null;`, shop)).toEqual([]);
    expect(places(`await shop.open(); return null;`, shop)).toEqual([[1, 12, 2339]]);
  });

  it('input has the type of its schema', () => {
    const inputSchema = {
      type: 'object',
      properties: { n: { type: 'number' }, who: { enum: ['a', 'b'] } },
      required: ['n'],
      additionalProperties: false,
    };
    expect(places('return input.n + 1;', { inputSchema })).toEqual([]);
    expect(places(`const who: 'a' | 'b' = input.who; return who;`, { inputSchema })).toEqual([]);
    expect(places('return input.n.length;', { inputSchema })).toEqual([[1, 16, 2339]]);
    expect(places('return input.m;', { inputSchema })).toEqual([[1, 14, 2339]]);
  });

  it('observation is there only for programs that observe', () => {
    const code = 'const event = await program.nextEvent(); return event.id;';
    expect(places(code, { observes: true })).toEqual([]);
    expect(places(code)).toEqual([[1, 29, 2339]]);
  });

  it('there is no DOM, no process and no module', () => {
    expect(places('return window.name;')).toEqual([[1, 8, 2304]]);
    expect(places('return [typeof process, typeof fetch];')).toEqual([]);
    expect(check(`import fs from 'node:fs'; return fs;`).diagnostics.length).toBeGreaterThan(0);
    expect(check(`const fs = await import('node:fs'); return fs;`).diagnostics.map(({ code }) => code)).toEqual([2307]);
  });

  it('a description cannot add a declaration', () => {
    const evil = [
      {
        ref: 'a.b',
        description: '*/ declare const process: { exit(): void }; /*',
        inputSchema: { type: 'object', properties: { 'x": any }; declare const evil: any; type Y = { "y': {} } },
      },
    ];
    expect(places('return evil;', { requires: ['a.b'], tools: evil as never })).toEqual([[1, 8, 2304]]);
  });
});

describe('findings', () => {
  it('name line and column of the program, and come at most twenty', () => {
    expect(places('\n\n  const a: number = "x";\nreturn a;')).toEqual([[3, 9, 2322]]);
    const many = Array.from({ length: 40 }, (_, n) => `const a${n}: number = 'x';`).join('\n');
    expect(check(many).diagnostics).toHaveLength(20);
  });

  it('of the syntax come first and alone, within the program’s lines', () => {
    for (const code of ['return (', 'const = 4;', '}', 'if (', '});(async () => {', '`']) {
      const { diagnostics, javascript } = check(code);
      expect(javascript === undefined || code === '});(async () => {').toBe(true);
      for (const { line } of diagnostics) expect(line).toBe(1);
    }
  });

  it('are made of comments that switch the check off', () => {
    for (const comment of [
      '// @ts-ignore',
      '/* @ts-nocheck */',
      '// @ts-expect-error',
      '/// <reference lib="dom" />',
    ]) {
      const { diagnostics } = check(`${comment}\nconst a: number = 'x'; return a;`);
      expect(diagnostics).toMatchObject([{ line: 1, code: 0 }]);
    }
  });

  it('of a long type are cut', () => {
    const type = Array.from({ length: 200 }, (_, n) => `'option number ${n}'`).join(' | ');
    const [found] = check(`const a: ${type} = 'x'; return a;`).diagnostics;
    expect(found?.message.length).toBeLessThanOrEqual(300);
  });
});

describe('the JavaScript of a program', () => {
  it('is an expression that yields the async function, without types', async () => {
    const { javascript } = check(
      'interface A { n: number }\nconst a: A = { n: 4 };\nenum E { X = 2 }\nreturn (a as A).n + E.X;',
    );
    expect(javascript).not.toMatch(/interface|: A\b/);
    const main = new Function(`return ${javascript?.replace('"use strict";', '').trim()}`)();
    expect(await main()).toBe(6);
  });

  it('of one program knows nothing of the one before it', () => {
    check('const left = 1; return left;');
    expect(places('return left;')).toEqual([[1, 8, 2304]]);
  });
});
