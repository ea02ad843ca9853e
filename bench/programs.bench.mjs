/**
 * What programs cost: launching, one turn of a loop, sixteen at once, and many one after the other. The plugin host, the
 * workers and the type check are the real ones; Jev answers at once, in this process.
 *
 * `RUNS=10000` makes the last part as long as it has to hold for; it takes minutes.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createFences } from '../dist/core/authorization/fences.js';
import { openLmdbStore } from '../dist/core/store/lmdb-store.js';
import { createPluginHost } from '../dist/host/plugins/plugin-host.js';
import { createTypeCheck } from '../dist/host/programs/check/type-check.js';
import { createProgramService } from '../dist/host/programs/program-service.js';
import { markdownTable, median, quantile } from './report.mjs';

const RUNS = Number(process.env.RUNS ?? 1000);
const someone = { principalId: 'api:bench', agentId: 'assistant', conversationId: 'conversation:bench' };
const plugins = fileURLToPath(new URL('../dist/plugins/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bench-programs-'));
mkdirSync(join(folder, 'plugins'));
for (const name of ['programs', 'program-runner']) symlinkSync(join(plugins, name), join(folder, 'plugins', name));

const store = await openLmdbStore({ directory: join(folder, 'data') });
const fences = createFences();
const settings = { maxConcurrentRuns: 16, maxToolCalls: 1_000_000, maxEvaluations: 100_000 };
const config = { programs: { enabled: true, limits: {}, features: {}, required: false, settings, record: false } };
const host = createPluginHost({
  config,
  bundledDirectory: join(folder, 'plugins'),
  store,
  now: Date.now,
  log: () => {},
});
const answers = { q: { type: 'noul', noul: 0.5 } };
const service = createProgramService({
  plugins: host,
  evaluate: async () => ({
    requestId: 'r',
    requestedModel: 'm',
    model: 'm',
    answers,
    usage: { input_tokens: 1, output_tokens: 0 },
  }),
  mayEvaluate: () => true,
  about: async () => ({ model: 'm', credentials: { configured: true, source: 'environment', verified: false } }),
  sources: [],
  typeCheck: createTypeCheck(),
  permit: () => fences.permit([]),
  uuid: randomUUID,
});
await host.start();
await service.warm();

const call = (tool, args) =>
  host.callContributed('programs', `jev_${tool}`, args, {
    runId: randomUUID(),
    ports: service.portsFor(someone),
    authority: someone,
    signal: new AbortController().signal,
  });
const program = (code, more = {}) => ({
  name: 'bench',
  code,
  inputSchema: {},
  outputSchema: {},
  requires: [],
  ...more,
});
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
const rows = [];
/** `cpu`: milliseconds of processor time of the whole process for one of them, warm-up of the next worker included. */
function row(what, values, limit, cpu) {
  const middle = median(values);
  const [p99, used] = [quantile(values, 0.99).toFixed(2), cpu.toFixed(2)];
  rows.push([what, values.length, middle.toFixed(2), p99, used, limit, (middle / limit).toFixed(2)]);
}
/** How much longer than its own processor time a fixed piece of work takes here: 1.0 on a machine that is idle. */
function crowding() {
  const [wall, cpu] = [performance.now(), cpuMs()];
  let sum = 0;
  for (let n = 0; n < 3e8; n++) sum += n % 7;
  return sum && (performance.now() - wall) / (cpuMs() - cpu);
}
const crowded = [crowding()];

// Launching: from the call to the end of a program that does nothing, so a little more than the launch alone.
await call('run', { program: program('return 0;') });
const fresh = [];
let cpu = cpuMs();
for (let n = 0; n < 40; n++) {
  fresh.push(await timed(() => call('run', { program: program(`const n: number = ${n}; return n;`) })));
  await pause(60);
}
row('launch and end, new program, checked (ms)', fresh.slice(10), 60, (cpuMs() - cpu) / fresh.length);
const again = [];
const whole = [];
cpu = cpuMs();
for (let n = 0; n < 60; n++) {
  const start = performance.now();
  const { id } = await call('spawn', { program: program('return 0;') });
  again.push(performance.now() - start);
  await call('wait', { id });
  whole.push(performance.now() - start);
  await pause(60);
}
row('launch, program known, warm spare (ms)', again.slice(10), 15, (cpuMs() - cpu) / again.length);
rows.push([
  'the same to its end (ms, no limit)',
  50,
  median(whole.slice(10)).toFixed(2),
  quantile(whole.slice(10), 0.99).toFixed(2),
  '',
  '',
  '',
]);
crowded.push(crowding());

// One turn: evaluate, emit, sleep 0.
const TURNS = 500;
const loop = program(
  `const question = { state: 's', questions: { q: { type: 'noul', instructions: 'x' } } } as const;
   const turn = async () => { await jev.evaluate(question); await program.emit(1); await program.sleep(0); };
   for (let n = 0; n < 100; n++) await turn();
   const start = Date.now();
   for (let n = 0; n < ${TURNS}; n++) await turn();
   return Date.now() - start;`,
  { requires: ['jev.evaluate'], limits: { maxEvaluations: 10_000, maxToolCalls: 100_000 } },
);
const turns = [];
cpu = cpuMs();
for (let round = 0; round < 5; round++) {
  const run = await call('run', { program: loop });
  if (run.state !== 'completed') throw new Error(run.error);
  turns.push(run.result / TURNS);
}
row('one turn: evaluate, emit, sleep 0 (ms)', turns, 1, (cpuMs() - cpu) / turns.length / (TURNS + 100));
crowded.push(crowding());

// Sixteen at once.
const memory = () => (sharedOut(process.pid) + childrenBytes()) / 1024 / 1024;
const before = memory();
const sixteen = await Promise.all(
  Array.from({ length: 16 }, () =>
    call('spawn', { program: program('const kept = new Array(1000).fill(1); while (true) await program.sleep(50);') }),
  ),
);
await pause(1000);
const during = memory();
rows.push([
  '16 programs at once, whole process and type check (MB)',
  16,
  during.toFixed(0),
  '',
  '',
  500,
  (during / 500).toFixed(2),
]);
for (const { id } of sixteen) await call('stop', { id });
await pause(500);

// Many, four at a time.
async function many(count) {
  let left = count;
  await Promise.all(
    [1, 2, 3, 4].map(async () => {
      while (left-- > 0) {
        const run = await call('run', { program: program('await program.emit(1); return [1, 2, 3];') });
        if (run.state !== 'completed') throw new Error(run.error);
      }
    }),
  );
}
await many(Math.ceil(RUNS / 10));
globalThis.gc?.();
const early = memory();
cpu = cpuMs();
const took = await timed(() => many(RUNS));
const cpuOfOne = (cpuMs() - cpu) / RUNS;
await pause(2000);
globalThis.gc?.();
const late = memory();
rows.push([
  `memory after ${RUNS} more runs, against before (MB)`,
  RUNS,
  late.toFixed(0),
  '',
  '',
  `${early.toFixed(0)} x 1.2`,
  (late / early / 1.2).toFixed(2),
]);

console.log(markdownTable(['what', 'n', 'median', 'p99', 'CPU each', 'limit', 'share of limit'], rows));
console.log(
  `\nOne of many takes ${(took / RUNS).toFixed(1)} ms with four at a time, ${cpuOfOne.toFixed(1)} ms of CPU. Before the sixteen: ${before.toFixed(0)} MB.`,
);

console.log(
  `Work took ${crowded.map((factor) => factor.toFixed(1)).join(', ')} times its processor time (1.0 on an idle machine).`,
);

service.stop();
await host.stop();
await store.close();
rmSync(folder, { recursive: true, force: true });
// Times are held to their limits as they would be without the neighbours; memory as it is.
const factor = median(crowded);
if (rows.some((cells) => Number(cells[6]) > (cells[4] === '' ? 1 : factor))) process.exit(1);

/** Resident memory of this process's children: the type check. */
function childrenBytes() {
  let bytes = 0;
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${id}/status`, 'utf8');
      if (Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) === process.pid) bytes += sharedOut(id);
    } catch {
      // It ended between the two looks.
    }
  }
  return bytes;
}

/** Bytes in memory of a process; a page that several share, such as Node's own code, is counted once over all of them. */
function sharedOut(id) {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))[1]) * 1024;
}
