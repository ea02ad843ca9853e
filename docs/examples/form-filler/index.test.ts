import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conformance, runPlugin, type ScriptedPage, scriptedBrowser, stubEvaluator } from 'jev-host/sdk/testing';

const pages: Record<string, ScriptedPage> = {
  form: {
    url: 'http://shop.example/delivery',
    elements: [
      { ref: 'name', label: 'Your name', tag: 'input' },
      { ref: 'city', label: 'Town', tag: 'input' },
      {
        ref: 'country',
        label: 'Country',
        options: [
          { ref: 'at', label: 'Austria' },
          { ref: 'th', label: 'Thailand' },
        ],
      },
      { ref: 'send', label: 'Place order' },
    ],
  },
};
const fields = [
  { label: 'Name', text: 'Ada' },
  { label: 'Country', text: 'Thailand' },
];
const plugin = import.meta.dirname;
const answers = { field_1: '1', field_2: 'NONE', field_3: '2' };

for (const tier of ['inline', 'worker'] as const) {
  test(`fills what it was given, asks for what is missing, and sends nothing (${tier})`, async () => {
    const browser = scriptedBrowser({ pages });
    const asked: string[] = [];
    const result = await runPlugin({
      plugin,
      tier,
      input: { contractVersion: 1, goal: 'Fill the form', scope: browser.scope, fields },
      ports: {
        evaluate: stubEvaluator(answers),
        callTool: browser.callTool,
        ask: async ({ text }) => {
          asked.push(text);
          return 'Chiang Mai';
        },
      },
    });
    assert.deepEqual(asked, ['What belongs into "Town"?']);
    assert.deepEqual(
      [...browser.state.values],
      [
        ['name', 'Ada'],
        ['city', 'Chiang Mai'],
        ['country', 'Thailand'],
      ],
    );
    assert.deepEqual(browser.done, ['page_type name', 'page_type city', 'page_select country']);
    assert.equal((result as { reason: string }).reason, 'COMPLETION_CANDIDATE');
  });
}

test('opens the address that the task begins at, and does nothing where it may not', async () => {
  const start = { blank: { url: 'http://start.example/' }, ...pages };
  const run = async (startUrl: string) => {
    const browser = scriptedBrowser({ pages: start });
    const input = { contractVersion: 1, goal: 'Fill the form', scope: browser.scope, fields, startUrl };
    const ports = { evaluate: stubEvaluator(answers), callTool: browser.callTool, ask: async () => 'Chiang Mai' };
    const result = (await runPlugin({ plugin, input, ports })) as { status: string; reason: string };
    return { done: browser.done, result };
  };
  const opened = await run('http://shop.example/delivery');
  assert.equal(opened.done.length, 4);
  assert.match(opened.done[0] ?? '', /^tab_navigate/);
  const refused = await run('http://elsewhere.example/');
  assert.deepEqual(refused.done, []);
  assert.equal(refused.result.reason, 'URL_NOT_ALLOWED');
});

test('asks nobody when the operator switched that off', async () => {
  const browser = scriptedBrowser({ pages });
  await runPlugin({
    plugin,
    tier: 'worker',
    features: { askForMissing: false },
    input: { contractVersion: 1, goal: 'Fill the form', scope: browser.scope, fields },
    ports: { evaluate: stubEvaluator(answers), callTool: browser.callTool },
  });
  assert.deepEqual([...browser.state.values.keys()], ['name', 'country']);
});

test('cannot click, whatever it tries: its manifest does not ask for it', async () => {
  const { readFileSync } = await import('node:fs');
  const manifest = JSON.parse(readFileSync(`${plugin}/plugin.json`, 'utf8'));
  assert.equal(manifest.capabilities['tools.call'].tools.includes('page_click'), false);
});

const kit = { plugin, pages, goal: 'Fill the form', answers: { ...answers, field_2: '1' }, input: { fields } };
for (const check of conformance(kit)) test(`conformance: ${check.name}`, check.run);
