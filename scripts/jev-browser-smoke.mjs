/**
 * One task through the actual host in a browser project's isolated fixture: discovery, submission, run, fresh evidence and
 * the parent's verification. See docs/browser-use.md, "Fixtures".
 *
 * No paid inference takes place unless the caller's `evaluate` does it.
 */
import {
  BINDING,
  fixtureConfig,
  fixtureFolder,
  freshEvidence,
  startCallbackEvaluator,
  startFixtureHost,
  untilSettled,
} from './fixtures/host.mjs';

/**
 * @param {object} options
 * @param {string} options.endpoint the device's MCP address (HTTPS, or loopback HTTP).
 * @param {string} options.apiKeyFile absolute path of the connector's key for it.
 * @param {{ device_id: string, grant_id: string, tab_id: string }} options.scope the approved tab.
 * @param {string} options.goal
 * @param {{ label: string, text: string }[]} [options.fields]
 * @param {string} [options.startUrl]
 * @param {object} [options.budget] limits of the binding.
 * @param {(request: { state: unknown, questions: object }, signal: AbortSignal) => Promise<{ answers: object }>} options.evaluate
 * @param {(seen: { task: object, evidence: object }) => Promise<string | false> | string | false} options.assess the parent:
 *   the evidence that establishes the goal, in words, or false.
 * @returns {Promise<{ task: object, evidence: object, verified: boolean, evaluations: number, decisions: 'callback' }>}
 */
export async function runGatewayBrowserFixture(options) {
  if (options.containerImage !== undefined) {
    throw new Error(
      'containerImage is not supported: run the agent’s part with `jev-host exec` or over gateway.api.socket instead.',
    );
  }
  const { folder, remove } = fixtureFolder();
  const evaluator = await startCallbackEvaluator(options.evaluate);
  let host;
  try {
    const { endpoint, apiKeyFile, scope, fields, budget } = options;
    const made = fixtureConfig({ folder, evaluatorUrl: evaluator.url, endpoint, apiKeyFile, scope, fields, budget });
    host = await startFixtureHost(made);
    const { agent } = host;
    const { targets } = await agent.call('capabilities_list', { scope: 'browser' });
    if (!targets.some((target) => target.session_id === BINDING))
      throw new Error('The host does not offer the approved tab.');
    const { task: spawned } = await agent.call('task_spawn', {
      title: 'Fixture',
      instructions: options.goal,
      target_profile: 'gateway-managed',
      gateway_target: {
        adapter: 'browser',
        session_id: BINDING,
        ...(options.startUrl ? { start_url: options.startUrl } : {}),
      },
    });
    let task = await untilSettled(agent, spawned);
    const evidence = await freshEvidence(agent, task.taskId);
    const words = task.outcome === 'verified' ? false : await options.assess({ task, evidence });
    if (words) {
      ({ task } = await agent.call('task_update', {
        task_id: task.taskId,
        expected_revision: task.revision,
        mode: 'verify_browser',
        expected_request_id: evidence.requestId,
        evidence_id: evidence.evidenceId,
        instruction: words,
      }));
    }
    return {
      task,
      evidence,
      verified: task.outcome === 'verified',
      evaluations: evaluator.received,
      decisions: 'callback',
    };
  } finally {
    await host?.stop();
    await evaluator.close();
    remove();
  }
}
