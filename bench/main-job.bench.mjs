/**
 * The whole task, split. The host runs in this process, so that every request it makes can be timed from outside by Node's
 * own diagnostics channels; the shop, the evaluator and the device are as in the demo.
 *
 * A step is the time from the answer of one mutation to the answer of the next. What of it was not spent waiting for the
 * device or the evaluator is the host's own share: plugin, sandbox border, checkpoint on disk, validation.
 */
import diagnostics from 'node:diagnostics_channel';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { wish } from '../scripts/demo/run.mjs';
import { connectAgent, startStack } from '../scripts/demo/stack.mjs';
import { dataFolder, root } from '../scripts/setup.mjs';
import { markdownTable, median } from './report.mjs';

const RUNS = 7;
/** The first runs fill caches and compile code. */
const WARM_UP = 2;

const requests = [];
const open = new Map();
diagnostics.subscribe('undici:request:create', ({ request }) =>
  open.set(request, { origin: String(request.origin), path: request.path, body: '', from: performance.now() }),
);
const close = ({ request }) => {
  const entry = open.get(request);
  if (!entry) return;
  open.delete(request);
  requests.push({ ...entry, to: performance.now(), body: bodyOf(request) });
};
diagnostics.subscribe('undici:request:trailers', close);
diagnostics.subscribe('undici:request:error', close);

const bodyOf = (request) =>
  typeof request.body === 'string' || request.body instanceof Uint8Array
    ? Buffer.from(request.body).toString('utf8')
    : '';
const mutation = /"name":"(page_click|page_type|page_select|page_scroll|page_keypress|tab_history|tab_navigate)"/;

const folder = join(dataFolder('bench'), `main-job-${process.pid}`);
const { openConfig } = await import(join(root, 'dist/host/config/config-file.js'));
const { createHost } = await import(join(root, 'dist/host/container.js'));
let host;
const stack = await startStack({
  folder,
  chromium: process.env.JEV_HOST_CHROMIUM,
  async runHost(configFile) {
    host = await createHost(await openConfig(configFile), {
      dataDir: join(folder, 'data'),
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
      port: 0,
      version: createRequire(import.meta.url)('../package.json').version,
      log: new Writable({ write: (_chunk, _encoding, done) => done() }),
    });
    const url = await host.start();
    return { url, stop: () => host.stop() };
  },
});

const wholes = [];
const steps = [];
try {
  const agent = await connectAgent(stack.host.url, stack.key);
  const evaluatorOrigin = new URL(stack.evaluator.url).origin;
  const hostOrigin = new URL(stack.host.url).origin;
  for (let run = 0; run < RUNS; run++) {
    requests.length = 0;
    const { targets } = await agent.call('capabilities_list', { scope: 'browser' });
    const from = performance.now();
    const { task } = await agent.call('task_spawn', {
      title: wish.title,
      instructions: wish.instructions,
      target_profile: 'gateway-managed',
      gateway_target: { adapter: 'browser', session_id: targets[0].session_id, start_url: stack.shop.url },
      browser_fields: wish.fields,
    });
    let current = task;
    while (!['completed', 'failed', 'cancelled', 'needs_reconciliation', 'waiting_input'].includes(current.state)) {
      current = (
        await agent.call('task_status', { task_id: task.taskId, wait_ms: 30_000, after_version: current.stateVersion })
      ).task;
    }
    const to = performance.now();
    if (stack.shop.seen.orders.length !== run + 1)
      throw new Error(`Run ${run + 1} did not order: ${current.latestProgress?.text ?? current.state}`);
    await agent.call('task_cancel', { task_id: task.taskId });
    if (run < WARM_UP) continue;
    // What the agent itself asked the host is not the host's waiting.
    const own = requests
      .filter((request) => request.origin !== hostOrigin && request.from >= from)
      .sort((a, b) => a.to - b.to);
    const evaluations = own.filter((request) => request.origin === evaluatorOrigin);
    const device = own.filter((request) => request.origin !== evaluatorOrigin);
    const mutations = device.filter((request) => mutation.test(request.body));
    if (mutations.length < 8) throw new Error(`Only ${mutations.length} mutations were seen.`);
    wholes.push({
      wall: to - from,
      decide: covered(evaluations, from, to),
      act: covered(mutations, from, to),
      observe: covered(
        device.filter((request) => !mutations.includes(request)),
        from,
        to,
      ),
      steps: mutations.length,
    });
    for (let index = 1; index < mutations.length; index++) {
      const begin = mutations[index - 1].to;
      const end = mutations[index].to;
      const waits = covered(own, begin, end);
      steps.push({
        wall: end - begin,
        decide: covered(evaluations, begin, end),
        device: covered(device, begin, end),
        host: end - begin - waits,
      });
    }
  }
  await agent.close();
} finally {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Milliseconds of the window during which at least one of the requests was open. */
function covered(list, from, to) {
  let total = 0;
  let reached = from;
  for (const request of [...list].sort((a, b) => a.from - b.from)) {
    const begin = Math.max(request.from, reached);
    const end = Math.min(request.to, to);
    if (end > begin) {
      total += end - begin;
      reached = end;
    }
  }
  return total;
}

const ms = (value) => value.toFixed(value < 10 ? 2 : 0);
const of = (list, key) => median(list.map((entry) => entry[key]));
const hostOfWhole = wholes.map((entry) => entry.wall - entry.decide - entry.act - entry.observe);

console.log(`Order in the demo's shop, ${wholes.length} runs of ${of(wholes, 'steps')} mutations; medians in ms.\n`);
console.log(
  markdownTable(
    ['', 'wall', 'decide (evaluator)', 'act (device)', 'observe (device)', 'host'],
    [
      [
        'whole task',
        ms(of(wholes, 'wall')),
        ms(of(wholes, 'decide')),
        ms(of(wholes, 'act')),
        ms(of(wholes, 'observe')),
        ms(median(hostOfWhole)),
      ],
    ],
  ),
);
console.log(
  `\n${markdownTable(
    ['', 'wall', 'evaluator', 'device', 'host', 'bound'],
    [
      [
        'one step',
        ms(of(steps, 'wall')),
        ms(of(steps, 'decide')),
        ms(of(steps, 'device')),
        ms(of(steps, 'host')),
        'host under 3',
      ],
    ],
  )}`,
);
if (of(steps, 'host') >= 3) {
  console.error("The host's own share of a step is not under 3 ms.");
  process.exitCode = 1;
}
