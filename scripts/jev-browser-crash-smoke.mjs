/**
 * A crash between an action and its answer: a host of its own is killed after the device has acted and before the host can
 * know. A new host on the same data then finds the task interrupted, asks the device what became of that very operation,
 * and sends nothing again. See docs/browser-use.md, "Fixtures".
 *
 * It kills a process of its own, never a running host; it does not stand for a loss of power.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAgent, startJevHost } from './demo/stack.mjs';
import { startHoldingProxy } from './fixtures/holding-proxy.mjs';
import { BINDING, fixtureConfig, fixtureFolder, freshEvidence, startCallbackEvaluator } from './fixtures/host.mjs';

/**
 * @param {object} options as for `runGatewayBrowserFixture`, and
 * @param {number} [options.mutation] which mutation's answer is lost, counted from 1. Default: the first.
 * @param {boolean} [options.fresh] waits until the dead host's lease has run out (a minute) and reads the tab and the operation.
 *   Default: true. Without it, only what the receipt kept is read.
 * @param {() => Promise<void> | void} [options.assertEffect] throws unless the browser shows the effect exactly once.
 * @returns {Promise<{ state: string, reason?: string, operationId: string, operationStatus?: object, lastDispatched?: object, sentAgain: boolean }>}
 */
export async function runGatewayBrowserCrashFixture(options) {
  const { folder, remove } = fixtureFolder();
  const evaluator = await startCallbackEvaluator(options.evaluate);
  const proxy = await startHoldingProxy(options.endpoint, options.mutation ?? 1);
  let host;
  let agent;
  try {
    const { apiKeyFile, scope, fields, budget } = options;
    const { config, key } = fixtureConfig({
      folder,
      evaluatorUrl: evaluator.url,
      endpoint: proxy.url,
      apiKeyFile,
      scope,
      fields,
      budget,
    });
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    host = await startJevHost(['serve', '--config', file]);
    agent = await connectAgent(host.url, key);
    await agent.call('capabilities_list', { scope: 'browser' });
    const { task } = await agent.call('task_spawn', {
      title: 'Crash fixture',
      instructions: options.goal,
      target_profile: 'gateway-managed',
      gateway_target: {
        adapter: 'browser',
        session_id: BINDING,
        ...(options.startUrl ? { start_url: options.startUrl } : {}),
      },
    });
    const lost = await proxy.reached;
    host.process.kill('SIGKILL');
    await host.exited;
    await agent.close().catch(() => {});
    await options.assertEffect?.();

    host = await startJevHost(['serve', '--config', file]);
    agent = await connectAgent(host.url, key);
    const found = (await agent.call('task_status', { task_id: task.taskId })).task;
    // The dead process's lease has to run out before the tab can be read.
    const evidence =
      options.fresh === false
        ? (await agent.call('task_status', { task_id: task.taskId, browser_evidence: 'recorded' })).evidence
        : await freshEvidence(agent, task.taskId);
    await options.assertEffect?.();
    return {
      state: found.state,
      ...(found.failure ? { reason: found.failure.code } : {}),
      operationId: lost.operationId,
      operationStatus: evidence.operationStatus,
      lastDispatched: evidence.lastDispatchedMutation,
      sentAgain:
        proxy.seen.filter(({ operationId }) => operationId === lost.operationId).length > 1 ||
        proxy.seen.at(-1) !== lost,
    };
  } finally {
    await agent?.close().catch(() => {});
    await host?.stop();
    await proxy.close();
    await evaluator.close();
    remove();
  }
}
