/** Direct commands and step lists inside the sandbox: the same rules, in the worker that the host uses. */
import { describe, expect, it } from 'vitest';
import type { BrowserRunInput, BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import { runPlugin, type ScriptStep, scriptedBrowser, scriptedEvaluator } from '../../sdk/testing/index.ts';
import { shop } from './testing/commands.ts';

async function inWorker(goal: string, decisions: ScriptStep[] = [], more: Partial<BrowserRunInput> = {}) {
  const browser = scriptedBrowser({ pages: shop });
  const result = (await runPlugin({
    plugin: import.meta.dirname,
    tier: 'worker',
    input: { contractVersion: 1, goal, scope: browser.scope, command: true, ...more },
    ports: { callTool: browser.callTool, evaluate: scriptedEvaluator(decisions) },
  })) as BrowserRunResult;
  return { result, done: browser.done };
}

describe('in the sandbox', () => {
  it('a Thai search is one call, with the text as it was written', async () => {
    const { result, done } = await inWorker('โอเค ค้นหา น้ำ ครับ');
    expect(done).toEqual(['page_type q']);
    expect(result.commandOutcome).toEqual({ done: true, action: { kind: 'search', label: 'Search' } });
  });

  it('an agent’s high-impact command sends nothing', async () => {
    const decision = { operation: 'CLICK', click_target: 'delete', impact: 'HIGH_IMPACT' };
    const { result, done } = await inWorker('press Delete', [decision], { agentCommand: true });
    expect(done).toEqual([]);
    expect(result.commandOutcome?.reason).toBe('CONFIRMATION_REQUIRED');
  });

  it('a step list runs on one lease', async () => {
    const steps = ['ค้นหา แมว', 'เข้า link แรก'];
    const { result, done } = await inWorker(steps.join(', '), [{ operation: 'CLICK', click_target: 'first' }], {
      steps,
    });
    expect(done).toEqual(['page_type q', 'page_click first']);
    expect(result.stepRun).toMatchObject({ completed: 2, stopReason: 'ALL_STEPS_DONE' });
  });
});
