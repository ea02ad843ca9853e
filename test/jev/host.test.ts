import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../host/evaluator/engine.ts';
import { lexicalEngine } from '../../host/evaluator/lexical/lexical-engine.ts';
import { startEvaluator } from '../../host/evaluator/server.ts';
import { startJevHost } from '../../scripts/demo/stack.mjs';

const main = join(import.meta.dirname, '../../dist/host/main.js');
const KEY = 'evaluation-host-key';
const PROVIDER_KEYS = ['canary-provider-key-1', 'canary-provider-key-2'];
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let folder: string;
let stops: (() => Promise<unknown>)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jev-host-'));
  stops = [];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
});

const configFile = () => join(folder, 'config.json');
function write(config: unknown): void {
  writeFileSync(`${configFile()}.new`, JSON.stringify(config));
  renameSync(`${configFile()}.new`, configFile());
}
const keyFile = () => join(folder, 'provider.key');

async function start(engine: Engine = lexicalEngine, env: Record<string, string> = {}) {
  const seen: { authorization: string | undefined; model: unknown }[] = [];
  const provider = await startEvaluator({
    engine,
    onRequest: ({ headers, body }) => {
      seen.push({ authorization: headers.authorization, model: (body as { model: unknown }).model });
    },
  });
  stops.push(() => provider.close());
  writeFileSync(keyFile(), `${PROVIDER_KEYS[0]}\n`, { mode: 0o600 });
  const config = {
    dataDir: join(folder, 'data'),
    gateway: {
      api: {
        port: 0,
        keys: [
          { id: 'writer', sha256: sha256(KEY), agents: ['assistant'], access: 'write' },
          { id: 'spare', sha256: sha256('spare-key'), agents: ['assistant'], access: 'read' },
        ],
      },
      jev: {
        enabled: true,
        model: 'jev-1.13.0',
        baseUrl: provider.url,
        apiKeyFile: keyFile(),
        allowedAgentIds: ['assistant'],
      } as Record<string, unknown>,
    },
    agents: [{ id: 'assistant' }],
  };
  write(config);
  const host = await startJevHost(['serve', '--config', configFile()], { env });
  stops.push(() => host.stop());
  const evaluate = async (more: Record<string, unknown> = {}, key = KEY) => {
    const response = await fetch(`${host.url}/api/v1/jev/evaluate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        agentId: 'assistant',
        state: 'Please refund it',
        questions: { refund: { type: 'noul', instructions: 'refund' } },
        ...more,
      }),
    });
    const body = (await response.json()) as { requestedModel?: string; error?: { code: string } };
    return { status: response.status, body };
  };
  return { host, provider, seen, config, evaluate };
}

describe('evaluations through a running host', () => {
  it('reach the provider with the rotated key, and are listed without what was asked', async () => {
    const { host, seen, evaluate } = await start();
    const first = await evaluate({ requestId: 'mine' });
    expect(first).toMatchObject({
      status: 200,
      body: { requestId: 'mine', requestedModel: 'jev-1.13.0', answers: { refund: { type: 'noul' } } },
    });
    writeFileSync(keyFile(), `${PROVIDER_KEYS[1]}\n`);
    expect((await evaluate()).status).toBe(200);
    expect(seen.map(({ authorization }) => authorization)).toEqual(PROVIDER_KEYS.map((key) => `Bearer ${key}`));
    expect(await evaluate({ requestId: 'mine' })).toMatchObject({
      status: 409,
      body: { error: { code: 'JEV_REQUEST_CONFLICT' } },
    });
    expect((await evaluate({}, 'spare-key')).status).toBe(403);

    const usage = await fetch(`${host.url}/api/v1/jev/usage?agentId=assistant&limit=1`, {
      headers: { authorization: 'Bearer spare-key' },
    });
    expect(usage.headers.get('cache-control')).toBe('no-store');
    const text = await usage.text();
    expect(JSON.parse(text)).toMatchObject({
      total: 2,
      records: [{ consumer: 'http', outcome: 'completed', agentId: 'assistant' }],
    });
    for (const secret of [...PROVIDER_KEYS, 'refund', KEY]) expect(text + host.output()).not.toContain(secret);
  });

  it('follow the file: what is withdrawn ends, what is wrong changes nothing', async () => {
    const { host, seen, config, evaluate } = await start();
    expect((await evaluate()).status).toBe(200);

    write({ ...config, gateway: { ...config.gateway, jev: { ...config.gateway.jev, timeoutMs: -1 } } });
    await expect.poll(() => host.output(), { timeout: 15_000 }).toContain('gateway.jev.timeoutMs');
    expect((await evaluate()).status).toBe(200);

    config.gateway.jev.model = 'jev-latest';
    write(config);
    await expect.poll(async () => (await evaluate()).body.requestedModel, { timeout: 15_000 }).toBe('jev-latest');
    expect(seen.at(-1)?.model).toBe('jev-latest');

    config.gateway.jev.allowedAgentIds = [];
    write(config);
    await expect.poll(async () => (await evaluate()).status, { timeout: 15_000 }).toBe(403);
    config.gateway.jev.enabled = false;
    write(config);
    await expect.poll(async () => (await evaluate()).body.error?.code, { timeout: 15_000 }).toBe('JEV_DISABLED');
  });

  it('give no answer to a key that was removed while they were on their way', async () => {
    let release = (): void => {};
    let reached = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const arrived = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { host, config, evaluate } = await start({
      name: 'gated',
      answer: async (request, signal) => {
        reached();
        await gate;
        return lexicalEngine.answer(request, signal);
      },
    });
    const running = evaluate();
    await arrived;
    config.gateway.api.keys = config.gateway.api.keys.filter(({ id }) => id !== 'writer');
    write(config);
    await expect.poll(() => host.output(), { timeout: 4000 }).toContain('the configuration changed');
    release();
    expect(await running).toMatchObject({ status: 403, body: { error: { code: 'JEV_ACCESS_DENIED' } } });
  });
});

describe('jev-host exec', () => {
  function exec(
    args: string[],
    env: Record<string, string>,
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [main, 'exec', '--config', configFile(), ...args], {
      env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (data) => (out[name] += data));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...out })));
  }
  const printEnvironment = ['--', process.execPath, '-e', 'console.log(JSON.stringify(process.env))'];

  it('starts a program without private variables and with a ticket that opens the MCP endpoint', async () => {
    const { host, config } = await start();
    config.gateway.jev.apiKeyEnv = 'CANARY_JEV_KEY';
    delete config.gateway.jev.apiKeyFile;
    write(config);
    const { code, stdout } = await exec(printEnvironment, { CANARY_JEV_KEY: 'canary-value', PLAIN: 'kept' });
    expect(code).toBe(0);
    const env = JSON.parse(stdout);
    expect(env).toMatchObject({ PLAIN: 'kept', JEV_HOST_MCP_URL: `${host.url}/mcp` });
    expect(stdout).not.toContain('CANARY_JEV_KEY');
    const initialize = (bearer: string) =>
      fetch(env.JEV_HOST_MCP_URL, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
        }),
      });
    const opened = await initialize(env.JEV_HOST_TICKET);
    await opened.body?.cancel();
    expect(opened.status).toBe(200);
    const refused = await initialize('jt_nothing');
    await refused.body?.cancel();
    expect(refused.status).toBe(401);
    const admin = await fetch(`${host.url}/api/v1/agents`, {
      headers: { authorization: `Bearer ${env.JEV_HOST_TICKET}` },
    });
    expect(admin.status).toBe(403);
  });

  it('works without a running host, and ends as the program ended', async () => {
    writeFileSync(
      configFile(),
      JSON.stringify({
        dataDir: join(folder, 'none'),
        gateway: { jev: { enabled: true, model: 'm' } },
        agents: [{ id: 'a' }],
      }),
    );
    const { stdout, stderr } = await exec(printEnvironment, { TYPESAFE_API_KEY: 'canary-value' });
    expect(stdout).not.toMatch(/canary-value|JEV_HOST_TICKET/);
    expect(stderr).toContain('No host runs');
    expect((await exec(['--', process.execPath, '-e', 'process.exit(7)'], {})).code).toBe(7);
    expect(
      (
        await exec(
          ['--', process.execPath, '-e', 'process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 1e4)'],
          {},
        )
      ).code,
    ).toBe(143);
    expect((await exec(['--', '/nowhere/agent'], {})).code).toBe(2);
    expect((await exec(['--agent', 'stranger', '--', 'true'], {})).code).toBe(1);
    const { stdout: line } = await exec(['--print', '--', 'docker', 'run', 'image'], {});
    expect(JSON.parse(line)).toEqual(['docker', 'run', '--env', 'TYPESAFE_API_KEY=', 'image']);
  });

  it('puts the ticket into no command line', async () => {
    await start();
    for (const program of ['claude', 'codex', 'docker']) {
      const { stdout, code } = await exec(['--print', '--', program, 'run', 'x'], {});
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/jt_/);
    }
    expect(readFileSync(configFile(), 'utf8')).not.toMatch(/jt_/);
  });
});
