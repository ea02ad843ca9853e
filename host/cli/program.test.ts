import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'program-command-'));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { stdout, stderr, stdin: new PassThrough(), env: {}, signal: new AbortController().signal };
  const code = await command.run(args, io);
  return { code, out: String(stdout.read() ?? ''), words: String(stderr.read() ?? '') };
}

describe('jev-host program check', () => {
  let good: string;
  let bad: string;
  beforeAll(() => {
    const artifact = { name: 'p', inputSchema: {}, outputSchema: {}, requires: [] };
    good = file('good.json', JSON.stringify({ ...artifact, code: 'return 1;' }));
    file('bad.ts', 'const a = 1;\nconst b: string = a;\nreturn b;');
    bad = file('bad.json', JSON.stringify({ ...artifact, codeFile: 'bad.ts' }));
  });

  it('exits with 0 when nothing is wrong', async () => {
    expect(await run('check', good)).toEqual({ code: 0, out: '', words: 'p: nothing is wrong.\n' });
  });

  it('names file, line and column of what is wrong, and exits with 1', async () => {
    const { code, out } = await run('check', bad);
    expect(code).toBe(1);
    expect(out).toMatch(/bad\.ts:2:7 .*\(TS2322\)\n$/);
    expect(JSON.parse((await run('check', bad, '--json')).out)).toMatchObject({
      diagnostics: [{ line: 2, column: 7, code: 2322 }],
    });
  });

  it('refuses what is no program file with a sentence', async () => {
    await expect(run('check', join(folder, 'none.json'))).rejects.toThrow(/cannot be read/);
    await expect(run('check', file('x.json', '{'))).rejects.toThrow(/is not JSON/);
    await expect(run('check', file('y.json', '{"name":"p"}'))).rejects.toMatchObject({ code: 'PROGRAM_INVALID' });
    await expect(run('build', good)).rejects.toThrow('There is no "program build".');
    await expect(run('check')).rejects.toThrow('Name the file.');
  });
});
