import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api, connectAgent, startJevHost } from '../../scripts/demo/stack.mjs';

const key = (): string => randomBytes(24).toString('base64url');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const keys = { write: key(), read: key(), other: key() };

let folder: string;
let host: Awaited<ReturnType<typeof startJevHost>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jev-host-bad-input-'));
  writeFileSync(join(folder, 'jev.key'), 'not-a-real-key', { mode: 0o600 });
  const config = {
    dataDir: join(folder, 'data'),
    gateway: {
      api: {
        port: 0,
        keys: [
          { id: 'writer', sha256: sha256(keys.write), agents: ['assistant'], access: 'write' },
          { id: 'reader', sha256: sha256(keys.read), agents: ['assistant'], access: 'read' },
          { id: 'other', sha256: sha256(keys.other), agents: ['someone-else'], access: 'write' },
        ],
      },
      jev: {
        enabled: true,
        provider: 'typesafe',
        baseUrl: 'http://127.0.0.1:9',
        model: 'jev-1.13.0',
        apiKeyFile: join(folder, 'jev.key'),
        features: { browserTasks: { enabled: true } },
        browser: { bindings: [] },
      },
    },
    agents: [{ id: 'assistant' }, { id: 'someone-else' }],
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  host = await startJevHost(['serve', '--config', join(folder, 'config.json')]);
});

afterAll(async () => {
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const spawnArguments = {
  title: 'A task',
  instructions: 'Do something',
  target_profile: 'gateway-managed',
  gateway_target: { adapter: 'browser', session_id: 'no-such-target' },
};

async function mcpError(args: Record<string, unknown>, tool = 'task_spawn', bearer = keys.write) {
  const agent = await connectAgent(host.url, bearer);
  try {
    return await agent.call(tool, args).then(
      () => undefined,
      (error: Error & { code?: string }) => ({ code: error.code, message: error.message }),
    );
  } finally {
    await agent.close();
  }
}

async function codeOf(response: Response): Promise<string | undefined> {
  const body = (await response.json()) as { error?: { code?: string } };
  return body.error?.code;
}

async function nothingWasWritten() {
  const { body } = await api(host.url, keys.write, '/agents/assistant/sessions/default/tasks');
  expect(body.tasks).toEqual([]);
}

describe('bad input', () => {
  it('answers 401 to a key that is not known, on every kind of route', async () => {
    for (const path of ['/agents/assistant/sessions/default/tasks', '/jev/usage?agentId=assistant']) {
      expect((await api(host.url, 'wrong', path)).status).toBe(401);
    }
    const mcp = await fetch(new URL('/mcp', host.url), {
      method: 'POST',
      headers: { authorization: 'Bearer wrong', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(mcp.status).toBe(401);
    const none = await fetch(new URL('/mcp', host.url), { method: 'POST', body: '{}' });
    expect(none.status).toBe(401);
  });

  it('refuses a read key that spawns: 403 over HTTP, an error result over MCP', async () => {
    const http = await api(host.url, keys.read, '/agents/assistant/sessions/default/tasks', spawnArguments);
    expect(http.status).toBe(403);
    expect(http.body.error).toBe('ACCESS_DENIED');
    const refusal = await mcpError(spawnArguments, 'task_spawn', keys.read);
    expect(refusal?.code).toMatch(/^(ACCESS|EXECUTION)_DENIED$/);
    await nothingWasWritten();
  });

  it('hides an agent that the key is not for, as if it did not exist', async () => {
    const foreign = await api(host.url, keys.other, '/agents/assistant/sessions/default/tasks');
    const missing = await api(host.url, keys.other, '/agents/no-such-agent/sessions/default/tasks');
    expect(foreign.status).toBe(missing.status);
    expect(foreign.body).toEqual(missing.body);
  });

  it('names an argument it does not know', async () => {
    const refusal = await mcpError({ ...spawnArguments, retry_of: 'x' });
    expect(refusal?.code).toBe('INVALID_INPUT');
    expect(refusal?.message).toContain('retry_of');
    const http = await api(host.url, keys.write, '/agents/assistant/sessions/default/tasks', {
      ...spawnArguments,
      identity: 'me',
    });
    expect(http.status).toBe(400);
    expect(JSON.stringify(http.body)).toContain('INVALID_INPUT');
    await nothingWasWritten();
  });

  it('names the path of a value of the wrong type', async () => {
    const refusal = await mcpError({ ...spawnArguments, gateway_target: { adapter: 'browser', session_id: 5 } });
    expect(refusal?.code).toBe('INVALID_INPUT');
    expect(refusal?.message).toContain('gateway_target.session_id');
    await nothingWasWritten();
  });

  it('answers 413 to a body that is too large and 400 to one that is no JSON', async () => {
    const post = (body: string) =>
      fetch(new URL('/api/v1/jev/evaluate', host.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.write}`, 'content-type': 'application/json' },
        body,
      });
    const large = await post(
      JSON.stringify({ agentId: 'assistant', state: 'x'.repeat(3 * 1024 * 1024), questions: {} }),
    );
    expect(large.status).toBe(413);
    expect(await codeOf(large)).toBe('JEV_INVALID_REQUEST');
    const broken = await post('{"agentId": ');
    expect(broken.status).toBe(400);
    expect(await codeOf(broken)).toBe('JEV_INVALID_REQUEST');
  });

  it('does not read a body before it knows the key', async () => {
    const large = await fetch(new URL('/api/v1/jev/evaluate', host.url), {
      method: 'POST',
      headers: { authorization: 'Bearer wrong', 'content-type': 'application/json' },
      body: 'x'.repeat(3 * 1024 * 1024),
    }).then(
      (response) => response.status,
      () => 401, // The host may close the connection before the body was sent.
    );
    expect(large).toBe(401);
  });
});
