import { describe, expect, it } from 'vitest';
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import { runPlugin, scriptedBrowser, scriptedEvaluator } from '../../sdk/testing/index.ts';

describe('in the sandboxed worker', () => {
  it.each(['inline', 'worker'] as const)('a goal runs the same (%s)', async (tier) => {
    const browser = scriptedBrowser({
      pages: {
        form: {
          url: 'http://site.example/form',
          text: 'Form',
          elements: [
            { ref: 'n', label: 'Name', tag: 'input' },
            { ref: 's', label: 'Send', goto: 'thanks' },
          ],
        },
        thanks: { url: 'http://site.example/thanks', text: 'Thank you, Ada' },
      },
    });
    const result = (await runPlugin({
      plugin: 'plugins/browser-use',
      tier,
      input: {
        contractVersion: 1,
        goal: 'Send the form',
        scope: browser.scope,
        fields: [{ label: 'Name', text: 'Ada' }],
      },
      ports: {
        callTool: browser.callTool,
        evaluate: scriptedEvaluator([
          { operation: 'TYPE_TEXT', type_text_target: 'n' },
          { operation: 'CLICK', click_target: 's' },
          { operation: 'DONE' },
        ]),
        progress: () => {},
      },
    })) as BrowserRunResult;
    expect(result).toMatchObject({
      status: 'needs_verification',
      reason: 'COMPLETION_CANDIDATE',
      steps: 2,
      evaluations: 3,
    });
    expect(browser.done).toEqual(['page_type n', 'page_click s']);
    expect(browser.leaseHeld()).toBe(false);
  });

  it('refuses input that is not the contract’s, by the path of what is wrong', async () => {
    const run = runPlugin({ plugin: 'plugins/browser-use', input: { contractVersion: 1, goal: '' }, ports: {} });
    await expect(run).rejects.toMatchObject({ details: { problem: expect.stringContaining('at goal') } });
  });
});
