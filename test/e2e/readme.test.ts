import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import { runPlugin, scriptedBrowser, stubEvaluator } from '../../sdk/testing/index.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const block = (language: string): string => {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`The README has no ${language} block.`);
  return found;
};

let folder: string;

beforeAll(() => {
  // Inside the project, where the package's own name resolves as it does for a plugin author who installed it.
  mkdirSync(join(root, '.data'), { recursive: true });
  folder = mkdtempSync(join(root, '.data', 'readme-plugin-'));
  writeFileSync(join(folder, 'plugin.json'), block('json'));
  writeFileSync(join(folder, 'index.ts'), block('ts'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the README's plugin", () => {
  async function run(choice: 'decline' | 'NONE') {
    const browser = scriptedBrowser({
      pages: {
        shop: {
          url: 'https://shop.example/',
          text: 'We use cookies.',
          elements: [
            { ref: 'e1', label: 'Accept all', operations: ['CLICK'] },
            { ref: 'e2', label: 'Only necessary', operations: ['CLICK'], goto: 'closed' },
          ],
        },
        closed: { url: 'https://shop.example/', text: 'Welcome.' },
      },
    });
    const result = await runPlugin({
      plugin: folder,
      tier: 'worker',
      input: { scope: browser.scope },
      ports: { callTool: browser.callTool, evaluate: stubEvaluator({ button: choice === 'NONE' ? 'NONE' : 'e2' }) },
    });
    return { result: v.parse(BrowserRunResult, result), browser };
  }

  it('runs in the sandbox, presses the chosen button once, and claims no more than a candidate', async () => {
    const { result, browser } = await run('decline');
    expect(result).toMatchObject({
      status: 'needs_verification',
      reason: 'COMPLETION_CANDIDATE',
      lastAction: { outcome: 'confirmed' },
    });
    expect(browser.state.page).toBe('closed');
  });

  it('presses nothing when no button fits', async () => {
    const { result, browser } = await run('NONE');
    expect(result).toMatchObject({ status: 'blocked', reason: 'NO_SUPPORTED_ACTION' });
    expect(browser.state.page).toBe('shop');
  });
});
