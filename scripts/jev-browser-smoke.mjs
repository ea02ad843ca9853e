/**
 * One task through the actual host in a browser project's isolated fixture: discovery, submission, run, fresh evidence and
 * the parent's verification. See docs/browser-use.md, "Fixtures".
 *
 * No paid inference takes place unless the caller's `evaluate` does it.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { api } from './demo/stack.mjs';
import { containerAgent } from './fixtures/container.mjs';
import {
  BINDING,
  fixtureConfig,
  fixtureFolder,
  freshEvidence,
  startCallbackEvaluator,
  startFixtureHost,
  untilSettled,
} from './fixtures/host.mjs';

const SOCKET = 'agents.sock';

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
 * @param {string} [options.containerImage] a local image with Node: the agent's part runs in containers of it, without a
 *   network, over the host's socket. Its report then also says what the container could see.
 * @param {NodeJS.ProcessEnv} [options.env] where the container runtime is looked for. Default: this process's own.
 * @returns {Promise<{ task: object, evidence: object, verified: boolean, evaluations: number, decisions: 'callback',
 *   container?: { network: string[], hostOnly: number[], foreign: { isError: boolean, error?: string, tasks: number } } }>}
 */
export async function runGatewayBrowserFixture(options) {
  const { folder, remove } = fixtureFolder();
  let evaluator;
  let host;
  try {
    const sockets = join(folder, 'sockets');
    const socket = options.containerImage === undefined ? undefined : join(sockets, SOCKET);
    const container = socket && containerFor(options, folder, sockets);
    evaluator = await startCallbackEvaluator(options.evaluate);
    const { endpoint, apiKeyFile, scope, fields, budget } = options;
    const url = evaluator.url;
    const made = fixtureConfig({ folder, evaluatorUrl: url, endpoint, apiKeyFile, scope, fields, budget, socket });
    host = await startFixtureHost(made);
    const parent = container ? containerParent(container, host, made) : agentParent(host.agent);
    const { task: ended, evidence, ...seen } = await parent.begin(options);
    const words = ended.outcome === 'verified' ? false : await options.assess({ task: ended, evidence });
    const task = words ? await parent.verify(ended, evidence, words) : ended;
    return {
      task,
      evidence,
      verified: task.outcome === 'verified',
      evaluations: evaluator.received,
      decisions: 'callback',
      ...(container ? { container: { ...seen, foreign: await parent.foreign(task.taskId) } } : {}),
    };
  } finally {
    await host?.stop();
    await evaluator?.close();
    remove();
  }
}

/** @throws before anything has been started when there is no runtime. */
function containerFor({ containerImage: image, env }, folder, sockets) {
  mkdirSync(sockets, { mode: 0o700 });
  return containerAgent({ image, folder, sockets, socketName: SOCKET, privateNames: ['TYPESAFE_API_KEY'], env });
}

/** The agent in this process, over MCP. */
function agentParent(agent) {
  return {
    async begin({ goal, startUrl }) {
      const { targets } = await agent.call('capabilities_list', { scope: 'browser' });
      if (!targets.some((target) => target.session_id === BINDING))
        throw new Error('The host does not offer the approved tab.');
      const { task: spawned } = await agent.call('task_spawn', {
        title: 'Fixture',
        instructions: goal,
        target_profile: 'gateway-managed',
        gateway_target: { adapter: 'browser', session_id: BINDING, ...(startUrl ? { start_url: startUrl } : {}) },
      });
      const task = await untilSettled(agent, spawned);
      return { task, evidence: await freshEvidence(agent, task.taskId) };
    },
    async verify(task, evidence, words) {
      return (await agent.call('task_update', verification(task, evidence, words))).task;
    },
  };
}

/** The agent in a container: a socket and a ticket, no network. */
function containerParent(container, host, { key, foreignKey }) {
  const ticketFor = async (bearer) => {
    const { status, body } = await api(host.url, bearer, '/agents/assistant/sessions/default/ticket', {});
    if (status >= 300) throw new Error(`There is no ticket: ${JSON.stringify(body)}`);
    return body.ticket;
  };
  return {
    begin: async ({ goal, startUrl }) =>
      container.step('begin', await ticketFor(key), { binding: BINDING, goal, startUrl }),
    async verify(task, evidence, words) {
      const update = verification(task, evidence, words);
      const { task: verified, ...refused } = await container.step('verify', await ticketFor(key), { update });
      if (!verified) throw new Error(`The verification was refused: ${JSON.stringify(refused)}`);
      return verified;
    },
    foreign: async (taskId) => container.step('look', await ticketFor(foreignKey), { taskId }),
  };
}

function verification(task, evidence, words) {
  return {
    task_id: task.taskId,
    expected_revision: task.revision,
    mode: 'verify_browser',
    expected_request_id: evidence.requestId,
    evidence_id: evidence.evidenceId,
    instruction: words,
  };
}
