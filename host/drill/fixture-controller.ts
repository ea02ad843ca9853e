/** A controller for the fixture page: presses each button that is left, once, and says honestly what it knows. */
import { randomUUID } from 'node:crypto';
import type { BrowserRunResult, BrowserScope, LastAction } from '../../sdk/contract/browser-run.ts';
import type { ToolReply } from '../../sdk/contract/capabilities.ts';
import { remoteBrowser } from '../../sdk/devices/remote-browser.ts';

const MAX_STALE = 3;

export async function pressAll(
  scope: BrowserScope,
  callTool: (name: string, args: Record<string, unknown>) => Promise<ToolReply>,
): Promise<BrowserRunResult> {
  const tab = remoteBrowser({ call: callTool }, scope, { uuid: randomUUID });
  let lastAction: LastAction | undefined;
  let steps = 0;
  const end = (status: BrowserRunResult['status'], reason: string): BrowserRunResult => ({
    ...{ contractVersion: 1, status, reason, steps, evaluations: 0, staleRetries: 0, textCalls: 0 },
    ...(lastAction ? { lastAction } : {}),
  });
  const leased = await tab.acquire();
  if (!leased.ok) return end('blocked', leased.code);
  try {
    for (let stale = 0; ; ) {
      const page = await tab.observe();
      if (!page.ok) return end('blocked', page.code);
      const [button] = page.value.elements;
      if (!button) return end('needs_verification', 'COMPLETION_CANDIDATE');
      const operationId = randomUUID();
      const done = await tab.click(operationId, { ref: button.ref, generation: page.value.generation });
      lastAction = { operationId, operation: 'CLICK', outcome: done.outcome };
      steps += 1;
      if (done.outcome === 'unknown') return end('needs_verification', 'OUTCOME_UNKNOWN');
      if (done.outcome === 'not_executed' && ++stale > MAX_STALE) return end('blocked', 'STALE_RETRY_BUDGET');
    }
  } finally {
    await tab.release();
  }
}
