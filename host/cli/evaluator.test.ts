import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { jevHost } from '../../test/cli.ts';
import { runCommand } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'evaluator-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function whileServing(args: string[], use: (url: string) => Promise<void>): Promise<number> {
  const stop = new AbortController();
  const stdout = new PassThrough({ encoding: 'utf8' });
  const ended = runCommand(['evaluator', ...args], {
    stdout,
    stderr: new PassThrough().resume(),
    stdin: new PassThrough(),
    env: {},
    signal: stop.signal,
  });
  const [line] = await Promise.all([new Promise<string>((resolve) => stdout.once('data', resolve))]);
  const url = /^jev-host evaluator ready (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)?.[1];
  expect(url, line).toBeTruthy();
  await use(url ?? '');
  stop.abort();
  return ended;
}
const body = JSON.stringify({ model: 'jev-latest', state: 's', questions: { q: { type: 'noul', instructions: 'x' } } });
const post = (url: string) =>
  fetch(`${url}/v1/systemone`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

describe('jev-host evaluator', () => {
  it('says when it is ready, answers, and ends when it is asked to', async () => {
    const code = await whileServing(['--engine', 'lexical', '--port', '0'], async (url) => {
      expect((await post(url)).status).toBe(200);
    });
    expect(code).toBe(0);
  });

  it('answers from a file of rules', async () => {
    const rules = join(folder, 'rules.json');
    writeFileSync(rules, JSON.stringify({ rules: [{ answer: 0.125 }] }));
    await whileServing(['--engine', 'script', '--rules', rules], async (url) => {
      expect(await (await post(url)).json()).toMatchObject({ answers: { q: { noul: 0.125 } } });
    });
  });

  it('breaks the next answers and then heals', async () => {
    await whileServing(['--fault', 'status-503:1'], async (url) => {
      expect([(await post(url)).status, (await post(url)).status]).toEqual([503, 200]);
    });
  });

  it('lists its faults, one a line', async () => {
    const { stdout } = await jevHost(['evaluator', '--list-faults']);
    expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(40);
  });

  it('says plainly that the lexical engine is no model', async () => {
    expect((await jevHost(['evaluator', '--help'])).stdout).toMatch(/A rehearsal, not a model/);
  });

  it.each([
    [['--engine', 'magic'], /lexical, script, openai/],
    [['--engine', 'script'], /--rules is needed/],
    [['--rules', '/nowhere'], /belongs to --engine script/],
    [['--engine', 'script', '--rules', '/nowhere'], /cannot be read/],
    [['--engine', 'openai'], /--openai-url is needed/],
    [['--engine', 'openai', '--openai-url', 'x'], /http or https/],
    [['--fault', 'nonsense'], /no fault "nonsense"/],
    [['--port', '70000'], /0 to 65535/],
    [['--speed', '3'], /speed/],
  ])('refuses %j', async (args, says) => {
    const { code, stderr } = await jevHost(['evaluator', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });

  it('names the place of a rule that is wrong', async () => {
    const rules = join(folder, 'wrong.json');
    writeFileSync(rules, JSON.stringify({ rules: [{ answer: 'x' }, { answer: 'x', times: 0 }] }));
    const { code, stderr } = await jevHost(['evaluator', '--engine', 'script', '--rules', rules]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/rules\.1\.times/);
  });
});
