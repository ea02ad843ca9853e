import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { LOCAL_OWNER } from '../../core/authorization/authorization.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import { apiFixture, type Fixture, KEYS, SPAWN, sha256 } from './fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

const SESSION = '/api/v1/agents/assistant/sessions/default';
const UUID = '00000000-0000-4000-8000-000000000000';

async function spawn(key = KEYS.writer) {
  const { body } = await fixture.http('POST', `${SESSION}/tasks`, { key, body: SPAWN });
  return body.task.taskId as string;
}

describe('who may call', () => {
  it('answers 401 to a wrong key on every route, also where none is needed', async () => {
    fixture = await apiFixture();
    for (const [method, path] of [
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['GET', '/metrics'],
      ['POST', '/mcp'],
      ['GET', '/mcp/assistant'],
      ['POST', '/api/v1/jev/evaluate'],
      ['GET', `${SESSION}/tasks`],
      ['GET', '/nowhere'],
    ] as const) {
      const { status, body, headers } = await fixture.http(method, path, { key: 'wrong' });
      expect([path, status]).toEqual([path, 401]);
      expect(JSON.stringify(body)).toContain('UNAUTHORIZED');
      expect(headers.get('www-authenticate')).toContain('resource_metadata=');
    }
  });

  it('says that it lives and serves without a key, and nothing else', async () => {
    fixture = await apiFixture();
    expect(await fixture.http('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await fixture.http('GET', '/readyz')).toMatchObject({ status: 200 });
    expect(await fixture.http('GET', '/metrics')).toMatchObject({ status: 401 });
    expect(await fixture.http('GET', '/nowhere')).toMatchObject({ status: 401 });
    const metrics = await fixture.http('GET', '/metrics', { key: KEYS.reader });
    expect(metrics.body).toContain('jev_host_requests_total{route="/healthz",status="200"} 1');
    expect(metrics.body).toContain('jev_host_tasks 0');
  });

  it('refuses a read key that starts a task, and nothing is started', async () => {
    fixture = await apiFixture();
    expect(await fixture.http('POST', `${SESSION}/tasks`, { key: KEYS.reader, body: SPAWN })).toMatchObject({
      status: 403,
      body: { error: 'ACCESS_DENIED' },
    });
    expect(fixture.tasks.spawned).toEqual([]);
  });

  it('answers the same for a foreign agent, an unknown agent and a foreign session', async () => {
    fixture = await apiFixture();
    const answers = await Promise.all(
      ['other/sessions/default', 'none/sessions/default', 'assistant/sessions/foreign'].map((path) =>
        fixture.http('GET', `/api/v1/agents/${path}/tasks`, { key: KEYS.writer }),
      ),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(403);
      expect(body).toEqual(answers[0]!.body);
    }
  });

  it('refuses names in Host and pages in Origin that are not its own, before it looks at the key', async () => {
    fixture = await apiFixture({ allowedOrigins: ['https://console.example'] });
    const get = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        httpRequest(`${fixture.url}/healthz`, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    expect(await get({ host: 'evil.example' })).toBe(403);
    expect(await get({ host: '127.0.0.1.evil.example' })).toBe(403);
    expect(await get({ origin: 'https://evil.example' })).toBe(403);
    expect(await get({ origin: 'null' })).toBe(403);
    expect(await get({ origin: 'https://console.example' })).toBe(200);
    expect(await get({ host: 'localhost:1' })).toBe(200);
  });

  it('lets no key send more than its share and says when to come back', async () => {
    fixture = await apiFixture({ limits: { requestsPerMinute: 8, concurrentRequests: 4, streams: 1 } });
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push(await fixture.http('GET', `${SESSION}/tasks`, { key: KEYS.writer }));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(statuses[2]!.body.error).toBe('TOO_MANY_REQUESTS');
    expect(Number(statuses[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
    // Another key is not concerned.
    expect(await fixture.http('GET', `${SESSION}/tasks`, { key: KEYS.reader })).toMatchObject({ status: 200 });
  });
});

describe('bodies', () => {
  it('are not read before the key is known', async () => {
    fixture = await apiFixture();
    const answer = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(fixture.url);
      const socket = connect(Number(port), hostname, () =>
        // A body is promised and never sent.
        socket.write(
          'POST /api/v1/jev/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n',
        ),
      );
      socket.once('data', (data) => {
        socket.destroy();
        resolve(String(data));
      });
      socket.once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 401/);
  });

  it('are refused with the path of what is wrong, and an unknown argument by its name', async () => {
    fixture = await apiFixture();
    for (const [body, said] of [
      [{ ...SPAWN, retry_of: 'x' }, 'retry_of: this argument does not exist here'],
      [{ ...SPAWN, gateway_target: { ...SPAWN.gateway_target, takeover: true } }, 'gateway_target.takeover'],
      [{ ...SPAWN, instructions: 7 }, 'at instructions: expected string, received number'],
      [{ ...SPAWN, title: undefined }, 'at title: is missing'],
      [{ ...SPAWN, browser_fields: [{ label: 'A' }] }, 'at browser_fields.0.text: is missing'],
      [{ ...SPAWN, browser_fields: [], fields: [] }, 'at fields'],
      [[], 'at title: is missing'],
    ] as const) {
      const answer = await fixture.http('POST', `${SESSION}/tasks`, { key: KEYS.writer, body });
      expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_INPUT' } });
      expect(answer.body.message).toContain(said);
    }
    expect(fixture.tasks.spawned).toEqual([]);
  });

  it('are refused when they are no JSON, too large, nested too deeply or compressed', async () => {
    fixture = await apiFixture();
    const send = (raw: string, headers: Record<string, string> = {}) =>
      fixture.http('POST', `${SESSION}/tasks`, { key: KEYS.writer, raw, headers });
    expect(await send('{')).toMatchObject({ status: 400, body: { error: 'INVALID_INPUT' } });
    expect(await send('a=1', { 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject({ status: 400 });
    expect(await send('['.repeat(100_000))).toMatchObject({ status: 400 });
    expect(await send('{}', { 'content-encoding': 'gzip' })).toMatchObject({ status: 400 });
    expect(await send(JSON.stringify({ title: 'x'.repeat(300_000) }))).toMatchObject({
      status: 413,
      body: { error: 'BODY_TOO_LARGE' },
    });
  });
});

describe('evaluation over HTTP', () => {
  const EVALUATE = '/api/v1/jev/evaluate';
  const body = { agentId: 'assistant', state: 'Hello', questions: { a: { type: 'noul', instructions: '?' } } };

  it('passes the request on with the identity of the key', async () => {
    fixture = await apiFixture();
    const answer = await fixture.http('POST', EVALUATE, { key: KEYS.writer, body: { ...body, requestId: 'mine' } });
    expect(answer).toMatchObject({ status: 200, body: { requestId: 'mine', answers: { a: { noul: 1 } } } });
    expect(fixture.evaluations[0]).toMatchObject({ principalId: 'api:writer', agentId: 'assistant' });
    expect(fixture.evaluations[0]!.request).toEqual({ state: 'Hello', questions: body.questions, requestId: 'mine' });
  });

  it('has the documented status and body for every refusal', async () => {
    fixture = await apiFixture();
    const post = (raw: string, key = KEYS.writer) => fixture.http('POST', EVALUATE, { key, raw });
    expect(await post(JSON.stringify(body), KEYS.reader)).toMatchObject({
      status: 403,
      body: { error: 'ACCESS_DENIED' },
    });
    expect(await post(JSON.stringify({ ...body, agentId: 'none' }))).toMatchObject({
      status: 403,
      body: { error: 'ACCESS_DENIED' },
    });
    const invalid = { status: 400, body: { error: { code: 'JEV_INVALID_REQUEST' } } };
    expect(await post(JSON.stringify({ ...body, model: 'x' }))).toMatchObject(invalid);
    expect(await post('not json')).toMatchObject(invalid);
    expect(await post('[]')).toMatchObject(invalid);
    expect(await post(`"${'x'.repeat(1_200_000)}"`)).toMatchObject({ ...invalid, status: 413 });
    const limited = await post(JSON.stringify({ ...body, state: 'limited' }));
    expect(limited).toMatchObject({
      status: 429,
      body: { error: { code: 'JEV_RATE_LIMITED', status: 429, retryAfter: '7', resetAt: 'soon' } },
    });
    expect(limited.headers.get('retry-after')).toBe('7');
  });

  it('waits until the host is ready, as everything else does, and says so to those with a key', async () => {
    let ready = false;
    fixture = await apiFixture({}, { health: { ready: () => ready, metrics: () => [] } });
    const post = (key?: string) => fixture.http('POST', EVALUATE, { ...(key && { key }), body });
    expect(await post()).toMatchObject({ status: 401 });
    expect(await post(KEYS.writer)).toMatchObject({ status: 503, body: { error: 'NOT_READY' } });
    expect(await fixture.http('POST', '/mcp/assistant', { key: KEYS.writer, body: {} })).toMatchObject({ status: 503 });
    expect(await fixture.http('GET', '/healthz')).toMatchObject({ status: 200 });
    expect(await fixture.http('GET', '/readyz')).toMatchObject({ status: 503 });
    expect(fixture.evaluations).toEqual([]);
    ready = true;
    expect(await post(KEYS.writer)).toMatchObject({ status: 200 });
  });

  it('takes a body as large as images need only while images are on, whether its length is told or not', async () => {
    let images = false;
    fixture = await apiFixture({}, { jevImages: () => images });
    const text = JSON.stringify({ ...body, assets: { shot: { data_base64: 'A'.repeat(3_000_000) } } });
    const chunks = () => Readable.toWeb(Readable.from([text.slice(0, 2_000_000), text.slice(2_000_000)]));
    const post = async (sent: unknown) => {
      const response = await fetch(fixture.url + EVALUATE, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEYS.writer}`, 'content-type': 'application/json' },
        body: sent as string,
        duplex: 'half',
      } as RequestInit);
      return { status: response.status, body: await response.json() };
    };
    for (const sent of [text, chunks()])
      expect(await post(sent)).toMatchObject({ status: 413, body: { error: { code: 'JEV_INVALID_REQUEST' } } });
    expect(fixture.evaluations).toEqual([]);
    images = true;
    for (const sent of [text, chunks()]) expect(await post(sent)).toMatchObject({ status: 200 });
    expect(fixture.evaluations.map(({ request }) => Object.keys(request.assets ?? {}))).toEqual([['shot'], ['shot']]);
    expect(await post('x'.repeat(25 * 1024 * 1024))).toMatchObject({ status: 413 });
  });

  it('aborts the evaluation when the client goes away', async () => {
    fixture = await apiFixture();
    const gone = new AbortController();
    const call = fetch(fixture.url + EVALUATE, {
      method: 'POST',
      signal: gone.signal,
      headers: { authorization: `Bearer ${KEYS.writer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, state: 'hang' }),
    }).catch(() => 'gone');
    await expect.poll(() => fixture.evaluations.length).toBe(1);
    const { signal } = fixture.evaluations[0]!;
    gone.abort();
    expect(await call).toBe('gone');
    await expect.poll(() => signal?.aborted).toBe(true);
  });

  it('reads usage in pages and refuses a page that is none', async () => {
    fixture = await apiFixture();
    const usage = '/api/v1/jev/usage?agentId=assistant';
    const page = await fixture.http('GET', usage, { key: KEYS.reader });
    expect(page).toMatchObject({ status: 200, body: { records: [], total: 0 } });
    expect(page.headers.get('cache-control')).toBe('no-store');
    for (const wrong of ['limit=0', 'limit=101', 'limit=x', 'offset=-1'])
      expect(await fixture.http('GET', `${usage}&${wrong}`, { key: KEYS.reader })).toMatchObject({
        status: 400,
        body: { error: 'INVALID_PAGE' },
      });
    expect(await fixture.http('GET', '/api/v1/jev/usage?agentId=other', { key: KEYS.reader })).toMatchObject({
      status: 403,
    });
  });
});

describe('sessions and tickets', () => {
  it('are conversations of one principal; the default one always exists', async () => {
    fixture = await apiFixture();
    const path = '/api/v1/agents/assistant/sessions';
    expect((await fixture.http('GET', path, { key: KEYS.writer })).body.sessions).toEqual([
      { sessionId: 'default', conversationId: 'conversation:assistant:writer' },
    ]);
    const opened = await fixture.http('POST', path, { key: KEYS.writer, body: { sessionId: 'research' } });
    expect(opened).toMatchObject({ status: 201, body: { sessionId: 'research' } });
    const again = await fixture.http('POST', path, { key: KEYS.writer, body: { sessionId: 'research' } });
    expect(again.body).toEqual(opened.body);
    expect((await fixture.http('POST', path, { key: KEYS.writer })).body.conversationId).not.toBe(
      opened.body.conversationId,
    );
    expect((await fixture.http('GET', path, { key: KEYS.writer })).body.sessions).toHaveLength(3);
    // Another principal has its own, whatever its right.
    expect((await fixture.http('GET', path, { key: KEYS.admin })).body.sessions).toHaveLength(1);
    expect(
      await fixture.http('GET', '/api/v1/agents/assistant/sessions/research/tasks', { key: KEYS.admin }),
    ).toMatchObject({ status: 403 });
  });

  it('gives out tickets that open /mcp for that session and nothing else', async () => {
    fixture = await apiFixture();
    const { status, body } = await fixture.http('POST', `${SESSION}/ticket`, { key: KEYS.admin });
    expect(status).toBe(201);
    expect(body.expiresAt).toBeGreaterThan(Date.now());
    expect(await fixture.http('GET', `${SESSION}/tasks`, { key: body.ticket })).toMatchObject({
      status: 403,
      body: { error: 'ACCESS_DENIED' },
    });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const headers = { accept: 'application/json, text/event-stream' };
    expect(await fixture.http('POST', '/mcp', { key: body.ticket, body: list, headers })).toMatchObject({
      status: 200,
    });
    expect(await fixture.http('POST', '/mcp/other', { key: body.ticket, body: list, headers })).toMatchObject({
      status: 403,
    });
  });
});

describe('tasks over HTTP', () => {
  it('are started, read, updated, answered, controlled and cancelled with the same bodies as the tools', async () => {
    fixture = await apiFixture();
    const id = await spawn();
    const post = (path: string, body?: unknown) =>
      fixture.http('POST', `${SESSION}/tasks/${id}/${path}`, { key: KEYS.writer, body });
    expect(await fixture.http('GET', `${SESSION}/tasks/${id}`, { key: KEYS.writer })).toMatchObject({
      status: 200,
      body: { task: { taskId: id } },
    });
    expect(await post('updates', { expected_revision: 1, instruction: 'Go on.', mode: 'when_ready' })).toMatchObject({
      status: 202,
    });
    expect(await post('answers', { question_id: 'q', answer: 'Blue', field_text: '' })).toMatchObject({ status: 202 });
    expect(await post('control', { id: UUID, action: 'revise', expectedRevision: 1, text: 'Next' })).toMatchObject({
      status: 202,
    });
    expect(await post('cancel')).toMatchObject({ status: 202 });
    expect(fixture.tasks.calls.filter(({ method }) => method !== 'status').map(({ method }) => method)).toEqual([
      'update',
      'answer',
      'control',
      'cancel',
    ]);
    // A person's cancellation is not the agent's: a hand-off does not stand in its way.
    expect(fixture.tasks.calls.find(({ method }) => method === 'cancel')?.args).toMatchObject({ by: 'user' });
  });

  it.each([
    ['COMMAND_QUEUE_FULL', 429],
    ['REVISION_CONFLICT', 409],
    ['STATE_CONFLICT', 409],
    ['IDEMPOTENCY_CONFLICT', 409],
    ['NOTHING_TO_RESUME', 409],
    ['AUTOMATION_SESSION_CLOSED', 410],
    ['INVALID_INPUT', 400],
  ] as const)('answer a command that is refused as %s with %i and the code', async (code, status) => {
    fixture = await apiFixture();
    const id = await spawn();
    fixture.tasks.control = () => Promise.reject(new HostError(code, {}));
    const command = { id: UUID, action: 'revise', expectedRevision: 1, text: 'Next' };
    expect(
      await fixture.http('POST', `${SESSION}/tasks/${id}/control`, { key: KEYS.writer, body: command }),
    ).toMatchObject({ status, body: { error: code } });
  });

  it('refuses a control command that is not one, before it reaches the task', async () => {
    fixture = await apiFixture();
    const id = await spawn();
    const good = { id: UUID, action: 'pause', expectedRevision: 1 };
    for (const [path, body] of [
      [`${SESSION}/tasks/not-a-uuid/control`, good],
      [`/api/v1/agents/assistant/sessions/bad.session/tasks/${id}/control`, good],
      [`${SESSION}/tasks/${id}/control`, { ...good, id: 'x' }],
      [`${SESSION}/tasks/${id}/control`, { ...good, text: 'only revise takes text' }],
      [`${SESSION}/tasks/${id}/control`, { ...good, action: 'revise' }],
      [`${SESSION}/tasks/${id}/control`, { ...good, action: 'revise', text: 'x'.repeat(4001) }],
    ] as const)
      expect(await fixture.http('POST', path, { key: KEYS.writer, body })).toMatchObject({
        status: 400,
        body: { error: 'INVALID_INPUT' },
      });
    expect(fixture.tasks.calls.filter(({ method }) => method === 'control')).toEqual([]);
  });

  it('reads evidence with the documented refusals', async () => {
    fixture = await apiFixture();
    const id = await spawn();
    const path = `${SESSION}/tasks/${id}/browser-evidence`;
    expect((await fixture.http('GET', path, { key: KEYS.writer })).body.evidence.recordedOnly).toBe(true);
    expect((await fixture.http('GET', `${path}?refresh=true`, { key: KEYS.writer })).body.evidence.recordedOnly).toBe(
      false,
    );
    expect(await fixture.http('GET', `${path}?refresh=1`, { key: KEYS.writer })).toMatchObject({
      status: 400,
      body: { error: 'INVALID_REFRESH' },
    });
    expect(await fixture.http('GET', path, { key: KEYS.admin })).toMatchObject({
      status: 403,
      body: { error: 'BROWSER_EVIDENCE_UNAVAILABLE' },
    });
  });
});

describe('events', () => {
  it('come in order, resume after the last id that was seen, and end when the client goes', async () => {
    fixture = await apiFixture();
    const conversation = 'conversation:assistant:writer';
    for (const n of [1, 2]) fixture.tasks.emit(conversation, 'task.state', { n });
    fixture.tasks.emit('conversation:assistant:admin', 'task.state', { n: 'foreign' });

    const read = async (headers: Record<string, string>, count: number) => {
      const gone = new AbortController();
      const response = await fetch(`${fixture.url}${SESSION}/events`, {
        headers: { authorization: `Bearer ${KEYS.writer}`, ...headers },
        signal: gone.signal,
      });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const found: { id: string; type: string; n: unknown }[] = [];
      let text = '';
      for await (const chunk of response.body!) {
        text += Buffer.from(chunk).toString();
        found.length = 0;
        for (const [, id, type, data] of text.matchAll(/id: (\d+)\nevent: (\S+)\ndata: (.*)\n\n/g))
          found.push({ id: id!, type: type!, n: JSON.parse(data!).data.n });
        if (found.length >= count) break;
      }
      gone.abort();
      return found;
    };
    expect(await read({}, 2)).toEqual([
      { id: '1', type: 'task.state', n: 1 },
      { id: '2', type: 'task.state', n: 2 },
    ]);
    fixture.tasks.emit(conversation, 'task.progress', { n: 3 });
    expect(await read({ 'last-event-id': '2' }, 1)).toEqual([{ id: '4', type: 'task.progress', n: 3 }]);
    expect(await fixture.http('GET', `${SESSION}/events?after=x`, { key: KEYS.writer })).toMatchObject({ status: 400 });
  });

  it('can be opened only so many times by one key', async () => {
    fixture = await apiFixture({ limits: { streams: 1 } });
    const gone = new AbortController();
    const open = await fetch(`${fixture.url}${SESSION}/events`, {
      headers: { authorization: `Bearer ${KEYS.writer}` },
      signal: gone.signal,
    });
    expect(open.status).toBe(200);
    expect(await fixture.http('GET', `${SESSION}/events`, { key: KEYS.writer })).toMatchObject({
      status: 429,
      body: { error: 'TOO_MANY_OPEN' },
    });
    gone.abort();
    await expect
      .poll(async () => {
        const probe = new AbortController();
        const { status } = await fetch(`${fixture.url}${SESSION}/events`, {
          headers: { authorization: `Bearer ${KEYS.writer}` },
          signal: probe.signal,
        });
        probe.abort();
        return status;
      })
      .toBe(200);
  });
});

describe('what an operator reads', () => {
  const admin = {
    tasks: async () => ({ tasks: [], total: 0 }),
    receipts: async () => undefined,
    verifyAudit: async (head?: object) => ({ whole: true, head: head ?? null }),
    audit: async () => [],
    backup: async () => {},
    plugins: () => [{ id: 'browser-use' }],
    approvePlugin: async (id: string) => ({ id }),
    enablePlugin: async (id: string) => ({ id }),
  };
  const path = '/api/v1/admin';

  it('is for the local owner and for admin keys of every agent', async () => {
    fixture = await apiFixture(
      {
        keys: [
          { id: 'root', sha256: sha256('root'), agents: '*', access: 'admin' },
          { id: 'one', sha256: sha256('one'), agents: ['assistant'], access: 'admin' },
          { id: 'writer', sha256: sha256('writer'), agents: '*', access: 'write' },
        ],
      },
      { admin, owner: () => ({ principal: LOCAL_OWNER }) },
    );
    for (const key of ['one', 'writer'])
      expect(await fixture.http('GET', `${path}/plugins`, { key })).toMatchObject({ status: 403 });
    expect((await fixture.http('GET', `${path}/plugins`, { key: 'root' })).body).toEqual({
      plugins: [{ id: 'browser-use' }],
    });
    const directory = mkdtempSync(join(tmpdir(), 'owner-'));
    try {
      const socketPath = join(directory, 'host.sock');
      await fixture.api.listenOn(socketPath, 'owner');
      expect(statSync(socketPath).mode & 0o777).toBe(0o600);
      const status = await new Promise((resolve, reject) =>
        httpRequest({ socketPath, path: `${path}/tasks` }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end(),
      );
      expect(status).toBe(200);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('copies the store for nobody but the local owner, whatever key asks', async () => {
    const asked: string[] = [];
    fixture = await apiFixture(
      { keys: [{ id: 'root', sha256: sha256('root'), agents: '*', access: 'admin' }] },
      { admin: { ...admin, backup: async (to) => void asked.push(to) }, owner: () => ({ principal: LOCAL_OWNER }) },
    );
    const body = { directory: '/somewhere' };
    expect(await fixture.http('POST', `${path}/backup`, { key: 'root', body })).toMatchObject({ status: 403 });
    const directory = mkdtempSync(join(tmpdir(), 'owner-'));
    const pool = new Pool('http://localhost', { socketPath: join(directory, 'host.sock') });
    try {
      await fixture.api.listenOn(join(directory, 'host.sock'), 'owner');
      const ask = async (given: object, headers: Record<string, string> = {}) => {
        const options = { method: 'POST', path: `${path}/backup`, body: JSON.stringify(given) } as const;
        const reply = await pool.request({ ...options, headers: { 'content-type': 'application/json', ...headers } });
        await reply.body.dump();
        return reply.statusCode;
      };
      expect(await ask(body, { authorization: 'Bearer root' })).toBe(403);
      for (const given of [{ directory: 'relative' }, { directory: '/a\0b' }, { directory: 1 }, {}])
        expect(await ask(given)).toBe(400);
      expect(asked).toEqual([]);
      expect(await ask(body)).toBe(200);
      expect(asked).toEqual(['/somewhere']);
    } finally {
      await pool.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('takes an exported head in its one form', async () => {
    fixture = await apiFixture(
      { keys: [{ id: 'root', sha256: sha256('root'), agents: '*', access: 'admin' }] },
      { admin },
    );
    const head = `7:${'a'.repeat(64)}`;
    expect((await fixture.http('GET', `${path}/audit/verify?head=${head}`, { key: 'root' })).body.head).toEqual({
      seq: 7,
      hash: 'a'.repeat(64),
    });
    expect(await fixture.http('GET', `${path}/audit/verify?head=7`, { key: 'root' })).toMatchObject({ status: 400 });
    expect(await fixture.http('GET', `${path}/tasks?limit=0`, { key: 'root' })).toMatchObject({ status: 400 });
  });
});

describe('agents and targets', () => {
  it('are those that the key may use', async () => {
    fixture = await apiFixture();
    expect((await fixture.http('GET', '/api/v1/agents', { key: KEYS.writer })).body).toEqual({
      agents: [{ id: 'assistant' }],
    });
    expect((await fixture.http('GET', '/api/v1/agents', { key: KEYS.both })).body.agents).toHaveLength(2);
    const targets = await fixture.http('GET', `${SESSION}/targets?adapter=browser`, { key: KEYS.reader });
    expect(targets.body).toEqual({
      targets: [{ adapter: 'browser', session_id: 'tab', name: 'A tab' }],
      next_offset: null,
    });
    expect(await fixture.http('GET', `${SESSION}/targets?nope=1`, { key: KEYS.reader })).toMatchObject({ status: 400 });
  });
});

describe('messages', () => {
  it('go to the task that they name, or to the agent, and leave a receipt', async () => {
    fixture = await apiFixture();
    const id = await spawn();
    const post = (body: object, key = KEYS.writer) =>
      fixture.http('POST', '/api/v1/agents/assistant/messages', { key, body });
    const sent = await post({ session_id: 'default', text: 'scroll down', execution_task_id: id, request_id: 'm1' });
    expect(sent).toMatchObject({ status: 202, body: { receipt: { taskId: id } } });
    expect(await post({ text: 'hello' })).toMatchObject({ status: 202 });
    expect(fixture.tasks.calls.filter(({ method }) => method === 'message').map(({ args }) => args)).toContainEqual({
      text: 'hello',
    });
    for (const body of [{}, { text: '' }, { text: 'x', execution_task_id: 'no' }, { text: 'x', attachments: [] }])
      expect(await post(body)).toMatchObject({ status: 400, body: { error: 'INVALID_INPUT' } });
    expect(await post({ text: 'x' }, KEYS.reader)).toMatchObject({ status: 403 });
    expect(await post({ text: 'x', session_id: 'foreign' })).toMatchObject({ status: 403 });
    const foreign = { text: 'x', execution_task_id: UUID };
    expect(await post(foreign)).toMatchObject({ status: 403, body: { error: 'ACCESS_DENIED' } });
  });
});
