import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startJevHost } from '../../scripts/demo/stack.mjs';
import { selfSigned } from '../support/certificate.ts';

const main = join(import.meta.dirname, '../../dist/host/main.js');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const KEY = 'serve-test-key';

let folder: string;
let stops: (() => Promise<unknown>)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serve-'));
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Config {
  dataDir: string;
  gateway: { api: { port: number; keys: object[] }; jev?: object };
  agents: object[];
  [key: string]: unknown;
}

const config = (): Config => ({
  dataDir: join(folder, 'data'),
  gateway: {
    api: { port: 0, keys: [{ id: 'a', sha256: sha256(KEY), agents: ['assistant'], access: 'write' }] },
  },
  agents: [{ id: 'assistant' }],
});

function write(value: unknown): string {
  const file = join(folder, 'config.json');
  writeFileSync(`${file}.new`, typeof value === 'string' ? value : JSON.stringify(value));
  renameSync(`${file}.new`, file);
  return file;
}

async function serve(value: unknown = config(), env: Record<string, string> = {}) {
  const host = await startJevHost(['serve', '--config', write(value), '--port', '0'], { env });
  stops.push(() => host.stop());
  return host;
}

/** Runs a command to its end. */
function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [main, ...args], { env: { PATH: process.env.PATH ?? '', HOME: folder } });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (data) => {
      out[name] += data;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...out })));
}

const status = async (url: string, path: string, key = KEY) =>
  (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).status;

describe('jev-host serve', () => {
  it('says where it answers, answers there, and stops in order when it is asked to', async () => {
    const host = await serve();
    expect(host.output()).toMatch(/^jev-host ready http:\/\/127\.0\.0\.1:\d+$/m);
    expect(await status(host.url, '/readyz')).toBe(200);
    expect(await status(host.url, '/api/v1/agents')).toBe(200);
    expect(await host.stop()).toBe(0);
    await expect(fetch(`${host.url}/healthz`)).rejects.toThrow();
  });

  it('serves nothing with a configuration that is not valid, and lists every problem', async () => {
    const wrong = config();
    Object.assign(wrong.gateway.api, { prot: 1 });
    wrong.agent = [];
    const { code, stdout, stderr } = await run('serve', '--config', write(wrong));
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('gateway.api.prot: there is no such key; did you mean "port"?');
    expect(stderr).toContain('agent: there is no such key; did you mean "agents"?');
    const checked = await run('config', 'check', '--config', join(folder, 'config.json'), '--json');
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout).problems).toHaveLength(2);
  });

  it('refuses a key from the moment at which it expires, and says nothing of it before', async () => {
    const expiring = config();
    const soon = Date.now() + 4000;
    expiring.gateway.api.keys = [
      { id: 'a', sha256: sha256(KEY), agents: '*', access: 'write', expiresAt: new Date(soon).toISOString() },
      { id: 'old', sha256: sha256('old'), agents: '*', access: 'admin', expiresAt: '2020-01-01T00:00:00Z' },
    ];
    const host = await serve(expiring);
    expect(await status(host.url, '/api/v1/agents', 'old')).toBe(401);
    await expect.poll(() => status(host.url, '/api/v1/agents'), { timeout: 15_000 }).toBe(401);
    expect(Date.now()).toBeGreaterThanOrEqual(soon);
  });

  it('serves HTTPS with the operator’s certificate, and nothing else on that port', async () => {
    const tls = selfSigned(folder);
    const secure = config();
    Object.assign(secure.gateway.api, { tls });
    const host = await serve(secure);
    expect(host.url).toMatch(/^https:/);
    const ca = readFileSync(tls.certFile);
    const dispatcher = new Agent({ connect: { ca } });
    try {
      const answer = await dispatcher.request({
        origin: host.url,
        path: '/api/v1/agents',
        method: 'GET',
        headers: { authorization: `Bearer ${KEY}` },
      });
      expect(answer.statusCode).toBe(200);
      await answer.body.dump();
    } finally {
      await dispatcher.close();
    }
    await expect(fetch(host.url.replace('https:', 'http:'))).rejects.toThrow();
    await expect(fetch(host.url)).rejects.toThrow();
  });

  it.each([
    ['a certificate that is not there', { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' }],
    ['a file that is no certificate', undefined],
  ])('does not start with %s, and says which file', async (_, tls) => {
    const nonsense = join(folder, 'nonsense.pem');
    writeFileSync(nonsense, 'no certificate');
    const wrong = config();
    Object.assign(wrong.gateway.api, { tls: tls ?? { certFile: nonsense, keyFile: nonsense } });
    const { code, stdout, stderr } = await run('serve', '--config', write(wrong), '--port', '0');
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(tls ? '/nowhere/cert.pem' : nonsense);
  });

  it('is alive and not ready while a device of its own takes its time to start', async () => {
    const slow = join(folder, 'slow-chromium');
    writeFileSync(slow, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const file = write({ ...config(), devices: { browser: { enabled: true, executable: slow } } });
    const child = spawn(process.execPath, [main, 'serve', '--config', file, '--port', String(port)], {
      env: { PATH: process.env.PATH ?? '', HOME: folder },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    stops.push(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    const url = `http://127.0.0.1:${port}`;
    const alive = () => status(url, '/healthz').catch(() => 0);
    await expect.poll(alive, { timeout: 20_000 }).toBe(200);
    expect(await status(url, '/readyz')).toBe(503);
    expect(await status(url, '/api/v1/agents')).toBe(503);
    expect(await status(url, '/api/v1/agents', 'wrong')).toBe(401);
  });

  it('ends when its port is taken, and says which', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = taken.address() as AddressInfo;
      const { code, stdout, stderr } = await run('serve', '--config', write(config()), '--port', String(port));
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain(String(port));
    } finally {
      taken.close();
    }
  });

  it('refuses a second host on the same data directory', async () => {
    await serve();
    const { code, stderr } = await run('serve', '--config', join(folder, 'config.json'));
    expect(code).toBe(1);
    expect(stderr).toContain('STORE_UNAVAILABLE');
  });

  it('follows a changed file within seconds: a removed key opens nothing, a broken file changes nothing', async () => {
    const host = await serve();
    const second = config();
    second.gateway.api.keys = [{ id: 'b', sha256: sha256('second'), agents: '*', access: 'read' }];
    second.agents.push({ id: 'late' });
    write(second);
    await expect.poll(() => status(host.url, '/api/v1/agents'), { timeout: 5000 }).toBe(401);
    expect(await status(host.url, '/api/v1/agents/late/sessions', 'second')).toBe(200);

    write('{ "gateway": ');
    await expect.poll(() => host.output(), { timeout: 5000 }).toContain('is not valid; the host keeps the last one');
    expect(await status(host.url, '/api/v1/agents', 'second')).toBe(200);

    write(config());
    await expect.poll(() => status(host.url, '/api/v1/agents'), { timeout: 5000 }).toBe(200);
  });

  it('takes a key away from an evaluation that is on its way: the answer is dropped', async () => {
    let answer = () => {};
    let asked = () => {};
    const request = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const provider = createServer((incoming, outgoing) => {
      incoming.resume();
      answer = () => {
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        outgoing.end(
          JSON.stringify({
            model: 'jev-1.13.0',
            answers: { a: { type: 'noul', noul: 0.5 } },
            usage: { input_tokens: 1, output_tokens: 1 },
          }),
        );
      };
      asked();
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => provider.close(resolve)));
    const withJev = (keys: object[]) => ({
      ...config(),
      gateway: {
        api: { port: 0, keys },
        jev: {
          enabled: true,
          provider: 'typesafe',
          model: 'jev-1.13.0',
          timeoutMs: 30_000,
          baseUrl: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
          apiKeyEnv: 'PRIVATE_JEV_TOKEN',
        },
      },
    });
    const host = await serve(withJev(config().gateway.api.keys), { PRIVATE_JEV_TOKEN: 'canary-credential-value' });
    const call = fetch(`${host.url}/api/v1/jev/evaluate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agentId: 'assistant', state: 's', questions: { a: { type: 'noul', instructions: '?' } } }),
    });
    await request;
    write(withJev([]));
    await expect.poll(() => status(host.url, '/api/v1/agents'), { timeout: 5000 }).toBe(401);
    answer();
    const refused = await call;
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'JEV_ACCESS_DENIED' } });
    expect(host.output()).not.toContain('canary-credential-value');
  });

  it('lets the local owner in by the socket of the data directory, without a key', async () => {
    await serve();
    const { code, stdout } = await run('task', 'status', '--config', join(folder, 'config.json'), '--json');
    expect([code, stdout.trim() === '' ? 'nothing' : 'json']).toEqual([0, 'json']);
  });

  it('keeps sessions over a restart', async () => {
    const first = await serve();
    const open = (url: string) =>
      fetch(`${url}/api/v1/agents/assistant/sessions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 'kept' }),
      }).then((response) => response.json());
    const before = await open(first.url);
    await first.stop();
    const second = await serve();
    expect(await open(second.url)).toEqual(before);
  });
});

describe('jev-host backup and restore', () => {
  const copy = () => join(folder, 'copy');
  const where = () => ['--config', join(folder, 'config.json')];
  const openSession = (url: string, sessionId: string) =>
    fetch(`${url}/api/v1/agents/assistant/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId }),
    }).then((response) => response.json());

  it('copies a host that is being written to, and a host starts on the copy with what was confirmed before', async () => {
    const host = await serve();
    const before = await openSession(host.url, 'before');
    let going = true;
    const writing = (async () => {
      for (let n = 0; going; n++) await openSession(host.url, `during-${n}`);
    })();
    const backup = await run('backup', copy(), ...where(), '--json');
    going = false;
    await writing;
    expect(backup).toMatchObject({ code: 0 });
    expect((await run('backup', copy(), ...where())).stderr).toContain('BACKUP_EXISTS');
    await openSession(host.url, 'after');

    expect(await run('restore', copy(), ...where(), '--replace')).toMatchObject({ code: 1 });
    await host.stop();
    expect((await run('restore', copy(), ...where())).stderr).toContain('RESTORE_REFUSED');
    const restored = await run('restore', copy(), ...where(), '--replace', '--json');
    expect(restored.code).toBe(0);
    expect(JSON.parse(restored.stdout).kept).toMatch(/^store\.mdb\.replaced-/);

    const again = await serve();
    const response = await fetch(`${again.url}/api/v1/agents/assistant/sessions`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    const { sessions } = (await response.json()) as { sessions: { sessionId: string }[] };
    const ids = sessions.map(({ sessionId }) => sessionId);
    expect(ids).toContain('before');
    expect(ids).not.toContain('after');
    expect(await openSession(again.url, 'before')).toEqual(before);
    const head = JSON.parse(backup.stdout).audit;
    const verified = await run('audit', 'verify', ...where(), '--head', `${head.seq}:${head.hash}`);
    expect([verified.code, verified.stderr]).toEqual([0, expect.stringContaining('whole')]);
  });

  it('copies a closed store too, and says what is wrong with a call', async () => {
    const host = await serve();
    await openSession(host.url, 'kept');
    await host.stop();
    expect(await run('backup', copy(), ...where())).toMatchObject({ code: 0 });
    const data = join(folder, 'elsewhere');
    expect(await run('restore', copy(), '--data-dir', data)).toMatchObject({ code: 0 });
    expect((await run('audit', 'verify', '--data-dir', data)).code).toBe(0);
    writeFileSync(join(folder, 'file'), '');
    const running = await serve();
    expect((await run('backup', join(folder, 'file', 'x'), ...where())).stderr).toContain('BACKUP_FAILED');
    await running.stop();
    for (const args of [['backup'], ['restore'], ['backup', 'a', 'b'], ['restore', copy()]])
      expect((await run(...args)).code).toBe(2);
  });
});

describe('jev-host key create', () => {
  it('prints a key once, and an entry that lets it in', async () => {
    const { code, stdout } = await run('key', 'create', '--id', 'laptop', '--agent', 'assistant', '--json');
    expect(code).toBe(0);
    const { key, entry } = JSON.parse(stdout);
    expect(entry).toEqual({ id: 'laptop', sha256: sha256(key), agents: ['assistant'], access: 'write' });
    const file = write({ ...config(), gateway: { api: { port: 0, keys: [entry] } } });
    expect((await run('config', 'check', '--config', file)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain(key);
    expect((await run('key', 'create', '--access', 'root')).code).toBe(2);
    expect((await run('key')).code).toBe(2);
  });
});
