import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
