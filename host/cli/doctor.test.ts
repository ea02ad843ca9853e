import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, describe, expect, it } from 'vitest';
import { storeLogin } from '../../core/credentials/stored-login.ts';
import { openLmdbStore } from '../../core/store/lmdb-store.ts';
import { jevHost } from '../../test/cli.ts';
import { HostConfig } from '../config/schema.ts';
import type { Finding, Patient } from './doctor/check.ts';
import { machineChecks } from './doctor/machine-checks.ts';

const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
function place(): string {
  const directory = join(folder, `p${made++}`);
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

async function examine(config: Record<string, unknown>, env: NodeJS.ProcessEnv = {}, dataDir = join(place(), 'data')) {
  const file = join(place(), 'host.json');
  writeFileSync(file, JSON.stringify({ agents: [{ id: 'assistant' }], gateway: { api: { port: 0 } }, ...config }));
  const { code, stdout } = await jevHost(['doctor', '--config', file, '--data-dir', dataDir, '--json'], {
    env: { PATH: process.env.PATH, ...env },
  });
  const report = JSON.parse(stdout) as { ok: boolean; checks: Finding[] };
  expect(report.ok).toBe(code === 0);
  for (const { id, verdict, says, next } of report.checks) {
    expect(`${id} ${says} ${next ?? ''}`).not.toContain('secret-value');
    if (verdict === 'fail' || verdict === 'warn') expect(next, id).toBeTruthy();
  }
  const of = (id: string): string => {
    const found = report.checks.find((check) => check.id === id);
    return found ? `${found.verdict}: ${found.says}` : 'absent';
  };
  return { code, of, checks: report.checks };
}
const jev = (more: Record<string, unknown>) => ({
  gateway: { api: { port: 0 }, jev: { enabled: true, model: 'jev-1.13.0', ...more } },
});
function key(mode = 0o600): string {
  const path = join(place(), 'key');
  writeFileSync(path, 'secret-value\n');
  chmodSync(path, mode);
  return path;
}

/** What one check says of a machine that is well but for what is given. */
async function found(id: string, more: Partial<Patient>): Promise<Finding | undefined> {
  const patient: Patient = {
    config: v.parse(HostConfig, { agents: [{ id: 'assistant' }], gateway: { api: { port: 0 } } }),
    configFile: 'host.json',
    dataDir: place(),
    env: {},
    now: Date.now,
    nodeVersion: process.versions.node,
    freeBytes: async () => 2 ** 40,
    ...more,
  };
  for (const check of machineChecks) {
    const finding = (await check(patient)).find((one) => one.id === id);
    if (finding) return finding;
  }
  return undefined;
}

describe('the plugins', () => {
  const noted = (grants: object, path = join(import.meta.dirname, '../../docs/examples/form-filler')) =>
    examine({ plugins: { 'form-filler': { path, grants } } });

  it('are read, and grants that give nothing are named', async () => {
    expect((await noted({ 'tools.call': { tools: ['page_type'] } })).of('plugin.form-filler')).toMatch(/^ok: /);
    const { of, code } = await noted({ 'tools.call': { tools: ['page_tipe'] } });
    expect(of('plugin.form-filler')).toBe(
      'warn: plugins.form-filler.grants["tools.call"].tools names "page_tipe", which the plugin does not ask for.',
    );
    expect(code).toBe(0);
  });

  it.each([
    ['maxDurationMs', { maxDurationMs: 'long' }],
    ['maxDurations', { maxDurations: 5 }],
  ])('are a failure with a setting that does not fit: %s', async (name, settings) => {
    const { of, code } = await examine({ plugins: { programs: { settings } } });
    expect(of('plugin.programs')).toMatch(new RegExp(`^fail: .*plugins\\.programs\\.settings\\.${name}:`));
    expect(code).toBe(1);
  });

  it('that cannot be read are a failure', async () => {
    const { of } = await noted({}, place());
    expect(of('plugin.form-filler')).toMatch(/^fail: .* holds no plugin\.json/);
  });
});

describe('jev-host doctor', () => {
  it('finds nothing wrong with a good set-up, and asks nobody anything', async () => {
    const requests: string[] = [];
    const provider = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as AddressInfo;
    try {
      const { code, of } = await examine(jev({ apiKeyFile: key(), baseUrl: `http://127.0.0.1:${port}` }));
      expect(code).toBe(0);
      expect(of('config')).toMatch(/^ok/);
      expect(of('jev.credential')).toMatch(/^ok/);
      expect(of('jev.credential.permissions')).toMatch(/^ok/);
      expect(of('jev.endpoint')).toContain(`http://127.0.0.1:${port}/v1/systemone`);
      expect(of('clock')).toMatch(/^ok/);
      expect(requests).toEqual([]);
    } finally {
      provider.close();
    }
  });

  it('lists every problem of a configuration that is not valid, the address that is not allowed too', async () => {
    const { code, checks } = await examine(jev({ baseUrl: 'http://10.0.0.1', apiKeyEnv: 'PATH', retries: 3 }));
    expect(code).toBe(1);
    const text = JSON.stringify(checks);
    for (const wanted of ['gateway.jev.baseUrl', 'gateway.jev.apiKeyEnv', 'gateway.jev.retries'])
      expect(text).toContain(wanted);
  });

  it.each<[string, () => Record<string, unknown>, RegExp]>([
    ['a key file that is missing', () => ({ apiKeyFile: '/nowhere/key' }), /^fail: .*does not exist/],
    ['an empty key file', () => ({ apiKeyFile: '/dev/null' }), /^fail: .*not a regular file/],
    ['a key file that everybody may write', () => ({ apiKeyFile: key(0o666) }), /^fail: .*every user/],
    ['a variable that is not set', () => ({ apiKeyEnv: 'UNSET_JEV_KEY' }), /^fail: .*not set/],
    ['no credential at all', () => ({}), /^fail: No credential/],
    ['a command, which is not run', () => ({ credentialCommand: ['/bin/false'] }), /^ok: .*not run/],
    ['half an upstream identity', () => ({ provider: 'upstream' }), /^fail: .*ANTHROPIC_BASE_URL is missing/],
  ])('judges %s', async (_, section, expected) => {
    const { of } = await examine(jev(section()));
    expect(of('jev.credential')).toMatch(expected);
  });

  it('finds a key file that others can read', async () => {
    const { code, of } = await examine(jev({ apiKeyFile: key(0o644) }));
    expect(of('jev.credential.permissions')).toMatch(/^warn/);
    expect(code).toBe(0);
  });

  it('finds the stored login', async () => {
    const dataDir = join(place(), 'data');
    await storeLogin(dataDir, 'secret-value');
    expect((await examine(jev({}), {}, dataDir)).of('jev.credential')).toMatch(/^ok: .*jev\.key/);
  });

  it('finds credentials in the environment, used and retired', async () => {
    const env = { JEV_OWN_KEY: 'secret-value', TYPESAFE_API_KEY: 'secret-value' };
    const { checks } = await examine(jev({ apiKeyEnv: 'JEV_OWN_KEY' }), env);
    const found = checks.filter(({ id }) => id === 'environment.private').map(({ says }) => says);
    expect(found).toEqual([
      'JEV_OWN_KEY holds a credential in this environment.',
      'TYPESAFE_API_KEY is set although nothing here uses it.',
    ]);
    expect((await examine(jev({ apiKeyFile: key() }))).of('environment.private')).toMatch(/^ok/);
  });

  it('finds agents that are named and do not exist, and that nobody may use Jev', async () => {
    const { of } = await examine(jev({ apiKeyFile: key(), allowedAgentIds: ['assitant'] }));
    expect(of('jev.agents.unknown')).toMatch(/assitant/);
    expect(of('jev.agents')).toMatch(/^warn: No agent/);
  });

  it('opens the store, and says when it cannot', async () => {
    const dataDir = join(place(), 'data');
    await (await openLmdbStore({ directory: dataDir })).close();
    expect((await examine({}, {}, dataDir)).of('data.store')).toMatch(/^ok/);
    const broken = place();
    writeFileSync(join(broken, 'store.mdb'), 'this is no store');
    expect((await examine({}, {}, broken)).of('data.store')).toMatch(/^fail: STORE_/);
  });

  it('finds records of the store that are damaged, wherever they stand', async () => {
    const dataDir = place();
    const store = await openLmdbStore({ directory: dataDir });
    const table = store.table<{ text: string }>({ name: 'some', version: 1 });
    await store.commit(['a', 'b', 'c'].map((key) => table.put([key], { text: `the record of ${key}` })));
    await store.close();
    const file = join(dataDir, 'store.mdb');
    writeFileSync(file, readFileSync(file, 'latin1').replaceAll('the record of b', 'the record of X'), 'latin1');
    expect((await examine({}, {}, dataDir)).of('data.store')).toMatch(/^fail: 1 of the store’s \d+ records is damaged/);
  });

  it.each([
    [200 * 2 ** 30, 'ok'],
    [500 * 2 ** 20, 'warn'],
    [100 * 2 ** 20, 'fail'],
    [0, 'fail'],
  ])('of a disk with %i bytes free says: %s', async (free, verdict) => {
    expect(await found('data.disk', { freeBytes: async () => free })).toMatchObject({ verdict });
  });

  it.each([
    ['18.20.0', 'fail'],
    ['20.18.3', 'fail'],
    ['20.19.0', 'ok'],
    ['24.1.0', 'ok'],
  ])('of Node %s says: %s', async (nodeVersion, verdict) => {
    expect(await found('node', { nodeVersion })).toMatchObject({ verdict });
  });

  it('finds a clock that was never set, and a disk that says nothing', async () => {
    expect(await found('clock', { now: () => 0 })).toMatchObject({ verdict: 'fail' });
    const silent = () => Promise.reject(Object.assign(new Error(), { code: 'EIO' }));
    expect(await found('data.disk', { freeBytes: silent })).toMatchObject({ verdict: 'warn' });
  });

  it('finds a data directory that is open to others or cannot be made', async () => {
    const shared = place();
    chmodSync(shared, 0o755);
    expect((await examine({}, {}, shared)).of('data.directory')).toMatch(/^warn/);
    const { code, of } = await examine({}, {}, '/dev/null/data');
    expect(of('data.directory')).toMatch(/^fail/);
    expect(code).toBe(1);
  });

  it('finds a clock that was set back since the last run', async () => {
    const dataDir = place();
    const later = Date.now() / 1000 + 3600;
    writeFileSync(join(dataDir, 'old-file'), '');
    utimesSync(join(dataDir, 'old-file'), later, later);
    expect((await examine({}, {}, dataDir)).of('clock')).toMatch(/^fail: .*set back/);
  });

  it('finds Chromium missing, a port in use and a connector that is away or whose clock differs', async () => {
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString());
      response.end('x');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const connector = (id: string, url: string) => ({
      id,
      url,
      authorization: { env: 'REMOTE_KEY' },
      agents: ['assistant'],
    });
    try {
      const { of } = await examine({
        gateway: {
          api: { port },
          connectors: [connector('late', `http://127.0.0.1:${port}/mcp`), connector('away', 'http://127.0.0.1:1/mcp')],
        },
        devices: { browser: { enabled: true, executable: '/nowhere/chromium' } },
      });
      expect(of('api.port')).toMatch(/^fail: .*EADDRINUSE/);
      expect(of('browser.chromium')).toMatch(/^fail/);
      expect(of('connector.late')).toMatch(/^warn: .*clock differs by -3[56]\d\d s/);
      expect(of('connector.away')).toMatch(/^fail/);
      expect(of('api.keys')).toMatch(/^warn/);
    } finally {
      server.close();
    }
  });

  it.each([
    ['off unless asked for', {}, {}, 'skip: Browser tasks are off.'],
    [
      'on without their section',
      { features: { browserTasks: { enabled: true } } },
      {},
      /^warn: .*gateway\.jev\.browser/,
    ],
    [
      'on without a browser',
      { features: { browserTasks: { enabled: true } }, browser: { bindings: [] } },
      {},
      /^warn: .*no browser/,
    ],
    [
      'on without Jev',
      { enabled: false, features: { browserTasks: { enabled: true } }, browser: { bindings: [] } },
      { browser: { enabled: true } },
      /^warn: .*Jev is off/,
    ],
    [
      'on',
      { features: { browserTasks: { enabled: true } }, browser: { bindings: [] } },
      { browser: { enabled: true } },
      'ok: Browser tasks are on.',
    ],
  ])('tells whether browser tasks can be had: %s', async (_name, section, devices, says) => {
    const { of } = await examine({ ...jev({ apiKeyFile: key(), ...section }), devices });
    expect(of('browser.tasks')).toMatch(says);
  });

  it('prints lines for people and says how many failed', async () => {
    const file = join(place(), 'host.json');
    writeFileSync(file, JSON.stringify({ agents: [{ id: 'a' }], ...jev({}) }));
    const { code, stdout, stderr } = await jevHost(['doctor', '--config', file, '--data-dir', join(place(), 'd')]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}jev\.credential/m);
    expect(stderr).toMatch(/1 check failed/);
  });
});
