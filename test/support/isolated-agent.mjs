/**
 * An app agent in a container without network: all it has is a socket and a ticket. Prints what it saw as one JSON line.
 * Usage: isolated-agent.mjs SOCKET TICKET HOST_URL WISH_JSON START_URL
 */
import { request } from 'node:http';

const [, , socketPath, ticket, hostUrl, wishText, startUrl] = process.argv;
const wish = JSON.parse(wishText);

function send(method, path, body, bearer = ticket) {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath,
        method,
        path,
        headers: {
          host: 'localhost',
          authorization: `Bearer ${bearer}`,
          accept: 'application/json, text/event-stream',
          ...(body && { 'content-type': 'application/json' }),
        },
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body && JSON.stringify(body));
  });
}

async function call(name, args, path = '/mcp') {
  const { status, text } = await send('POST', path, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });
  if (status !== 200) return { status, refused: text };
  const message = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  return { status, isError: message.result.isError === true, ...JSON.parse(message.result.content[0].text) };
}

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
let { task } = spawned;
const settled = ['completed', 'failed', 'cancelled', 'needs_reconciliation', 'waiting_input'];
while (!settled.includes(task.state))
  ({ task } = await call('task_status', {
    task_id: task.taskId,
    wait_ms: 20_000,
    after_version: task.stateVersion,
  }));
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
    hostOnly: await Promise.all(
      [
        ['GET', '/api/v1/admin/tasks'],
        ['GET', '/api/v1/admin/plugins'],
        ['GET', '/metrics'],
        ['GET', '/api/v1/agents/assistant/sessions/default/tasks'],
        ['POST', '/api/v1/agents/assistant/sessions/default/browser-bindings', {}],
        ['POST', '/mcp/other', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
      ].map(async ([method, path, body]) => (await send(method, path, body)).status),
    ),
    withoutTicket: (await send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, 'wrong')).status,
  }),
);
