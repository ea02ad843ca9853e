/** `jev-host plugin new`: a small controller that works, with a test and a page to try it on. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function scaffold(directory: string, id: string): string[] {
  if (existsSync(directory) && readdirSync(directory).length > 0) throw new Error(`${directory} is not empty.`);
  mkdirSync(directory, { recursive: true });
  const files: Record<string, string> = {
    'plugin.json': manifest(id),
    'index.ts': entry,
    'index.test.ts': test,
    'dev.json': devPage,
    'package.json': packageJson(id),
    'tsconfig.json': tsconfig,
    'README.md': readme(id),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return Object.keys(files);
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const manifest = (id: string): string =>
  json({
    id,
    version: '0.1.0',
    contract: 1,
    kind: 'controller',
    entry: 'index.ts',
    adapter: 'browser',
    capabilities: {
      'jev.evaluate': { reason: 'Decides which control on the page serves the goal.' },
      'tools.call': { reason: 'Reads the page and acts on it.' },
      random: { reason: 'Names each action, so that it is never done twice.' },
      log: { reason: 'Writes what it did for the operator.' },
    },
    limits: { memoryMb: 64, concurrentRuns: 4, runDeadlineMs: 60_000 },
  });

const entry = `import { BrowserRunInput, type Dispatched, defineController, remoteBrowser } from 'jev-host/sdk';
import * as v from 'valibot';
import manifest from './plugin.json' with { type: 'json' };

/** Goes to the task's first page, clicks the one control there that serves the goal, and says what came of it. */
export default defineController(manifest, {
  async run(raw, ctx) {
    const { goal, scope, startUrl } = v.parse(BrowserRunInput, raw);
    const uuid = () => ctx.random.uuid();
    const browser = remoteBrowser(ctx.tools, scope, { uuid });
    let evaluations = 0;
    const lease = await browser.acquire();
    if (!lease.ok) return report('blocked', lease.code);
    try {
      if (startUrl !== undefined) {
        const operationId = uuid();
        const opened = await browser.navigate(operationId, { url: startUrl });
        if (opened.outcome !== 'confirmed') return after('NAVIGATE', operationId, opened);
      }
      const page = await browser.observe();
      if (!page.ok) return report('blocked', page.code);
      const controls = page.value.elements.filter(({ operations }) => operations.includes('CLICK'));
      const decision = await ctx.jev.evaluate({
        state: { goal, page: page.value.text },
        questions: {
          target: {
            type: 'choice',
            instructions: 'Which control serves the goal?',
            criteria: Object.fromEntries([...controls.map(({ ref, label }) => [ref, label]), ['NONE', 'None of them']]),
          },
        },
      });
      const ref = decision.answers.target.choice;
      evaluations = 1;
      if (ref === 'NONE') return report('blocked', 'LOW_TARGET_CONFIDENCE');
      const operationId = uuid();
      const done = await browser.click(operationId, { ref, generation: page.value.generation });
      ctx.log.info(\`\${done.outcome}: \${ref}\`);
      return after('CLICK', operationId, done);
    } finally {
      await browser.release();
    }

    // Three things can come of an action. What is unknown is never tried again.
    function after(operation: string, operationId: string, done: Dispatched) {
      const lastAction = { operationId, operation, outcome: done.outcome };
      if (done.outcome === 'confirmed') return report('needs_verification', 'COMPLETION_CANDIDATE', lastAction);
      if (done.outcome === 'unknown') return report('needs_verification', 'OUTCOME_UNKNOWN', lastAction);
      return report('blocked', done.code, lastAction);
    }

    function report(status: 'blocked' | 'needs_verification', reason: string, lastAction?: { outcome: string }) {
      const steps = lastAction?.outcome === 'confirmed' ? 1 : 0;
      const counts = { steps, evaluations, staleRetries: 0, textCalls: 0 };
      return { contractVersion: 1, status, reason, ...counts, ...(lastAction ? { lastAction } : {}) };
    }
  },
});
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runPlugin, scriptedBrowser, stubEvaluator } from 'jev-host/sdk/testing';

for (const tier of ['inline', 'worker'] as const) {
  test(\`goes to the page and clicks the control that was chosen (\${tier})\`, async () => {
    const browser = scriptedBrowser({
      pages: {
        start: { url: 'http://start.example/' },
        shop: { url: 'http://shop.example/', elements: [{ ref: 'buy', label: 'Buy', goto: 'thanks' }] },
        thanks: { url: 'http://shop.example/thanks', text: 'Thank you' },
      },
    });
    const result = await runPlugin({
      plugin: import.meta.dirname,
      tier,
      input: { contractVersion: 1, goal: 'Buy it', scope: browser.scope, startUrl: 'http://shop.example/' },
      ports: { evaluate: stubEvaluator({ target: 'buy' }), callTool: browser.callTool },
    });
    assert.equal((result as { reason: string }).reason, 'COMPLETION_CANDIDATE');
    assert.deepEqual(browser.done, ['tab_navigate http://shop.example/', 'page_click buy']);
    assert.equal(browser.leaseHeld(), false);
  });
}
`;

const devPage = json({
  input: { goal: 'Buy it' },
  pages: {
    shop: {
      url: 'http://shop.example/',
      text: 'One thing is for sale.',
      elements: [
        { ref: 'buy', label: 'Buy', goto: 'thanks' },
        { ref: 'leave', label: 'Leave' },
      ],
    },
    thanks: { url: 'http://shop.example/thanks', text: 'Thank you' },
  },
  answers: { target: { buy: 0.8, leave: 0.1, NONE: 0.1 } },
});

const packageJson = (id: string): string =>
  json({
    name: id,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { check: 'jev-host plugin check', test: 'jev-host plugin test', build: 'jev-host plugin build' },
    devDependencies: { 'jev-host': '*', valibot: '^1.5.0' },
  });

const tsconfig = json({
  compilerOptions: {
    target: 'es2022',
    lib: ['es2023'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    resolveJsonModule: true,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  },
  include: ['*.ts'],
});

const readme = (id: string): string => `# ${id}

    jev-host plugin check    is it ready for the sandbox?
    jev-host plugin test     run its tests
    jev-host plugin dev      run it on the page in dev.json, again after every change
    jev-host plugin build    make build/, which is what an operator is given
`;
