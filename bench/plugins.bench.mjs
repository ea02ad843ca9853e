/**
 * What a plugin costs: a call, a start, an idle worker, a hot swap, many runs at once, and what a neighbour's misuse does to
 * everybody else. Ratios are within this run; the limits are what the design promises on two quiet cores.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { createPluginHost } from '../dist/host/plugins/plugin-host.js';
import { markdownTable, median, quantile } from './report.mjs';

const folder = mkdtempSync(join(tmpdir(), 'jev-bench-plugins-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const authority = { principalId: 'p', agentId: 'a', conversationId: 'c' };
const rows = [];
let broken = 0;
let bareMs = 0;
const row = (what, measured, limit, holds) => {
  rows.push([what, measured, limit, holds ? 'yes' : 'NO']);
  if (!holds) broken += 1;
};
const ms = (value) => `${value.toFixed(value < 1 ? 3 : 1)} ms`;

function plugin(id, kind, body, concurrentRuns = 64) {
  const directory = join(folder, id);
  mkdirSync(directory, { recursive: true });
  const reason = 'Needed by the benchmark.';
  const capabilities = { task: { reason }, 'tools.call': { reason } };
  const limits = { memoryMb: 64, concurrentRuns, runDeadlineMs: 600_000 };
  const adapter = kind === 'controller' ? { adapter: 'bench' } : {};
  const manifest = { id, version: '1.0.0', contract: 1, kind, entry: 'index.js', ...adapter, capabilities, limits };
  writeFileSync(join(directory, 'plugin.json'), JSON.stringify(manifest));
  const define = kind === 'controller' ? 'defineController' : 'defineHelper';
  writeFileSync(
    join(directory, 'index.js'),
    `import { ${define} } from 'jev-host/sdk';\nimport * as v from 'valibot';\nimport manifest from './plugin.json' with { type: 'json' };\nconst In = v.strictObject({ q: v.string() });\nexport default ${define}(manifest, ${body});\n`,
  );
  return directory;
}

const helper = `{ tools: {
  echo: (args) => v.parse(In, args),
  round: async (args, ctx) => { await ctx.task.progress({ a: 1 }); return v.parse(In, args); },
} }`;
const waiting = `{ run: async (input, ctx) => (await ctx.tools.call('wait', {})).content[0].text }`;

const hosts = [];
async function host(entries, times = {}) {
  const grants = { task: true, 'tools.call': true };
  const config = Object.fromEntries(
    Object.entries(entries).map(([id, { path, tier = 'thread', limits = {} }]) => [
      id,
      { enabled: true, path, tier, grants, limits, features: {}, settings: {}, required: true, record: false },
    ]),
  );
  const running = createPluginHost({
    config,
    bundledDirectory: join(folder, 'none'),
    dev: true,
    log: () => {},
    now: Date.now,
    times,
  });
  hosts.push(running);
  await running.start();
  return running;
}

let calls = 0;
const call = (over = {}) => {
  calls += 1;
  return {
    runId: `run-${calls}`,
    ports: { progress: () => {} },
    authority,
    signal: new AbortController().signal,
    ...over,
  };
};

async function timed(count, work) {
  const times = [];
  for (let i = 0; i < count; i += 1) {
    const started = performance.now();
    await work(i);
    times.push(performance.now() - started);
  }
  return times;
}

// One call, and one with a capability in it, beside a bare message there and back.
{
  const worker = new Worker(
    "require('node:worker_threads').parentPort.on('message', (m) => require('node:worker_threads').parentPort.postMessage(m))",
    { eval: true },
  );
  const bare = () =>
    new Promise((resolve) => {
      worker.once('message', resolve);
      worker.postMessage({ q: 'x' });
    });
  await timed(1500, bare);
  bareMs = median(await timed(4000, bare));
  row('a bare message to a worker and back', ms(bareMs), '', true);
  await worker.terminate();
}
{
  const path = plugin('echo', 'helper', helper);
  for (const tier of ['thread', 'process']) {
    const running = await host({ echo: { path, tier } });
    const echo = () => running.callContributed('echo', 'echo', { q: 'x' }, call());
    const round = () => running.callContributed('echo', 'round', { q: 'x' }, call());
    await timed(1000, echo);
    await timed(500, round);
    const plain = await timed(2500, echo);
    const capability = await timed(2000, round);
    const limits = tier === 'thread' ? [0.15, 0.35] : [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const said = (limit) => (Number.isFinite(limit) ? `under ${limit} ms at the median` : '');
    row(
      `a guarded call, parsed on both sides (${tier})`,
      `${ms(median(plain))} (p99 ${ms(quantile(plain, 0.99))}), ${(median(plain) / bareMs).toFixed(1)} × bare`,
      said(limits[0]),
      median(plain) < limits[0],
    );
    row(
      `the same with one capability call in it (${tier})`,
      `${ms(median(capability))} (p99 ${ms(quantile(capability, 0.99))})`,
      said(limits[1]),
      median(capability) < limits[1],
    );
    await running.stop();
  }
}

// Starts, and what an idle plugin takes.
for (const [tier, limit] of [
  ['thread', 120],
  ['process', Number.POSITIVE_INFINITY],
]) {
  const starts = [];
  const used = process.cpuUsage();
  for (let i = 0; i < 12; i += 1) {
    const running = await host({ one: { path: plugin('one', 'helper', helper), tier } });
    starts.push(running.list()[0].activationMs);
    await running.stop();
  }
  const { user, system } = process.cpuUsage(used);
  const cpu =
    tier === 'thread' ? `, ${ms((user + system) / 1000 / starts.length)} of processor time with bundling` : '';
  const limitText = Number.isFinite(limit) ? `under ${limit} ms` : '';
  row(
    `start of a plugin (${tier})`,
    `${ms(median(starts))} (p99 ${ms(quantile(starts, 0.99))})${cpu}`,
    limitText,
    median(starts) < limit,
  );
}
{
  const count = 20;
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const entries = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`idle-${i}`, { path: plugin(`idle-${i}`, 'helper', helper) }]),
  );
  const running = await host(entries);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  globalThis.gc?.();
  const each = (process.memoryUsage.rss() - before) / count / 1024 / 1024;
  row('memory of an idle plugin (thread)', `${each.toFixed(1)} MB`, 'under 16 MB', each < 16);
  await running.stop();
}

// Six hot swaps while two plugins are called.
{
  const path = plugin('swapped', 'helper', helper);
  const running = await host({ swapped: { path }, other: { path: plugin('other', 'helper', helper) } });
  let [done, failed, over] = [0, 0, false];
  const load = async (id) => {
    while (!over) {
      await running.callContributed(id, 'round', { q: 'x' }, call()).then(
        () => (done += 1),
        () => (failed += 1),
      );
    }
  };
  const loads = [load('swapped'), load('swapped'), load('other')];
  for (let i = 0; i < 6; i += 1) await running.reload('swapped');
  over = true;
  await Promise.all(loads);
  const swaps = running.list().find(({ id }) => id === 'swapped').generation - 1;
  row(
    `hot swaps under load (${swaps})`,
    `${failed} of ${done + failed} calls failed`,
    'none fails',
    failed === 0 && swaps >= 6,
  );
  await running.stop();
}

// Many runs that wait, at once.
{
  const running = await host(
    { waiting: { path: plugin('waiting', 'controller', waiting, 256) } },
    { activationMs: 60_000 },
  );
  let arrived = 0;
  let open;
  const all = new Promise((resolve) => {
    open = resolve;
  });
  const callTool = async () => {
    arrived += 1;
    if (arrived === 200) open();
    await all;
    return { content: [{ type: 'text', text: 'there' }] };
  };
  const started = performance.now();
  const runs = Array.from({ length: 200 }, () =>
    running.run('waiting', { ...call({ ports: { callTool } }), input: {} }),
  );
  const outcomes = await Promise.allSettled(runs);
  const good = outcomes.filter(({ status, value }) => status === 'fulfilled' && value === 'there').length;
  row(
    'runs of a waiting controller at once (thread)',
    `${good} of 200 in ${((performance.now() - started) / 1000).toFixed(1)} s, ${Math.round(process.memoryUsage.rss() / 1024 / 1024)} MB`,
    '200',
    good === 200,
  );
  await running.stop();
}

// Ten kinds of misuse, and what another plugin's calls feel of each.
{
  const misuse = {
    'allocates arrays': 'const a = []; for (;;) a.push(new Array(1000).fill(1))',
    'allocates buffers': 'const a = []; for (;;) a.push(new Uint8Array(1 << 22).fill(1))',
    spins: 'for (;;);',
    'spins in microtasks': 'for (;;) await null',
    'throws from a timer': 'setTimeout(() => { throw new Error("late") }, 1); await new Promise(() => {})',
    'floods its port':
      'for (let i = 0; i < 20000; i += 1) ctx.task.progress({ i }).catch(() => {}); await new Promise(() => {})',
    'never answers': 'await new Promise(() => {})',
    'a thenable that calls back': 'return { then(f) { for (let i = 0; i < 1e5; i += 1) f(i); } }',
    'keeps timers': 'for (let i = 0; i < 900; i += 1) setInterval(() => {}, 1); await new Promise(() => {})',
    'recurses without end': 'const f = () => f(); f()',
  };
  for (const tier of ['thread', 'process']) {
    for (const [what, body] of Object.entries(misuse)) {
      const path = plugin('abuser', 'controller', `{ run: async (input, ctx) => { ${body} } }`, 1);
      const running = await host(
        { abuser: { path, tier }, victim: { path: plugin('victim', 'helper', helper) } },
        { unresponsiveMs: 400, deadlineMs: 200 },
      );
      const victim = () => running.callContributed('victim', 'round', { q: 'x' }, call());
      await timed(300, victim);
      const quiet = await timed(600, victim);
      let over = false;
      const abusing = running.run('abuser', { ...call({ deadlineMs: 700 }), input: {} }).then(
        () => (over = true),
        () => (over = true),
      );
      const during = [];
      let errors = 0;
      while (!over || during.length < 300) {
        const started = performance.now();
        await victim().catch(() => (errors += 1));
        during.push(performance.now() - started);
      }
      await abusing;
      const ratio = median(during) / median(quiet);
      const p99 = quantile(during, 0.99);
      row(
        `another plugin while one ${what} (${tier})`,
        `${errors} errors, median ×${ratio.toFixed(2)}, p99 ${ms(p99)}`,
        'no error, ×2, p99 150 ms',
        errors === 0 && ratio < 2 && p99 < 150,
      );
      await running.stop();
    }
  }
}

console.log(markdownTable(['what', 'measured', 'limit', 'holds'], rows));
for (const running of hosts) await running.stop();
process.exit(broken > 0 ? 1 : 0);
