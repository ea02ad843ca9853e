/**
 * An app agent in a container without network: all it has is a socket and a ticket. Prints what it saw as one JSON line.
 * Usage: isolated-agent.mjs SOCKET TICKET HOST_URL WISH_JSON START_URL
 */
import { socketAgent } from '../../scripts/fixtures/socket-agent.mjs';

const [, , socketPath, ticket, hostUrl, wishText, startUrl] = process.argv;
const wish = JSON.parse(wishText);
const { send, call, untilSettled, hostOnly } = socketAgent(socketPath, ticket);

const overNetwork = await fetch(`${hostUrl}/healthz`).then(
  () => 'reached',
  () => 'unreachable',
);

const { targets } = await call('capabilities_list', { scope: 'browser' });
const spawned = await call('task_spawn', {
  title: wish.title,
  instructions: wish.instructions,
  target_profile: 'gateway-managed',
  gateway_target: { adapter: 'browser', session_id: targets[0].session_id, start_url: startUrl },
  browser_fields: wish.fields,
  request_id: 'isolated-1',
});
const task = await untilSettled(spawned.task);
const { evidence } = await call('task_status', { task_id: task.taskId, browser_evidence: 'fresh' });
const verified = await call('task_update', {
  task_id: task.taskId,
  expected_revision: task.revision,
  mode: 'verify_browser',
  expected_request_id: evidence.requestId,
  evidence_id: evidence.evidenceId,
  instruction: 'The fresh page names the order, the jacket, its size and the address.',
});

console.log(
  JSON.stringify({
    overNetwork,
    adapters: targets.map(({ adapter }) => adapter),
    taskId: task.taskId,
    ended: { state: task.state, reason: task.browserReport?.reason },
    evidence: { fresh: evidence.recordedOnly === false, text: String(evidence.observation?.text ?? '').slice(0, 2000) },
    verified: { state: verified.task?.state, outcome: verified.task?.outcome, error: verified.error },
    hostOnly: await hostOnly(),
    withoutTicket: (await send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, 'wrong')).status,
  }),
);
