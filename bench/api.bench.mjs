/**
 * What the surfaces cost: the same status call over HTTP and over MCP in both generations, one after the other and 16 at a
 * time, against a host without plugins' work or a browser. Ratios within one run; absolute numbers belong to the machine.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startJevHost } from '../scripts/demo/stack.mjs';
import { markdownTable, median, quantile } from './report.mjs';

const CALLS = 400;
const AT_ONCE = 16;
const KEY = 'bench-key-of-the-surfaces';
const ACCEPT = 'application/json, text/event-stream';

const folder = mkdtempSync(join(tmpdir(), 'api-bench-'));
const config = {
  dataDir: join(folder, 'data'),
  gateway: {
    api: {
      port: 0,
      keys: [
        {
          id: 'bench',
          sha256: createHash('sha256').update(KEY).digest('hex'),
          agents: ['assistant'],
          access: 'write',
        },
      ],
      limits: { requestsPerMinute: 1_000_000, concurrentRequests: 1000 },
    },
  },
  agents: [{ id: 'assistant' }],
};
const file = join(folder, 'config.json');
writeFileSync(file, JSON.stringify(config));
const host = await startJevHost(['serve', '--config', file]);

const post = (path, body, headers = {}) =>
  fetch(host.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', accept: ACCEPT, ...headers },
    body: JSON.stringify(body),
  });
const call = (meta = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'task_status', arguments: {}, ...meta },
});

async function legacySession() {
  const opened = await post('/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  });
  await opened.text();
  const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') };
  await (await post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).text();
  return headers;
}

try {
  const session = await legacySession();
  const modernMeta = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const modernHeaders = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'task_status',
  };
  const ways = [
    ['HTTP, healthz', () => fetch(`${host.url}/healthz`)],
    [
      'HTTP, tasks of a conversation',
      () =>
        fetch(`${host.url}/api/v1/agents/assistant/sessions/default/tasks`, {
          headers: { authorization: `Bearer ${KEY}` },
        }),
    ],
    ['MCP 2026-07-28, task_status', () => post('/mcp', call(modernMeta), modernHeaders)],
    ['MCP 2025-11-25, task_status', () => post('/mcp', call(), session)],
  ];

  const rows = [];
  let base;
  for (const [name, ask] of ways) {
    const once = async () => {
      const started = performance.now();
      const answer = await ask();
      const text = await answer.text();
      if (!answer.ok || text.includes('"isError":true')) throw new Error(`${name}: ${answer.status} ${text}`);
      return performance.now() - started;
    };
    for (let n = 0; n < 40; n += 1) await once();
    const alone = [];
    for (let n = 0; n < CALLS; n += 1) alone.push(await once());
    const started = performance.now();
    let left = CALLS;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (left > 0) {
          left -= 1;
          await once();
        }
      }),
    );
    const perSecond = (CALLS / (performance.now() - started)) * 1000;
    base ??= median(alone);
    rows.push([
      name,
      median(alone).toFixed(2),
      quantile(alone, 0.99).toFixed(2),
      `${(median(alone) / base).toFixed(1)}x`,
      perSecond.toFixed(0),
    ]);
  }
  console.log('## Surfaces\n');
  console.log(
    markdownTable(['call', 'median ms', 'p99 ms', 'against healthz', `calls a second, ${AT_ONCE} at once`], rows),
  );
} finally {
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
}
