/**
 * What one decision of the browser controller costs besides the evaluator, and what a whole flight search costs with it.
 *
 * The controller runs in its sandboxed worker, the device is the real one on Chromium in this process. Chromium's own
 * commands are timed where they leave, so that the wait for a page to settle can be told from work.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import * as v from 'valibot';
import { dataFolder, root } from '../scripts/setup.mjs';
import { markdownTable, median } from './report.mjs';

const dist = (path) => import(join(root, 'dist', path));
const { createPluginHost } = await dist('host/plugins/plugin-host.js');
const { resultFor } = await dist('sdk/testing/evaluators.js');
const { Protocol } = await dist('host/devices/browser/chromium/protocol.js');
const { Browser } = await dist('host/devices/browser/browser.js');
const { BrowserDeviceConfig } = await dist('host/devices/browser/config.js');
const { Grants } = await dist('host/devices/browser/records/grants.js');
const { Leases } = await dist('host/devices/browser/records/leases.js');
const { Operations } = await dist('host/devices/browser/records/operations.js');
const { ToolCalls } = await dist('host/devices/browser/tool-calls.js');
const { createMemoryStore } = await dist('core/store/memory-store.js');

const folder = join(dataFolder('bench'), `browser-use-${process.pid}`);
mkdirSync(folder, { recursive: true });
const fixtures = await bundled('test/fixtures/browser-tasks');

const plugins = createPluginHost({ config: {}, log: () => {}, now: Date.now });
await plugins.start();
const authority = { principalId: 'bench', agentId: 'bench', conversationId: 'bench' };
const mutation = /^(?:page_(?:click|type|select|scroll|keypress)|tab_(?:history|navigate))$/;

try {
  const own = await hostAndPlugin();
  const whole = await withDevice();
  console.log(markdownTable(['per decision, median', 'ms', 'limit'], [...own, ...whole.rows]));
  console.log(`\n${markdownTable(['flight search, evaluator of 180 ms', 'value', 'limit'], whole.flight)}`);
} finally {
  await plugins.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** A run of `count` clicks against a device in memory: everything that is left is the host's and the plugin's. */
async function hostAndPlugin() {
  let generation = 0;
  const observation = () => ({
    protocol_version: 1,
    generation: `g${generation}`,
    url: 'http://site.example/',
    title: 'Two hundred controls',
    text: `${'word '.repeat(400)}${generation}`,
    elements: Array.from({ length: 150 }, (_, i) => ({
      ref: `e${i}`,
      label: `Control number ${i}`,
      context: `Row ${i} of the list`,
      tag: 'button',
      role: 'button',
      operations: ['CLICK'],
      in_viewport: true,
    })),
    scroll: { y: 0, up: false, down: true },
    truncated: { text: false, elements: true, viewport_elements: false },
  });
  const scope = { device_id: 'd', grant_id: 'g', tab_id: 't' };
  const gaps = [];
  for (let run = 0; run < 4; run++) {
    const asked = [];
    let inside = 0;
    const timed = (work) => {
      const from = performance.now();
      const value = work();
      inside += performance.now() - from;
      return value;
    };
    const result = await drive({
      scope,
      count: 60,
      evaluate: async (request) => {
        asked.push({ at: performance.now(), inside });
        return timed(() => resultFor(request, { operation: 'CLICK', click_target: `e${generation % 30}` }));
      },
      callTool: async (name) =>
        timed(() => {
          if (name === 'page_observe') return reply(observation());
          if (!mutation.test(name))
            return reply({ state: 'completed', result: { protocol_version: 1, lease_token: randomUUID() } });
          generation += 1;
          return reply({ state: 'completed', result: { observation: observation() } });
        }),
    });
    if (result.reason !== 'EVALUATION_BUDGET' && result.reason !== 'ACTION_BUDGET')
      throw new Error(`The clicks ended with ${result.reason}.`);
    if (run > 0)
      for (let i = 1; i < asked.length; i++)
        gaps.push(asked[i].at - asked[i - 1].at - (asked[i].inside - asked[i - 1].inside));
  }
  return [['host and plugin, device in memory (150 controls told of 200)', median(gaps).toFixed(2), '5']];
}

async function withDevice() {
  const commands = [];
  const send = Protocol.prototype.send;
  Protocol.prototype.send = function timed(method, params, session) {
    const entry = {
      method,
      settle: String(params?.expression).startsWith('__device.settle('),
      from: performance.now(),
      to: Number.POSITIVE_INFINITY,
    };
    commands.push(entry);
    const answer = send.call(this, method, params, session);
    const end = () => {
      entry.to = performance.now();
    };
    answer.then(end, end);
    return answer;
  };
  const site = await pageOf200();
  const flights = await fixtures.startTaskSite([fixtures.flightTask]);
  const device = await startDevice([site.url, flights.origin]);
  try {
    return { rows: await clicks(device, site, commands), flight: await flightSearch(device, flights) };
  } finally {
    Protocol.prototype.send = send;
    await device.close();
    await flights.close();
    site.close();
  }
}

async function clicks(device, site, commands) {
  const costs = [];
  const calls = [];
  const snapshots = [];
  const waits = [];
  for (let run = 0; run < 3; run++) {
    const asked = [];
    await drive({
      scope: device.scope,
      startUrl: site.url,
      count: 30,
      evaluate: async (request) => {
        asked.push(performance.now());
        const keys = Object.keys(request.questions.click_target.criteria).filter((key) => key !== 'NONE');
        return resultFor(request, { operation: 'CLICK', click_target: keys[asked.length % keys.length] });
      },
      callTool: device.call,
    });
    if (run === 0) continue;
    for (let i = 2; i < asked.length; i++) {
      const during = commands.filter(({ from }) => from >= asked[i - 1] && from < asked[i]);
      costs.push(asked[i] - asked[i - 1] - settling(during, asked[i]));
      waits.push(settling(during, asked[i]));
      calls.push(during.length);
      snapshots.push(
        during.filter(({ method }) => method === 'Runtime.evaluate' || method === 'Runtime.callFunctionOn').length,
      );
    }
  }
  return [
    ['host, plugin and device, 200 controls, settle wait left out', median(costs).toFixed(2), '35'],
    ['the settle wait beside it', median(waits).toFixed(2), ''],
    ['protocol calls', String(median(calls)), '8'],
    ['of them evaluate calls: target, input check, settle, snapshot', String(median(snapshots)), ''],
  ];
}

/** How long the page was watched until it was quiet. */
function settling(during, until) {
  return during.filter(({ settle }) => settle).reduce((sum, { from, to }) => sum + Math.min(to, until) - from, 0);
}

async function flightSearch(device, flights) {
  const { flightTask: task, rightEvaluator } = fixtures;
  const LATENCY = 180;
  const ratios = [];
  let evaluations = 0;
  for (let run = 0; run < 3; run++) {
    flights.reset(task);
    const right = rightEvaluator(task);
    let first;
    let deciding = 0;
    const result = await drive({
      scope: device.scope,
      startUrl: flights.url(task),
      goal: task.goal,
      fields: task.fields,
      count: 40,
      async evaluate(request) {
        const from = performance.now();
        first ??= from;
        await new Promise((resolve) => setTimeout(resolve, LATENCY));
        const answer = await right(request, new AbortController().signal);
        deciding += performance.now() - from;
        return answer;
      },
      callTool: device.call,
    });
    const wall = performance.now() - first;
    if (result.reason !== 'COMPLETION_CANDIDATE' || flights.received(task).length !== 1)
      throw new Error(`The flight search ended with ${result.reason}.`);
    evaluations = result.evaluations;
    ratios.push(wall / deciding);
  }
  return [
    ['decisions', String(evaluations), ''],
    ['wall time over evaluator time, median', `${median(ratios).toFixed(2)}x`, '1.6x'],
  ];
}

function drive({ scope, startUrl, goal = 'Press the controls.', fields = [], count, evaluate, callTool }) {
  return plugins.run('browser-use', {
    runId: randomUUID(),
    input: {
      contractVersion: 1,
      goal,
      scope,
      fields,
      maxSteps: count,
      maxEvaluations: count,
      ...(startUrl ? { startUrl } : {}),
    },
    ports: { evaluate, callTool, progress() {} },
    authority,
    signal: new AbortController().signal,
  });
}

function reply(body) {
  return { content: [{ type: 'text', text: JSON.stringify(body) }] };
}

/** Two hundred buttons; a click changes the page at once. */
async function pageOf200() {
  const buttons = Array.from(
    { length: 200 },
    (_, i) =>
      `<button onclick="document.title = n; document.querySelector('p').textContent = 'Pressed ' + (++n)">Control ${i}</button>`,
  );
  const server = createServer((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>200</title><script>let n = 0</script><p>Nothing yet</p>${buttons.join(' ')}`),
  );
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close().closeAllConnections() };
}

async function startDevice(origins) {
  const leases = new Leases({ now: Date.now, uuid: randomUUID });
  const browser = new Browser({
    config: v.parse(BrowserDeviceConfig, {
      approve: 'always',
      ...(process.env.JEV_HOST_CHROMIUM ? { executable: process.env.JEV_HOST_CHROMIUM } : {}),
      navigation: { allow: origins.map((url) => new URL(url).origin) },
    }),
    directory: join(folder, 'chromium'),
    env: process.env,
    asRoot: process.getuid?.() === 0,
    now: Date.now,
    onTabGone: (tabId) => leases.revoke({ tabId }),
  });
  const grants = new Grants({
    deviceId: 'bench',
    label: 'Bench',
    approve: 'always',
    now: Date.now,
    uuid: randomUUID,
    tabs: () => browser.tabs(),
  });
  const calls = new ToolCalls({
    browser,
    grants,
    leases,
    operations: new Operations(createMemoryStore(), randomUUID(), Date.now),
  });
  await browser.start();
  await browser.openTab();
  const [grant] = grants.list().grants;
  return {
    scope: { device_id: grant.deviceId, grant_id: grant.id, tab_id: grant.policy.tabs[0].id },
    async call(name, args, signal) {
      const { body, isError } = await calls.call(name, args, signal);
      return { ...reply(body), ...(isError ? { isError } : {}) };
    },
    close: () => browser.close(),
  };
}

/** The fixtures are TypeScript; here they are needed as they run. */
async function bundled(path) {
  const outfile = join(folder, 'fixtures.mjs');
  await build({
    stdin: {
      contents: ['site', 'oracle', 'flights'].map((name) => `export * from './${name}.ts';`).join('\n'),
      resolveDir: join(root, path),
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    logLevel: 'error',
  });
  return import(outfile);
}
