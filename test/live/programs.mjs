/**
 * Programs against the real provider. Costs a little money, so nothing runs it by itself:
 *
 *   JEV_HOST_LIVE=1 TYPESAFE_API_KEY=… node test/live/programs.mjs
 *
 * Only synthetic texts are sent, and neither they nor any credential are printed. JEV_HOST_LIVE_BASE_URL rehearses it
 * against a stand-in.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAgent, startJevHost } from '../../scripts/demo/stack.mjs';

if (process.env.JEV_HOST_LIVE !== '1') {
  console.error('Set JEV_HOST_LIVE=1 to run this against the provider. It costs a little money.');
  process.exit(2);
}
const secret = process.env.TYPESAFE_API_KEY;
if (!secret) throw new Error('TYPESAFE_API_KEY is not set.');

const folder = mkdtempSync(join(tmpdir(), 'jev-host-live-'));
const key = randomBytes(24).toString('base64url');
writeFileSync(join(folder, 'jev.key'), secret, { mode: 0o600 });
const config = {
  dataDir: join(folder, 'data'),
  gateway: {
    api: {
      port: 0,
      keys: [
        { id: 'live', sha256: createHash('sha256').update(key).digest('hex'), agents: ['assistant'], access: 'write' },
      ],
    },
    jev: {
      enabled: true,
      provider: 'typesafe',
      model: process.env.JEV_HOST_LIVE_MODEL ?? 'jev-latest',
      apiKeyFile: join(folder, 'jev.key'),
      timeoutMs: 15_000,
      ...(process.env.JEV_HOST_LIVE_BASE_URL ? { baseUrl: process.env.JEV_HOST_LIVE_BASE_URL } : {}),
    },
  },
  agents: [{ id: 'assistant' }],
};
writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
const host = await startJevHost(['serve', '--config', join(folder, 'config.json')]);
const agent = await connectAgent(host.url, key);
try {
  const primitives = {
    name: 'primitives',
    inputSchema: {},
    outputSchema: {},
    requires: ['jev.evaluate'],
    code: `const { answers } = await jev.evaluate({ state: { message: 'Please refund the duplicate charge.' }, questions: {
      team: { type: 'choice', instructions: 'Which team handles the request in message?',
        criteria: { billing: 'Invoices, charges, refunds', technical: 'Broken software', other: 'Neither' } },
      refund: { type: 'noul', instructions: 'Does message ask for a refund?' },
      anger: { type: 'score', instructions: 'How angry is message?', criteria: ['calm', 'annoyed', 'furious'] },
    } });
    return { team: answers.team.choice, refund: answers.refund.noul, anger: answers.anger.score };`,
  };
  const run = await agent.call('jev_run', { program: primitives });
  assert.equal(run.state, 'completed', run.error);
  assert.equal(run.result.team, 'billing');
  assert.ok(run.result.refund >= 0 && run.result.refund <= 1 && run.result.anger >= 0 && run.result.anger <= 2);
  console.log('foreground: choice, noul and score were answered');

  const { codeFile, input, ...route } = JSON.parse(
    readFileSync(new URL('../../docs/examples/programs/route-tickets.json', import.meta.url), 'utf8'),
  );
  route.code = readFileSync(new URL(`../../docs/examples/programs/${codeFile}`, import.meta.url), 'utf8');
  const task = await agent.call('jev_spawn', { program: route, input });
  const ended = await agent.call('jev_wait', { id: task.id });
  assert.equal(ended.state, 'completed', ended.error);
  assert.equal(ended.result.length, input.length);
  console.log('background: every ticket was routed');
  assert.ok(!JSON.stringify([run, ended, host.output()]).includes(secret), 'the credential was shown');
} finally {
  await agent.client.close();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
}
