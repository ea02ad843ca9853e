import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BINDING,
  fixtureConfig,
  fixtureFolder,
  startCallbackEvaluator,
  startFixtureHost,
  untilSettled,
} from '../../scripts/fixtures/host.mjs';
import { startSyntheticDevice } from '../../scripts/fixtures/synthetic-device.mjs';
import { scriptedEvaluator } from '../../sdk/testing/index.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const KEY = 'canary-key-of-the-text-model';
const pages = {
  form: {
    url: 'https://site.example/',
    title: 'Letter',
    text: 'Write to us',
    elements: [
      { ref: 'd', label: 'Destination', tag: 'input' },
      { ref: 's', label: 'Send', goto: 'thanks' },
    ],
  },
  thanks: { url: 'https://site.example/thanks', title: 'Thanks', text: 'Sent to London' },
};

/** A text model behind HTTP; answers by what the rules of the question ask for. */
async function startModel(answers: Record<string, string>) {
  const seen: { headers: IncomingMessage['headers']; text: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    seen.push({ headers: request.headers, text });
    const content = Object.entries(answers).find(([member]) => text.includes(`{\\"${member}\\":`))?.[1];
    response.writeHead(content === undefined ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

async function run(answers: Record<string, string>) {
  const { folder, remove } = fixtureFolder();
  ends.push(remove);
  const model = await startModel(answers);
  const device = await startSyntheticDevice(folder, { pages });
  ends.push(() => device.close());
  const steps = scriptedEvaluator([
    { operation: 'TYPE_TEXT', type_text_target: 'd' },
    { operation: 'CLICK', click_target: 's' },
    { operation: 'DONE' },
  ]);
  const evaluator = await startCallbackEvaluator(steps);
  ends.push(() => evaluator.close());
  const apiKeyFile = join(folder, 'model.key');
  writeFileSync(apiKeyFile, KEY, { mode: 0o600 });
  const { endpoint, apiKeyFile: deviceKey, scope } = device;
  const host = await startFixtureHost(
    fixtureConfig({
      folder,
      evaluatorUrl: evaluator.url,
      endpoint,
      apiKeyFile: deviceKey,
      scope,
      jev: { thinking: { baseUrl: model.url, model: 'small-text', apiKeyFile } },
    }),
  );
  ends.push(() => host.stop());
  await host.agent.call('capabilities_list', { scope: 'browser' });
  const { task } = (await host.agent.call('task_spawn', {
    title: 'Letter',
    instructions: 'Send the letter to the capital of England.',
    target_profile: 'gateway-managed',
    gateway_target: { adapter: 'browser', session_id: BINDING },
  })) as { task: { taskId: string } };
  return { task: await untilSettled(host.agent, task), model, device };
}

describe('Thinking, through the host', () => {
  it('fills a field that the goal determines, verifies the end, and completes the task', async () => {
    const { task, model, device } = await run({
      text: '{"text":"London"}',
      fits: '{"fits":true}',
      verified: '{"verified":true}',
    });
    expect(task).toMatchObject({
      state: 'completed',
      outcome: 'verified',
      browserReport: { reason: 'VERIFIED', textCalls: 1 },
    });
    expect(device.browser.state.values.get('d')).toBe('London');
    // The key went to the model, and nowhere else that can be seen.
    expect(model.seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify([task, device.browser.calls])).not.toContain(KEY);
  });

  it('asks the owner when it does not know, and types nothing', async () => {
    const { task, device } = await run({ text: '{"text":null}' });
    expect(task).toMatchObject({ state: 'waiting_input', pendingQuestion: { fieldLabel: 'Destination' } });
    expect(device.browser.done).toEqual([]);
  });

  it('reports a model that fails as a provider failure, not as a missing value', async () => {
    const { task, device } = await run({});
    expect(task.browserReport).toMatchObject({
      reason: 'BROWSER_TEXT_HTTP_503',
      providerFailure: { code: 'BROWSER_TEXT_HTTP_503', status: 503 },
    });
    expect(task).toMatchObject({ outcome: 'provider_failure' });
    expect(task.pendingQuestion).toBeUndefined();
    expect(device.browser.done).toEqual([]);
  });
});
