import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BrowserDeviceConfig } from '../../host/devices/browser/config.ts';
import { type DeviceServer, startDeviceServer } from '../../host/devices/browser/device-server.ts';
import { sha256Hex } from '../../host/devices/serving/keys.ts';
import type { JevRequest } from '../../sdk/contract/jev.ts';
import { rightEvaluator } from '../fixtures/browser-tasks/oracle.ts';
import { same } from '../fixtures/browser-tasks/rig.ts';
import { startTaskSite, type TaskSite } from '../fixtures/browser-tasks/site.ts';
import type { BrowserTask } from '../fixtures/browser-tasks/task.ts';
import { browserTasks } from '../fixtures/browser-tasks/tasks.ts';

const require = createRequire(import.meta.url);
const { runGatewayBrowserFixture } = require('../../scripts/jev-browser-smoke.cjs');
const { runGatewayBrowserCrashFixture } = require('../../scripts/jev-browser-crash-smoke.cjs');

/** `JEV_HOST_LONG=1` also waits until the tab can be read again. */
const LONG = process.env.JEV_HOST_LONG === '1';
const KEY = 'fixture-connector-key-0123456789';
let site: TaskSite;
let device: DeviceServer;
let directory: string;
let scope: { device_id: string; grant_id: string; tab_id: string };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'smoke-'));
  writeFileSync(join(directory, 'key'), KEY, { mode: 0o600 });
  site = await startTaskSite(browserTasks);
  device = await startDeviceServer({
    config: v.parse(BrowserDeviceConfig, { approve: 'always', navigation: { allow: [site.origin] } }),
    directory: join(directory, 'device'),
    host: '127.0.0.1',
    port: 0,
    keys: [{ id: 'fixture', role: 'connector', sha256: sha256Hex(KEY) }],
    env: process.env,
    asRoot: process.getuid?.() === 0,
    version: '0.0.0',
    onStop: () => {},
    now: Date.now,
  });
  const reply = await fetch(`${device.url}/v1/grants`, { headers: { authorization: `Bearer ${KEY}` } });
  const { grants } = (await reply.json()) as {
    grants: { id: string; deviceId: string; policy: { tabs: { id: string }[] } }[];
  };
  const grant = grants[0]!;
  scope = { device_id: grant.deviceId, grant_id: grant.id, tab_id: grant.policy.tabs[0]!.id };
});
afterAll(async () => {
  await device.close();
  await site.close();
  rmSync(directory, { recursive: true, force: true });
});

const taskOf = (id: string) => browserTasks.find((task) => task.id === id) as BrowserTask;

function optionsFor(task: BrowserTask) {
  const right = rightEvaluator(task);
  return {
    endpoint: `${device.url}/mcp`,
    apiKeyFile: join(directory, 'key'),
    scope,
    goal: task.goal,
    fields: task.fields ?? [],
    startUrl: site.url(task),
    evaluate: (request: JevRequest, signal: AbortSignal) => right(request, signal),
  };
}

describe('the smoke fixture', () => {
  it('takes a task through the actual host to a verified end', async () => {
    const task = taskOf('wizard-pages');
    site.reset(task);
    const run = await runGatewayBrowserFixture({
      ...optionsFor(task),
      assess: () => same(site.received(task), task.expected) && 'The site received the order, once.',
    });
    expect(run).toMatchObject({
      verified: true,
      decisions: 'callback',
      task: { state: 'completed', outcome: 'verified' },
    });
    expect(run.evaluations).toBe(task.plan.length + 1);
    expect(site.received(task)).toEqual(task.expected);
  });

  it('leaves a claim unverified when the parent does not find it so', async () => {
    const task = taskOf('filter-tick');
    site.reset(task);
    const run = await runGatewayBrowserFixture({ ...optionsFor(task), assess: () => false });
    expect(run.verified).toBe(false);
    expect(run.task.browserReport).toMatchObject({ reason: 'COMPLETION_CANDIDATE' });
  });
});

describe('the smoke fixture in a container', () => {
  /** Stands in for a runtime: keeps the command line, and runs the program where the mounts say, without a network. */
  function runtime(): NodeJS.ProcessEnv & { lines: string } {
    const folder = join(directory, 'bin');
    const lines = join(directory, 'lines');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'docker'),
      `#!${process.execPath}
const { appendFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const args = process.argv.slice(2);
if (args[0] === 'info') process.exit(0);
appendFileSync(${JSON.stringify(lines)}, JSON.stringify({ args, env: Object.keys(process.env) }) + '\\n');
const mounts = args.filter((arg) => arg.startsWith('type=bind')).map((arg) => /source=([^,]+),target=([^,]+)/.exec(arg).slice(1));
const outside = (text) => mounts.reduce((all, [source, target]) => all.replaceAll(target, source), text);
const input = outside(require('node:fs').readFileSync(0, 'utf8'));
const [program] = args.slice(args.indexOf('node') + 1).map(outside);
const ran = spawnSync('unshare', ['--map-root-user', '--net', process.execPath, program], {
  input, env: { PATH: process.env.PATH, JEV_HOST_TICKET: process.env.JEV_HOST_TICKET }, stdio: ['pipe', 'inherit', 'inherit'] });
process.exit(ran.status ?? 1);
`,
      { mode: 0o755 },
    );
    return { PATH: `${folder}:${process.env.PATH}`, HOME: directory, SECRET_OF_OURS: 'x', lines };
  }

  it('takes the same task to its end over the socket, and shows the container nothing else', async () => {
    const task = taskOf('wizard-pages');
    site.reset(task);
    const { lines, ...env } = runtime();
    const run = await runGatewayBrowserFixture({
      ...optionsFor(task),
      containerImage: 'node:20-slim',
      env,
      assess: () => same(site.received(task), task.expected) && 'The site received the order, once.',
    });
    expect(run).toMatchObject({
      verified: true,
      task: { state: 'completed', outcome: 'verified' },
      container: {
        network: [],
        hostOnly: [403, 403, 403, 403, 403, 403],
        foreign: { isError: true, error: 'ACCESS_DENIED', tasks: 0 },
      },
    });
    const started = readFileSync(lines, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { args: string[]; env: string[] });
    expect(started).toHaveLength(3);
    for (const { args, env: seen } of started) {
      const text = args.join(' ');
      expect(text).toMatch(/^run --env TYPESAFE_API_KEY= --env JEV_HOST_MCP_URL --env JEV_HOST_TICKET --rm /);
      expect(text).toContain('--network none --read-only --cap-drop ALL');
      expect(text).toMatch(/ node:20-slim node \/workspace\/container-agent\.mjs$/);
      expect(args.filter((arg) => arg.startsWith('type=bind'))).toHaveLength(2);
      // The ticket is in the environment, never on the command line; nothing else of ours is in either.
      expect(text).not.toContain('jt_');
      expect(seen).not.toContain('SECRET_OF_OURS');
    }
  }, 60_000);

  it('says so, and starts nothing, where no runtime answers', async () => {
    const empty = join(directory, 'empty');
    mkdirSync(empty, { recursive: true });
    const asked: unknown[] = [];
    const run = runGatewayBrowserFixture({
      ...optionsFor(taskOf('wizard-pages')),
      containerImage: 'node:20-slim',
      env: { PATH: empty },
      evaluate: async (request: unknown) => void asked.push(request),
      assess: () => false,
    });
    await expect(run).rejects.toThrow('neither docker nor podman answers here');
    expect(asked).toEqual([]);
  });
});

describe('the crash fixture', () => {
  it('finds the task interrupted, learns from the device what happened, and sends nothing again', async () => {
    const task = taskOf('table-archive');
    site.reset(task);
    const run = await runGatewayBrowserCrashFixture({
      ...optionsFor(task),
      // The navigation is the first mutation, the click the second.
      mutation: 2,
      // The dead host's lease lives a minute; only the long form waits for it.
      fresh: LONG,
      assertEffect: () => expect(site.received(task)).toEqual(task.expected),
    });
    expect(run).toMatchObject({
      state: 'needs_reconciliation',
      reason: 'BROWSER_EXECUTION_INTERRUPTED',
      sentAgain: false,
    });
    if (LONG) expect(run.operationStatus).toMatchObject({ operation_id: run.operationId, state: 'completed' });
    else expect(run.lastDispatched).toMatchObject({ operationId: run.operationId });
  }, 180_000);
});
