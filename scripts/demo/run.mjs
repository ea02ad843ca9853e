/** The main job, told as it happens: a browser task carried out through a sandboxed plugin, checked and confirmed. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder } from '../setup.mjs';
import { api, connectAgent, followEvents, startStack } from './stack.mjs';
import { table } from './table.mjs';

/** What the agent's user asked for. */
export const wish = {
  title: 'Order a trail jacket',
  instructions:
    'Search the shop for "trail jacket", open the Trail jacket, choose size Medium, add it to the basket, go to checkout, fill in the delivery form and place the order.',
  fields: [
    { label: 'Search products', text: 'trail jacket' },
    { label: 'Full name', text: 'Ada Lindqvist' },
    { label: 'Street and number', text: 'Harbour Street 12' },
    { label: 'City', text: 'Gothenburg' },
    { label: 'Postcode', text: '411 17' },
  ],
};

/** What the finished page must show, whatever the controller said: the agent's own check. */
const mustShow = [
  /order \d+ has been placed/i,
  /trail jacket/i,
  /medium/i,
  ...wish.fields.slice(1).map((field) => new RegExp(field.text, 'i')),
];

/** Runs kept for looking at afterwards. */
const KEPT_RUNS = 3;

/** @returns {Promise<number>} the exit code: 0 only if the task was verified and the shop counted exactly one order. */
export async function runDemo({ chromium, once }) {
  const folder = runFolder();
  console.log('Starting the shop, the rehearsal evaluator, the host and Chromium.');
  const stack = await startStack({ folder, chromium });
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(130));
  });
  try {
    const done = orderThroughTheHost(stack);
    const code = await Promise.race([done, interrupted]);
    if (code === 130 || once) return code;
    console.log(`
The host stays up.
  MCP address   ${stack.host.url}/mcp
  key           ${stack.key}   (made for this run)
  shop          ${stack.shop.url}
  data          ${folder}
Press Ctrl+C to stop it.`);
    await interrupted;
    return code;
  } finally {
    await stack.stop();
  }
}

async function orderThroughTheHost({ host, shop, key }) {
  const agent = await connectAgent(host.url, key);
  const listening = new AbortController();
  const following = followEvents(host.url, key, 'assistant', tellStep, listening.signal).catch((error) => {
    if (!listening.signal.aborted) console.error(`The event stream ended: ${error.message}`);
  });
  try {
    const { targets } = await agent.call('capabilities_list', { scope: 'browser' });
    const target = targets[0];
    if (!target) throw new Error('The host offers no browser tab.');
    console.log(`Target: ${target.name}\nGoal: ${wish.instructions}\n`);

    const spawned = await agent.call('task_spawn', {
      title: wish.title,
      instructions: wish.instructions,
      target_profile: 'gateway-managed',
      gateway_target: { adapter: target.adapter, session_id: target.session_id, start_url: shop.url },
      browser_fields: wish.fields,
      request_id: 'demo-order-1',
    });
    const taskId = spawned.task.taskId;
    const settled = await waitUntilSettled(agent, spawned.task);
    console.log(`\n${settled.latestProgress?.text ?? settled.state}`);

    const { evidence } = await agent.call('task_status', { task_id: taskId, browser_evidence: 'fresh' });
    const shown = `${evidence.observation?.title ?? ''}\n${evidence.observation?.text ?? ''}`;
    const missing = mustShow.filter((pattern) => !pattern.test(shown));
    let verified = false;
    if (missing.length === 0) {
      const { task } = await agent.call('task_update', {
        task_id: taskId,
        expected_revision: settled.revision,
        mode: 'verify_browser',
        expected_request_id: evidence.requestId,
        evidence_id: evidence.evidenceId,
        instruction: `Fresh page: ${/order \d+ has been placed/i.exec(shown)?.[0]}, with the product, the size and the delivery address that were asked for.`,
      });
      verified = task.state === 'completed' && task.outcome === 'verified';
      console.log(`Checked against a fresh look at the page: ${verified ? 'verified' : task.state}.`);
    } else {
      console.log(`The fresh page does not show: ${missing.join(', ')}. Not confirmed.`);
    }

    const { body } = await api(host.url, key, `/agents/assistant/sessions/default/tasks/${taskId}/receipts`);
    console.log(`\nReceipts\n${receiptTable(body.receipts)}`);
    console.log(
      `\nWhat the shop received: ${shop.seen.searches.length} search, ${shop.seen.basketAdds.length} basket, ${shop.seen.orders.length} order.`,
    );
    for (const order of shop.seen.orders) {
      const lines = order.lines.map((line) => `${line.product}, size ${line.size}`).join('; ');
      console.log(`  Order ${order.number}: ${lines}; to ${Object.values(order.delivery).join(', ')}`);
    }
    return verified && shop.seen.orders.length === 1 ? 0 : 1;
  } finally {
    listening.abort();
    await following;
    await agent.close();
  }
}

const settledStates = new Set(['completed', 'failed', 'cancelled', 'needs_reconciliation', 'waiting_input']);

async function waitUntilSettled(agent, task) {
  let current = task;
  while (!settledStates.has(current.state)) {
    const reply = await agent.call('task_status', {
      task_id: current.taskId,
      wait_ms: 30_000,
      after_version: current.stateVersion,
    });
    current = reply.task;
  }
  return current;
}

/** One line per step: what was done, on what, how probable it was, how long it took. */
function tellStep(event) {
  if (event.type !== 'task.progress' || event.data.phase !== 'acted') return;
  const { steps, operation, label, target_probability, operation_probability, decision_ms, action_ms, outcome } =
    event.data;
  const probability = target_probability ?? operation_probability;
  const times = [
    decision_ms === undefined ? '' : `decided in ${Math.round(decision_ms)} ms`,
    action_ms === undefined ? '' : `done in ${Math.round(action_ms)} ms`,
  ];
  console.log(
    [
      String(steps).padStart(3),
      String(operation).padEnd(12),
      (label ? `"${label}"` : '').padEnd(28),
      (probability === undefined ? '' : `p ${probability.toFixed(2)}`).padEnd(7),
      times.filter(Boolean).join(', '),
      outcome && outcome !== 'confirmed' ? `(${outcome})` : '',
    ]
      .join(' ')
      .trimEnd(),
  );
}

function receiptTable(receipts) {
  const rows = receipts.flatMap((receipt) =>
    receipt.mutations.map((mutation) => [
      new Date(mutation.recordedAt).toISOString().slice(11, 23),
      mutation.operation,
      mutation.operationId,
      mutation.outcome ?? '',
      `${receipt.requestId.slice(0, 13)}… ${receipt.status}`,
    ]),
  );
  return table(['on disk at', 'operation', 'operation id', 'outcome', 'run'], rows);
}

function runFolder() {
  const runs = dataFolder('demo');
  const names = readdirSync(runs).sort();
  for (const old of names.slice(0, Math.max(0, names.length - KEPT_RUNS + 1)))
    rmSync(join(runs, old), { recursive: true, force: true });
  return join(runs, new Date().toISOString().replaceAll(/[:.]/g, '-'));
}
