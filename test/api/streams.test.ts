import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { apiFixture, type Fixture, KEYS, SPAWN } from './fixture.ts';

let fixture: Fixture;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await fixture.close();
});

const MODERN = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};
const accept = 'application/json, text/event-stream';

function modernCall(name: string, args: object, signal?: AbortSignal, extra: object = {}) {
  return fetch(`${fixture.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEYS.writer}`,
      'content-type': 'application/json',
      accept,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, ...MODERN, ...extra },
    }),
    ...(signal && { signal }),
  });
}

async function legacySession(key = KEYS.writer) {
  const post = (body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(`${fixture.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal && { signal }),
    });
  const opened = await post({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  });
  await opened.text();
  const session = {
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
  await (await post({ method: 'notifications/initialized' }, session)).text();
  return { post, session };
}

describe('a call that its client gives up', () => {
  it('is stopped when a client of the current revision closes the stream', async () => {
    fixture = await apiFixture();
    const gone = new AbortController();
    const call = modernCall('task_status', { wait_ms: 60_000 }, gone.signal).catch(() => 'gone');
    await expect.poll(() => fixture.tasks.waiting.length).toBe(1);
    gone.abort();
    expect(await call).toBe('gone');
    await expect.poll(() => fixture.tasks.waiting[0]!.aborted).toBe(true);
  });

  it('is stopped when a client of a session-based revision says so', async () => {
    fixture = await apiFixture();
    const { post, session } = await legacySession();
    const call = post(
      { id: 7, method: 'tools/call', params: { name: 'task_status', arguments: { wait_ms: 60_000 } } },
      session,
    );
    await expect.poll(() => fixture.tasks.waiting.length).toBe(1);
    await (await post({ method: 'notifications/cancelled', params: { requestId: 7 } }, session)).text();
    await expect.poll(() => fixture.tasks.waiting[0]!.aborted).toBe(true);
    await (await call).body?.cancel();
  });

  it('is stopped when the host stops', async () => {
    fixture = await apiFixture();
    const call = modernCall('task_status', { wait_ms: 60_000 }).then(
      (response) => response.text(),
      () => 'closed',
    );
    await expect.poll(() => fixture.tasks.waiting.length).toBe(1);
    await fixture.close();
    await call;
    expect(fixture.tasks.waiting[0]!.aborted).toBe(true);
  });
});

describe('a stream that breaks', () => {
  it('starts nothing twice: the call that is sent again with its request_id finds the same task', async () => {
    fixture = await apiFixture();
    const args = { ...SPAWN, request_id: 'order-1' };
    const gone = new AbortController();
    const lost = modernCall('task_spawn', args, gone.signal).catch(() => undefined);
    await expect.poll(() => fixture.tasks.spawned.length).toBe(1);
    gone.abort();
    await lost;
    const again = (await (await modernCall('task_spawn', args)).json()) as { result: { structuredContent: object } };
    expect(again.result.structuredContent).toHaveProperty('task.taskId');
    expect(fixture.tasks.spawned).toHaveLength(1);
    const other = (await (await modernCall('task_spawn', { ...args, title: 'Else' })).json()) as {
      result: { isError: boolean; structuredContent: { error: string } };
    };
    expect(other.result.structuredContent.error).toBe('IDEMPOTENCY_CONFLICT');
  });

  it('sends news of a long wait to a client that asked for it', async () => {
    fixture = await apiFixture();
    const { post, session } = await legacySession();
    const answer = await post(
      {
        id: 3,
        method: 'tools/call',
        params: { name: 'task_status', arguments: { wait_ms: 5_500 }, _meta: { progressToken: 'p' } },
      },
      session,
    );
    const text = await answer.text();
    expect(text).toContain('notifications/progress');
    expect(text).toContain('"progressToken":"p"');
    expect(text.indexOf('notifications/progress')).toBeLessThan(text.indexOf('"id":3'));
  });
});

describe('a session of a session-based client', () => {
  it('does not exist for anybody else, and after it ended', async () => {
    fixture = await apiFixture();
    const { post, session } = await legacySession();
    const list = { id: 2, method: 'tools/list', params: {} };
    expect((await post(list, session)).status).toBe(200);
    const other = await legacySession(KEYS.reader);
    expect((await other.post(list, session)).status).toBe(404);
    expect((await post(list, { ...session, 'mcp-session-id': 'no-such' })).status).toBe(404);
    const ended = await fetch(`${fixture.url}/mcp`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${KEYS.writer}`, ...session },
    });
    expect(ended.status).toBe(200);
    expect((await post(list, session)).status).toBe(404);
  });

  it('is opened anew by a client that comes with an old id', async () => {
    fixture = await apiFixture();
    const { post } = await legacySession();
    const opened = await post(
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      },
      { 'mcp-session-id': 'from-before-the-restart' },
    );
    expect(opened.status).toBe(200);
    expect(opened.headers.get('mcp-session-id')).not.toBe('from-before-the-restart');
  });

  it('makes room for the newest when a caller opens too many', async () => {
    fixture = await apiFixture({ limits: { requestsPerMinute: 100_000 } });
    const first = await legacySession();
    for (let n = 0; n < 32; n += 1) await legacySession();
    expect((await first.post({ id: 2, method: 'tools/list', params: {} }, first.session)).status).toBe(404);
  });
});

describe('a reader that does not read', () => {
  it('takes no memory: no more events are pulled for it than its socket took', async () => {
    fixture = await apiFixture();
    const { hostname, port } = new URL(fixture.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.pause();
    socket.write(
      `GET /api/v1/agents/assistant/sessions/default/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEYS.writer}\r\n\r\n`,
    );
    await expect.poll(() => fixture.tasks.readers).toBe(1);
    const text = 'x'.repeat(64 * 1024);
    for (let n = 0; n < 2000; n += 1) fixture.tasks.emit('conversation:assistant:writer', 'task.progress', { text });
    // What is pulled ends by itself once the buffers of the socket are full; 2,000 events would be 128 MB.
    let before = -1;
    await expect
      .poll(
        () => {
          const still = fixture.tasks.pulled === before;
          before = fixture.tasks.pulled;
          return still && before > 0;
        },
        { interval: 300 },
      )
      .toBe(true);
    expect(fixture.tasks.pulled).toBeLessThan(400);
  });
});

describe('the way to a key', () => {
  it('is told to clients that come without one', async () => {
    fixture = await apiFixture({ publicUrl: 'https://host.example/' });
    const refused = await fetch(`${fixture.url}/mcp`, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
    const link = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? '';
    expect(link).toBe('https://host.example/.well-known/oauth-protected-resource/mcp');
    const metadata = await fixture.http('GET', new URL(link).pathname);
    expect(metadata).toMatchObject({
      status: 200,
      body: { resource: 'https://host.example/mcp', bearer_methods_supported: ['header'] },
    });
  });

  it('never answers with the key or ticket that was sent', async () => {
    fixture = await apiFixture();
    const { body } = await fixture.http('POST', '/api/v1/agents/assistant/sessions/default/ticket', {
      key: KEYS.writer,
    });
    for (const key of [KEYS.writer, body.ticket as string, 'jt_wrong-ticket'])
      for (const path of ['/mcp', '/nowhere', '/api/v1/agents', '/metrics']) {
        const answer = await fixture.http('GET', path, { key });
        expect(JSON.stringify([answer.body, [...answer.headers]])).not.toContain(key);
      }
    expect(fixture.logged.join('\n')).not.toContain(body.ticket);
  });
});
