/** What the evaluation service costs beside bare requests that encode and parse the same JSON. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Agent } from 'undici';
import { PrivateNames } from '../dist/core/credentials/private-names.js';
import { createCredentialResolver } from '../dist/core/credentials/resolver.js';
import { validateAnswer } from '../dist/core/jev/answer-validation.js';
import { createDecisionLog, MAX_DECISION_RECORDS } from '../dist/core/jev/decisions.js';
import { createJevService } from '../dist/core/jev/evaluation-service.js';
import { validateRequest } from '../dist/core/jev/request-validation.js';
import { createUsageLog, MAX_USAGE_RECORDS } from '../dist/core/jev/usage.js';
import { openLmdbStore } from '../dist/core/store/lmdb-store.js';
import { faults } from '../dist/host/evaluator/faults.js';
import { lexicalEngine } from '../dist/host/evaluator/lexical/lexical-engine.js';
import { startEvaluator } from '../dist/host/evaluator/server.js';
import { markdownTable, median, quantile } from './report.mjs';

const QUESTIONS = 64;
const IN_FLIGHT = 64;
const ROUNDS = 21;
const PER_ROUND = 500;
const EVALUATIONS = Number(process.env.BENCH_EVALUATIONS ?? 200_000);
const failures = [];
const must = (holds, text) => {
  if (!holds) failures.push(text);
  return holds ? 'holds' : 'DOES NOT HOLD';
};

const folder = mkdtempSync(join(tmpdir(), 'bench-jev-'));
const keyFile = join(folder, 'key');
writeFileSync(keyFile, 'bench-key\n', { mode: 0o600 });
const store = await openLmdbStore({ directory: join(folder, 'data') });
const closing = [];
try {
  const questions = Object.fromEntries(
    Array.from({ length: QUESTIONS }, (_, i) => [
      `question_${i}`,
      {
        type: 'choice',
        instructions: `Which of the teams should take message ${i}?`,
        criteria: {
          billing: 'Invoices and refunds',
          technical: 'Broken things',
          sales: 'Offers',
          other: 'No team fits',
        },
      },
    ]),
  );
  const request = { state: { message: 'Please refund the duplicate charge.', history: ['a', 'b', 'c'] }, questions };
  const answer = {
    model: 'jev-1.13.0',
    answers: Object.fromEntries(
      Object.keys(questions).map((id) => [
        id,
        {
          type: 'choice',
          choice: 'billing',
          probabilities: { billing: 0.91, technical: 0.04, sales: 0.03, other: 0.02 },
          confidence: 0.88,
        },
      ]),
    ),
    usage: { input_tokens: 900, output_tokens: 64 },
  };
  const url = await instantProvider(answer);
  const dispatcher = new Agent({ connections: 64, pipelining: 1 });
  closing.push(() => dispatcher.close());
  const usage = createUsageLog({ store, ids: counter() });
  const decisions = createDecisionLog({ store, ids: counter() });
  const config = section({ baseUrl: url });
  const service = makeService(config, { dispatcher, usage, decisions });
  const caller = { principalId: 'api:bench', agentId: 'assistant', consumer: 'http' };
  const evaluate = (asked) => service.evaluate(asked, caller);
  const bare = async (asked) => {
    const response = await dispatcher.request({
      origin: url,
      path: '/v1/systemone',
      method: 'POST',
      headers: { authorization: 'Bearer bench-key', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'jev-1.13.0', ...asked }),
    });
    return response.body.json();
  };

  // Throughput: the two take turns, so that the machine's mood reaches both.
  const rates = { bare: [], service: [] };
  await many(bare, request, 300, IN_FLIGHT);
  await many(evaluate, request, 300, IN_FLIGHT);
  for (let round = 0; round < ROUNDS; round++) {
    rates.bare.push(await many(bare, request, PER_ROUND, IN_FLIGHT));
    rates.service.push(await many(evaluate, request, PER_ROUND, IN_FLIGHT));
  }
  const ratio = median(rates.service.map((rate, i) => rate / rates.bare[i]));
  console.log(`### ${QUESTIONS} questions, ${IN_FLIGHT} in flight\n`);
  console.log(
    markdownTable(
      ['', 'evaluations per second (median)'],
      [
        ['bare requests', median(rates.bare).toFixed(0)],
        ['through the service, recorded', median(rates.service).toFixed(0)],
        ['ratio (must be at least 0.7)', `${ratio.toFixed(2)} ${must(ratio >= 0.7, 'throughput ratio')}`],
      ],
    ),
  );

  // One in flight, a small request as controllers send them, in turns.
  const times = { bare: [], service: [] };
  for (let i = 0; i < 3000; i++) {
    times.bare.push(await timed(() => bare(request)));
    times.service.push(await timed(() => evaluate(request)));
  }
  const added = median(times.service) - median(times.bare);
  console.log('\n### One in flight\n');
  console.log(
    markdownTable(
      ['', 'median ms', 'p99 ms'],
      [
        ['bare request', median(times.bare).toFixed(3), quantile(times.bare, 0.99).toFixed(3)],
        ['through the service', median(times.service).toFixed(3), quantile(times.service, 0.99).toFixed(3)],
        ['added (must be under 0.35)', `${added.toFixed(3)} ${must(added < 0.35, 'added time')}`, ''],
      ],
    ),
  );

  // One answer of 255 options.
  const wide = {
    q: {
      type: 'choice',
      instructions: 'x',
      criteria: Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`option_${i}`, null])),
    },
  };
  const { plan } = validateRequest({ state: 's', questions: wide }, config);
  const shares = Object.fromEntries(
    Object.keys(wide.q.criteria).map((key, i) => [key, i === 3 ? 1 - 254 * 0.002 : 0.002]),
  );
  const body = {
    model: 'm',
    usage: answer.usage,
    answers: { q: { type: 'choice', choice: 'option_3', probabilities: shares, confidence: 0.4 } },
  };
  const validations = [];
  for (let i = 0; i < 5000; i++) {
    const start = performance.now();
    validateAnswer(body, { plan, requestedModel: 'm', wireRequestId: 'w' });
    validations.push(performance.now() - start);
  }
  console.log('\n### A choice of 255 options\n');
  console.log(
    markdownTable(
      ['', 'median ms', 'p99 ms'],
      [
        [
          'validated (must be under 0.2)',
          `${median(validations).toFixed(4)} ${must(median(validations) < 0.2, 'validation')}`,
          quantile(validations, 0.99).toFixed(4),
        ],
      ],
    ),
  );

  // Faults: each ends within the deadline, and the slot is free again.
  const evaluator = await startEvaluator({ engine: lexicalEngine });
  closing.push(() => evaluator.close());
  const deadline = 300;
  const careful = makeService(section({ baseUrl: evaluator.url, timeoutMs: deadline, maxConcurrentRequests: 1 }), {
    dispatcher,
  });
  const small = { state: 's', questions: { q: { type: 'noul', instructions: 'x' } } };
  const rows = [];
  for (const fault of ['hang', 'reset', 'oversize', 'oversize-chunked', 'event-stream', 'trickle']) {
    evaluator.setFault(fault);
    const start = performance.now();
    const code = await careful.evaluate(small, caller).then(
      () => 'answered',
      (error) => error.code,
    );
    const took = performance.now() - start;
    const free = careful.stats().active === 0;
    evaluator.setFault(undefined);
    const next = await careful.evaluate(small, caller).then(
      () => 'answered',
      (error) => error.code,
    );
    rows.push([
      fault,
      faults[fault].says,
      code,
      took.toFixed(0),
      must(code !== 'answered' && took < deadline + 100 && free && next === 'answered', fault),
    ]);
  }
  console.log(`\n### A provider at fault (deadline ${deadline} ms, one slot)\n`);
  console.log(markdownTable(['fault', 'the provider', 'ends as', 'after ms', 'slot free, next answered'], rows));

  // Memory over many evaluations.
  const one = await instantProvider({
    model: 'jev-1.13.0',
    answers: { q: { type: 'noul', noul: 0.5 } },
    usage: { input_tokens: 9, output_tokens: 1 },
  });
  const lasting = makeService(section({ baseUrl: one }), { dispatcher, usage, decisions });
  const tenth = Math.ceil(EVALUATIONS / 10);
  const samples = [];
  let made = 0;
  for (let part = 0; part <= 10; part++) {
    await many(
      () => lasting.evaluate({ ...small, requestId: `r${made++}` }, caller),
      undefined,
      part === 0 ? Math.min(20_000, tenth) : tenth,
      IN_FLIGHT,
    );
    await usage.flush();
    await decisions.flush();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    samples.push({ heap: heapUsed / 2 ** 20, rss: rss / 2 ** 20 });
  }
  const growth = samples.at(-1).heap - samples[1].heap;
  console.log(`\n### ${made.toLocaleString('en')} evaluations with ids of their own\n`);
  console.log(
    markdownTable(
      ['after', 'heap MiB', 'rss MiB'],
      samples.map(({ heap, rss }, part) => [
        part === 0 ? 'warm-up' : `${part * 10} %`,
        heap.toFixed(1),
        rss.toFixed(0),
      ]),
    ),
  );
  const { total } = await usage.list({ agentId: 'assistant', limit: 1, offset: 0 });
  console.log(
    `\nHeap growth from 10 % to 100 %: ${growth.toFixed(1)} MiB (must be under 8): ${must(growth < 8, 'memory')}.`,
  );
  console.log(
    `Usage records ${total} of ${MAX_USAGE_RECORDS}, decisions ${decisions.size} of ${MAX_DECISION_RECORDS}, dropped under load ${usage.dropped}: ` +
      `${must(total <= MAX_USAGE_RECORDS && decisions.size <= MAX_DECISION_RECORDS, 'bounds')}.`,
  );
} finally {
  for (const close of closing.reverse()) await close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}
if (failures.length > 0) {
  console.error(`\nDoes not hold: ${failures.join(', ')}.`);
  process.exit(1);
}

function section(more) {
  return {
    enabled: true,
    provider: 'typesafe',
    model: 'jev-1.13.0',
    apiKeyFile: keyFile,
    timeoutMs: 20_000,
    maxConcurrentRequests: 64,
    maxQueueSize: 256,
    maxInputBytes: 131_072,
    maxQuestions: 64,
    images: { enabled: false, model: 'jev-1.14.0', maxImageBytes: 1 },
    features: {},
    ...more,
  };
}

function makeService(config, more) {
  return createJevService({
    config: () => config,
    agent: () => ({}),
    sources: { env: {}, credentials: createCredentialResolver({ env: {}, privateNames: new PrivateNames() }) },
    clock: { now: Date.now, elapsed: () => performance.now() },
    ids: counter(),
    ...more,
  });
}

function counter() {
  let next = 0;
  return () => `id-${next++}`;
}

/** @returns calls per second. */
async function many(call, request, count, inFlight) {
  let left = count;
  const start = performance.now();
  const worker = async () => {
    while (left-- > 0) await call(request);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return count / ((performance.now() - start) / 1000);
}

async function timed(call) {
  const start = performance.now();
  await call();
  return performance.now() - start;
}

function instantProvider(answer) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'instant-provider.mjs')], {
    env: { ANSWER: JSON.stringify(answer) },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  closing.push(() => new Promise((resolve) => child.once('exit', resolve).kill()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout.once('data', (port) => resolve(`http://127.0.0.1:${String(port).trim()}`));
  });
}
