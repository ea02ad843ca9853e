/**
 * Programs against TypeSafe's own service. It costs a few evaluations and sends made-up texts only, so it runs when it is
 * asked for: `JEV_HOST_LIVE=1 npx vitest run test/live`, with the key in TYPESAFE_API_KEY or the file that
 * JEV_HOST_LIVE_KEY_FILE names. JEV_HOST_LIVE_BASE_URL names a loopback server that stands in for the service.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent, startJevHost } from '../../scripts/demo/stack.mjs';
import { program } from '../support/programs.ts';

const hostKey = randomBytes(24).toString('base64url');
let folder: string;
let host: Awaited<ReturnType<typeof startJevHost>>;
let agent: Awaited<ReturnType<typeof connectAgent>>;

beforeAll(async () => {
  const { JEV_HOST_LIVE_KEY_FILE: file, JEV_HOST_LIVE_BASE_URL: baseUrl, TYPESAFE_API_KEY: variable } = process.env;
  const key = file === undefined ? variable : readFileSync(file, 'utf8').trim();
  if (!key) throw new Error('Set TYPESAFE_API_KEY, or JEV_HOST_LIVE_KEY_FILE to a file that holds the key.');
  folder = mkdtempSync(join(tmpdir(), 'jev-host-live-'));
  writeFileSync(join(folder, 'jev.key'), key, { mode: 0o600 });
  const sha256 = createHash('sha256').update(hostKey).digest('hex');
  const config = {
    dataDir: join(folder, 'data'),
    gateway: {
      api: { port: 0, keys: [{ id: 'live', sha256, agents: ['assistant'], access: 'write' }] },
      jev: {
        ...{ enabled: true, provider: 'typesafe', model: 'jev-latest', apiKeyFile: join(folder, 'jev.key') },
        ...(baseUrl === undefined ? {} : { baseUrl }),
      },
    },
    agents: [{ id: 'assistant' }],
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  host = await startJevHost(['serve', '--config', join(folder, 'config.json')]);
  agent = await connectAgent(host.url, hostKey);
}, 120_000);

afterAll(async () => {
  await agent?.client.close();
  await host?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const call = (name: string, args: Record<string, unknown>) =>
  // biome-ignore lint/suspicious/noExplicitAny: tests read deep into what came back
  agent.call(name, args) as Promise<any>;
const judging = { requires: ['jev.evaluate'] };

describe('programs and the service itself', () => {
  it('ask all three kinds of question and get answers of their shape', async () => {
    const code = `
      const { answers } = await jev.evaluate({
        state: { message: 'Please refund the duplicate charge on my invoices.' },
        questions: {
          team: { type: 'choice', instructions: 'Which team should handle the request in message?',
            criteria: { billing: 'Invoices, charges, refunds', technical: 'Broken software', other: 'None of these' } },
          refund: { type: 'noul', instructions: 'Does message explicitly ask for a refund?' },
          tone: { type: 'score', instructions: 'How friendly is message?', criteria: ['Hostile', 'Neutral', 'Friendly'] },
        },
      } as const);
      return [answers.team, answers.refund, answers.tone];`;
    const run = await call('jev_run', { program: program(code, judging) });
    expect(run.error).toBeUndefined();
    const [team, refund, tone] = run.result;
    expect(team.choice).toBe('billing');
    expect(Object.keys(team.probabilities).sort()).toEqual(['billing', 'other', 'technical']);
    expect(refund.noul).toBeGreaterThanOrEqual(0);
    expect(refund.noul).toBeLessThanOrEqual(1);
    expect(tone.score).toBeGreaterThanOrEqual(0);
    expect(tone.score).toBeLessThanOrEqual(2);
    expect(run).toMatchObject({ state: 'completed', evaluations: 1 });
  });

  it.each(['jev_run', 'jev_spawn'])('judge in a loop: %s', async (tool) => {
    const code = `
      const routes: string[] = [];
      for (const text of ['Refund my invoices', 'The software is broken']) {
        const { answers } = await jev.evaluate({ state: text, questions: {
          route: { type: 'choice', instructions: 'Which team handles it?',
            criteria: { billing: 'Invoices and refunds', technical: 'Broken software' } } } } as const);
        routes.push(answers.route.choice);
        await program.emit({ done: routes.length });
      }
      return routes;`;
    const started = await call(tool, { program: program(code, judging) });
    const run = tool === 'jev_run' ? started : await call('jev_wait', { id: started.id });
    expect(run).toMatchObject({ state: 'completed', result: ['billing', 'technical'], evaluations: 2 });
  });

  it('steer by what they see: a screen that changes, and only controls that are on it', async () => {
    const code = `
      const screens: { title: string; controls: Record<string, string> }[] = [
        { title: 'Draft', controls: { b7: 'Save the draft', b9: 'Delete everything' } },
        { title: 'Save the draft?', controls: { c1: 'Confirm that it is saved', c2: 'Cancel' } },
        { title: 'Saved', controls: {} },
      ];
      const pressed: string[] = [];
      for (const screen of screens) {
        if (screen.title === 'Saved') break;
        const { answers } = await jev.evaluate({ state: screen, questions: {
          next: { type: 'choice', instructions: 'The draft is to be saved. Which control of the screen confirms or saves it?',
            criteria: { ...screen.controls, none: 'No control fits' } } } });
        const id = answers.next.choice;
        if (!(id in screen.controls)) return { pressed, stopped: id };
        pressed.push(id);
        await program.sleep(0);
      }
      return { pressed };`;
    const run = await call('jev_run', { program: program(code, judging) });
    expect(run.error).toBeUndefined();
    expect(run.result).toEqual({ pressed: ['b7', 'c1'] });
  });
});
