import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runPlugin, scriptedBrowser, stubEvaluator } from '../../../sdk/testing/index.ts';
import { buildArtifact, packArtifact } from './artifact.ts';
import { runAuthorTests } from './author-tests.ts';
import { checkPlugin } from './check.ts';
import { runOnce } from './dev.ts';
import { scaffold } from './scaffold.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plugin-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const plugin = (name = 'mine'): string => {
  scaffold(join(folder, name), name);
  return join(folder, name);
};
const change = (file: string, from: string | RegExp, to: string): void => {
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(file, text.replace(from, to));
};
const lineOf = (file: string, text: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text)) + 1;

describe('a new plugin', () => {
  it('is ready for the sandbox as it is', async () => {
    const { manifest, findings, startMs } = await checkPlugin(plugin());
    expect(manifest).toMatchObject({ id: 'mine', adapter: 'browser' });
    expect(findings).toEqual([]);
    expect(startMs).toBeGreaterThan(0);
  });

  it('is not made over something else', () => {
    const directory = plugin();
    expect(() => scaffold(directory, 'mine')).toThrow('not empty');
  });

  it('passes its own tests, and fails them once it is broken', async () => {
    const directory = plugin();
    const io = () => ({
      stdout: new PassThrough().resume(),
      stderr: new PassThrough().resume(),
      signal: new AbortController().signal,
    });
    expect(await runAuthorTests(directory, io())).toBe(0);
    change(join(directory, 'index.ts'), 'await browser.release();', '');
    expect(await runAuthorTests(directory, io())).toBe(1);
  });

  it('shows its decisions on the page that came with it', async () => {
    const lines: string[] = [];
    await runOnce(plugin(), (line) => lines.push(line));
    expect(lines).toEqual(
      expect.arrayContaining([expect.stringMatching(/^decide {2}target: buy 0\.80/), 'page    page_click buy']),
    );
  });
});

describe('plugin check', () => {
  it.each([
    [
      'a module of Node',
      /^/,
      "import { readFileSync } from 'node:fs';\nreadFileSync('x');\n",
      'readFileSync }',
      /"fs" belongs to Node/,
    ],
    ['a dynamic import', 'async run(', "late: () => import(String('x')),\n  async run(", 'late:', /import\(\)/],
    ['a direct eval', 'async run(', "late: () => eval('1'),\n  async run(", 'late:', /eval\(\)/],
    [
      'process',
      'async run(raw, ctx) {',
      'async run(raw, ctx) {\n    ctx.log.info(process.env.HOME);',
      'process.env',
      /"process" does not exist/,
    ],
    [
      'fetch',
      'async run(raw, ctx) {',
      "async run(raw, ctx) {\n    await fetch('http://a');",
      'await fetch',
      /"fetch" does not exist/,
    ],
    [
      'a facet that is not asked for',
      'async run(raw, ctx) {',
      "async run(raw, ctx) {\n    await ctx.storage.get('a');",
      'ctx.storage',
      /ctx\.storage is used/,
    ],
    ['a throw at the start', /^/, "throw new Error('not yet');\n", 'not yet', /not yet/],
    ['a mistake in the language', /^/, 'const const = 1;\n', 'const const', /.+/],
  ])('names file, line and problem of %s', async (_what, from, to, marker, problem) => {
    const directory = plugin();
    const file = join(directory, 'index.ts');
    change(file, from, to);
    const { findings } = await checkPlugin(directory);
    expect(findings[0]).toMatchObject({ level: 'error', file: 'index.ts', line: lineOf(file, marker) });
    expect(findings[0]!.problem).toMatch(problem);
    expect(findings[0]!.mend).not.toBe('');
  });

  it('lets code ask whether a name exists', async () => {
    const directory = plugin();
    change(
      join(directory, 'index.ts'),
      'async run(raw, ctx) {',
      "async run(raw, ctx) {\n    if (typeof process === 'object') throw new Error('outside');",
    );
    expect((await checkPlugin(directory)).findings).toEqual([]);
  });

  it('warns of a capability that is asked for and not used', async () => {
    const directory = plugin();
    change(
      join(directory, 'plugin.json'),
      '"random"',
      '"storage": { "reason": "Might be good to have." },\n    "random"',
    );
    expect((await checkPlugin(directory)).findings).toMatchObject([
      { level: 'warning', problem: expect.stringContaining('storage') },
    ]);
  });

  it('names the entry of plugin.json that is wrong', async () => {
    const directory = plugin();
    change(join(directory, 'plugin.json'), '"kind": "controller"', '"kind": "daemon"');
    expect((await checkPlugin(directory)).findings).toMatchObject([
      { file: 'plugin.json', problem: expect.stringMatching(/^kind: /) },
    ]);
  });
});

describe('what an author delivers', () => {
  it('runs like the sources, without them', async () => {
    const { directory } = await buildArtifact(plugin());
    cpSync(directory, join(folder, 'delivered'), { recursive: true });
    const browser = scriptedBrowser({
      pages: { shop: { url: 'http://a.example/', elements: [{ ref: 'buy', label: 'Buy' }] } },
    });
    const result = await runPlugin({
      plugin: join(folder, 'delivered'),
      tier: 'worker',
      input: { contractVersion: 1, goal: 'Buy it', scope: browser.scope },
      ports: { evaluate: stubEvaluator(), callTool: browser.callTool },
    });
    expect(result).toMatchObject({ reason: 'COMPLETION_CANDIDATE' });
    expect((await checkPlugin(join(folder, 'delivered'))).findings).toEqual([]);
  });

  it('is the same bytes for the same sources, in one archive', async () => {
    const directory = plugin();
    const first = await packArtifact(directory, directory);
    const second = await packArtifact(directory, folder);
    expect(second.sha256).toBe(first.sha256);
    const archive = gunzipSync(readFileSync(first.file));
    expect(archive.toString('latin1')).toContain('mine/plugin.json');
    expect(archive.length % 512).toBe(0);
  });
});
