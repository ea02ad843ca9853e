/** Every worked program of the guide, run in the real plugin host: the browser ones against a real Chromium. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkProgram } from '../../../host/cli/program-check.ts';
import { readProgramFile } from '../../../host/cli/program-file.ts';
import { BrowserHarness } from '../../../host/programs/browser-harness.ts';
import { type BrowserReferences, browserReferences } from '../../../host/programs/browser-references.ts';
import { Checker, type CheckRequest } from '../../../host/programs/check/checker.ts';
import type { ReferenceSource } from '../../../host/programs/references.ts';
import type { JevRequest, JevResult } from '../../../sdk/index.ts';
import { pageOf, startChromium } from '../../../test/support/chromium.ts';
import { programHost } from '../../../test/support/program-host.ts';

const here = import.meta.dirname;
const load = (name: string) => readProgramFile(join(here, `${name}.json`));
const names = readdirSync(here)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -5));

describe('the worked programs', () => {
  it('are six, and each passes the check for authors', async () => {
    expect(names).toHaveLength(6);
    const checker = new Checker();
    const typeCheck = { check: async (request: CheckRequest) => checker.check(request) };
    for (const name of names) expect([name, await checkProgram(load(name), typeCheck)]).toEqual([name, []]);
  });
});

/** Judges by the words of the state and the questions, as a stand-in for Jev does. */
function byWords(words: Record<string, RegExp>) {
  return async (request: JevRequest): Promise<JevResult> => {
    const answers = Object.entries(request.questions).map(([id, question]) => {
      if (question.type !== 'choice') throw new Error('only choices here');
      const keys = Object.keys(question.criteria);
      const text = JSON.stringify([request.state, question.instructions]);
      const choice = keys.find((key) => words[key]?.test(text)) ?? (keys.at(-1) as string);
      const probabilities = Object.fromEntries(keys.map((key) => [key, key === choice ? 1 : 0]));
      return [id, { type: 'choice', choice, probabilities, confidence: 1 }];
    });
    return {
      requestId: 'r',
      requestedModel: 'm',
      model: 'jev-1.13.0',
      answers: Object.fromEntries(answers),
      usage: { input_tokens: 10, output_tokens: 1 },
    };
  };
}

type Tools = Record<string, (args: never) => unknown>;
const toolsOf = (tools: Tools): ReferenceSource => ({
  find: (ref) => {
    const tool = tools[ref];
    return tool && { ref, allowed: true, call: async (args) => tool(args as never) };
  },
});

interface World {
  evaluate?: (request: JevRequest) => Promise<JevResult>;
  sources?: () => readonly ReferenceSource[];
}

let bench: Awaited<ReturnType<typeof programHost>>;
/** What the example that runs now can reach. */
let world: World = {};
beforeAll(async () => {
  bench = await programHost({
    evaluate: (request) => world.evaluate?.(request) ?? Promise.reject(new Error('no judgments in this example')),
    sources: () => [
      { find: (ref, caller) => world.sources?.().flatMap((source) => source.find(ref, caller) ?? [])[0] },
    ],
  });
});
afterAll(() => bench?.stop());

async function run(name: string, reachable: World, input?: unknown) {
  world = reachable;
  const stored = load(name);
  return bench.call('run', { program: stored.program, input: input ?? stored.input });
}

describe('route-tickets', () => {
  it('sends each ticket to the team whose work it is', async () => {
    const ended = await run('route-tickets', {
      evaluate: byWords({ billing: /billed|refund/, technical: /crash/ }),
    });
    expect(ended).toMatchObject({ state: 'completed', result: ['billing', 'technical', 'other'], evaluations: 3 });
    expect(ended.events).toHaveLength(3);
  });
});

describe('poll-with-backoff', () => {
  it('waits longer after each failure and ends when the order is ready', async () => {
    let asked = 0;
    const ended = await run('poll-with-backoff', {
      sources: () => [
        toolsOf({
          'orders.status': () => {
            asked++;
            if (asked <= 3) throw new Error('busy');
            return { state: asked === 5 ? 'ready' : 'packing' };
          },
        }),
      ],
    });
    expect(ended).toMatchObject({ state: 'completed', result: { state: 'ready', attempts: 5 } });
    const waits = ended.events.map(({ value }) => (value as { waitMs?: number }).waitMs).filter(Boolean);
    expect(waits).toEqual([10, 20, 40]);
  });
});

describe('triage-queue', () => {
  it('reads and labels in parallel and judges the queue in one request', async () => {
    const queue: Record<string, string> = { 1: 'Checkout loses orders', 2: 'Typo on a page', 3: 'Nobody can sign in' };
    const labels: Record<string, string> = {};
    let reading = 0;
    let together = 0;
    const ended = await run('triage-queue', {
      evaluate: byWords({ urgent: /loses orders|sign in/ }),
      sources: () => [
        toolsOf({
          'queue.read': async ({ id }: { id: string }) => {
            together = Math.max(together, ++reading);
            await new Promise((resolve) => setTimeout(resolve, 20));
            reading--;
            return { id, text: queue[id] };
          },
          'queue.label': ({ id, label }: { id: string; label: string }) => {
            labels[id] = label;
            return {};
          },
        }),
      ],
    });
    expect(ended).toMatchObject({ state: 'completed', result: { urgent: ['1', '3'], later: ['2'] }, evaluations: 1 });
    expect(labels).toEqual({ 1: 'urgent', 2: 'later', 3: 'urgent' });
    expect(together).toBe(3);
  });
});

describe('feedback-controller', () => {
  it('presses its way to the goal and never a control of an older screen', async () => {
    const screens = [
      { text: 'Home', controls: { heat: 'Heating', light: 'Lights' } },
      { text: 'Heating is on', controls: { off: 'Switch off', back: 'Back' } },
      { text: 'Heating is switched off', controls: { back: 'Back' } },
    ];
    let at = 0;
    let revision = 0;
    let reads = 0;
    const ended = await run('feedback-controller', {
      evaluate: async (request) => {
        const { screen } = request.state as { screen: string };
        return byWords({
          yes: /switched off/i,
          heat: /Home/,
          off: /is on/,
        })({ ...request, state: { screen } });
      },
      sources: () => [
        toolsOf({
          'screen.read': () => {
            // Between the second look and the third the screen changes by itself, once.
            if (++reads === 2) revision++;
            const { text, controls } = screens[at]!;
            return { revision, text, controls: Object.entries(controls).map(([id, label]) => ({ id, label })) };
          },
          'screen.press': ({ revision: seen }: { revision: number }) => {
            if (seen !== revision) throw new Error('an older screen');
            at++;
            revision++;
            return {};
          },
        }),
      ],
    });
    expect(ended).toMatchObject({ state: 'completed', result: { reached: true, steps: ['heat', 'off'] } });
    expect(ended.events.map(({ value }) => value)).toContainEqual({ step: 0, stale: 'heat' });
  });
});

describe('in a real browser', () => {
  let chromium: Awaited<ReturnType<typeof startChromium>>;
  const allowedMethods = [
    'Target.createTarget',
    'Target.attachToTarget',
    'Runtime.evaluate',
    'Input.insertText',
    'Target.closeTarget',
  ];
  const signal = new AbortController().signal;
  let references: BrowserReferences;
  let own: BrowserHarness;

  beforeAll(async () => {
    chromium = await startChromium();
    const config = { id: 'browser', wsUrl: chromium.wsUrl, allowedMethods, callTimeoutMs: 10_000 };
    references = browserReferences([config], () => true);
    own = new BrowserHarness(config);
    await own.connect(signal);
  });
  afterAll(async () => {
    own?.close();
    references?.close();
    await chromium?.stop();
  });

  async function open(html: string): Promise<string> {
    const { targetId } = (await own.cdp({ method: 'Target.createTarget', params: { url: pageOf(html) } }, signal)) as {
      targetId: string;
    };
    const { sessionId } = (await own.cdp(
      { method: 'Target.attachToTarget', params: { targetId, flatten: true } },
      signal,
    )) as { sessionId: string };
    const params = { expression: 'document.readyState', returnByValue: true };
    await vi.waitFor(
      async () => {
        const { result } = (await own.cdp({ method: 'Runtime.evaluate', params, sessionId }, signal)) as {
          result: { value: string };
        };
        expect(result.value).toBe('complete');
      },
      { timeout: 20_000 },
    );
    return targetId;
  }

  it('watch-page calls a person when the page needs one', async () => {
    const targetId = await open(
      `<p id=soon>The page is not there yet</p><button id=call onclick="called.textContent='called'">Call</button><p id=called></p>
       <script>setTimeout(() => { soon.id = 'status'; document.querySelector('#status').textContent = 'Half done'; }, 100);
       setTimeout(() => { document.querySelector('#status').textContent = 'Error: the printer is broken'; }, 300);</script>`,
    );
    const ended = await run(
      'watch-page',
      { evaluate: byWords({ alarm: /broken/ }), sources: () => [references] },
      { targetId, everyMs: 25, rounds: 200 },
    );
    expect(ended).toMatchObject({
      state: 'completed',
      result: { status: 'Error: the printer is broken', pressed: true },
    });
    expect(ended.evaluations).toBeLessThanOrEqual(3);
  });

  it('fill-form enters every record once and sees it on the page', async () => {
    const targetId = await open(
      `<input id=name><input id=city><button id=save onclick="setTimeout(() => {
         const item = document.createElement('li');
         item.textContent = document.querySelector('#name').value + ', ' + document.querySelector('#city').value;
         list.append(item);
       }, 40)">Save</button><ul id=list></ul>`,
    );
    const records = [
      { name: 'Ada', city: 'London' },
      { name: 'สมชาย', city: 'เชียงใหม่' },
      { name: 'O’Neil "Q"', city: 'São Paulo' },
    ];
    const ended = await run('fill-form', { sources: () => [references] }, { targetId, records });
    expect(ended).toMatchObject({ state: 'completed' });
    expect(ended.result).toEqual({ saved: 3, shown: records.map(({ name, city }) => `${name}, ${city}`) });
  });
});
