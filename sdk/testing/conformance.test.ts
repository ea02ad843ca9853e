import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { scaffold } from '../../host/plugins/authoring/scaffold.ts';
import { conformance } from './conformance.ts';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The plugin of `plugin new`, with one thing changed. @returns the names of the checks that it fails. */
async function failures(from?: string, to = ''): Promise<string[]> {
  const plugin = mkdtempSync(join(tmpdir(), 'conformance-'));
  made.push(plugin);
  scaffold(plugin, 'mine');
  const file = join(plugin, 'index.ts');
  const source = readFileSync(file, 'utf8');
  if (from !== undefined) {
    expect(source).toContain(from);
    writeFileSync(file, source.replace(from, to));
  }
  const pages = {
    shop: { url: 'http://shop.example/', elements: [{ ref: 'buy', label: 'Buy', goto: 'thanks' }] },
    thanks: { url: 'http://shop.example/thanks', text: 'Thank you' },
  };
  const failed: string[] = [];
  for (const check of conformance({ plugin, pages, goal: 'Buy it', answers: { target: 'buy' }, tier: 'inline' })) {
    await check.run().catch(() => failed.push(check.name));
  }
  return failed;
}

describe('the conformance kit', () => {
  it('finds nothing wrong with the controller that `plugin new` makes', async () => {
    expect(await failures()).toEqual([]);
  });

  it.each([
    ['keeps the lease', 'await browser.release();', '', /lease|acts on the page/],
    [
      'claims success',
      "report('needs_verification', 'COMPLETION_CANDIDATE'",
      "report('succeeded' as never, 'DONE'",
      /never claims success/,
    ],
    [
      'repeats an unknown action',
      'ctx.log.info(',
      'if (done.outcome === "unknown") await browser.click(uuid(), { ref, generation: page.value.generation });\n      ctx.log.info(',
      /unknown/,
    ],
    [
      'uses an operation id twice',
      'const operationId = uuid();\n      const done',
      "const operationId = '00000000-0000-4000-8000-000000000009'; await browser.click(operationId, { ref, generation: page.value.generation });\n      const done",
      /new operation id|unknown|changed/,
    ],
    [
      'asks beyond its budget',
      'const ref = decision',
      "await ctx.jev.evaluate({ state: 'again', questions: { target: { type: 'noul', instructions: 'x' } } });\n      const ref = decision",
      /budget/,
    ],
    [
      'takes any input',
      'v.parse(BrowserRunInput, raw)',
      '{ ...(raw as { goal: string }), scope: { device_id: "device-1", grant_id: "grant-1", tab_id: "tab-1" } }',
      /input/,
    ],
  ])('notices a controller that %s', async (_what, from, to, name) => {
    expect((await failures(from, to)).join('\n')).toMatch(name);
  });
});
