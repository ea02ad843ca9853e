/** Plugins that misuse what they have. Each is ended or fails by itself; another plugin, called all the while, notices nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processTier } from '../../host/plugins/process-tier.ts';
import { threadTier } from '../../host/plugins/thread-tier.ts';
import { rawPlugin } from './raw-plugin.ts';

const plugin = (body: string) =>
  `exports.default = { id: 'escape', kind: 'controller', async run(input, ctx) { ${body} } };`;

type Abuse = [what: string, body: string, codes: string[]];
const ended = ['PLUGIN_MEMORY', 'PLUGIN_LOST', 'PLUGIN_UNRESPONSIVE', 'PLUGIN_DEADLINE'];
const abuses: Abuse[] = [
  ['allocates arrays without end', `const a = []; for (;;) a.push(new Array(1000).fill(a.length))`, ended],
  ['grows one array without end', `const a = []; for (;;) a.push(a.length)`, ended],
  ['grows a map without end', `const m = new Map(); for (let i = 0; ; i++) m.set(i, i)`, ended],
  [
    'allocates buffers, which V8 does not count',
    `const a = []; for (;;) a.push(new Uint8Array(1 << 22).fill(1))`,
    ended,
  ],
  ['spins', `for (;;);`, ['PLUGIN_UNRESPONSIVE']],
  ['spins in microtasks', `for (;;) await null`, ['PLUGIN_UNRESPONSIVE']],
  ['backtracks for ever', `/^(a+)+$/.test('a'.repeat(60) + 'b')`, ['PLUGIN_UNRESPONSIVE']],
  ['recurses without end', `const f = () => f(); f()`, ['PLUGIN_FAILED']],
  [
    'throws from a timer',
    `setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => {})`,
    ['PLUGIN_FAILED'],
  ],
  ['never answers', `await new Promise(() => {})`, ['PLUGIN_DEADLINE']],
  ['resolves a thenable that never settles', `return { then() {} }`, ['PLUGIN_DEADLINE']],
  ['resolves a thenable that throws', `return { then() { throw new Error('no') } }`, ['PLUGIN_FAILED']],
  ['returns what is too large', `return 'x'.repeat(6 << 20)`, ['PLUGIN_FAILED']],
  ['returns what cannot be written as JSON', `const a = {}; a.a = a; return a`, ['PLUGIN_FAILED']],
  ['returns a number that JSON does not know', `return 1n`, ['PLUGIN_FAILED']],
  ['throws a value that fights back', `throw { get message() { throw new Error('no') } }`, ['PLUGIN_FAILED']],
  [
    'sends too large an argument',
    `await ctx.jev.evaluate({ state: 'x'.repeat(5 << 20), questions: {} })`,
    ['PLUGIN_FAILED'],
  ],
  [
    'calls its capabilities too often at once',
    `await Promise.all(Array.from({ length: 100000 }, () => ctx.task.progress({})))`,
    ['PLUGIN_FAILED', 'PLUGIN_UNRESPONSIVE'],
  ],
];

describe.each([threadTier, processTier])('in the $tier tier a plugin that', (tier) => {
  let neighbour: Awaited<ReturnType<typeof rawPlugin>>;
  beforeAll(async () => {
    neighbour = await rawPlugin(plugin('return input'), { tier: threadTier });
  });
  afterAll(() => neighbour.close());

  it.each(abuses)('%s harms nobody else', async (_what, body, codes) => {
    const capabilities = ['jev.evaluate', 'task', 'log'];
    const abuser = await rawPlugin(plugin(body), { tier, memoryMb: 64, unresponsiveMs: 1000, capabilities });
    const ports = { evaluate: async () => ({}) as never, progress: () => {} };
    let over = false;
    const abusing = abuser.run('x', ports, 1500).then(
      () => expect.fail('it should not have returned'),
      (error) => error,
    );
    abusing.finally(() => {
      over = true;
    });
    let calls = 0;
    do calls += Number((await neighbour.run(calls)) === calls);
    while (!over);
    expect(codes).toContain((await abusing).code);
    expect(calls).toBeGreaterThan(0);
    await abuser.close();
  });

  it('floods its log loses lines, not the host', async () => {
    const lines: string[] = [];
    const flooder = await rawPlugin(plugin(`for (let i = 0; i < 5000; i++) ctx.log.info('line ' + i); return 'done'`), {
      tier,
      log: (text) => lines.push(text),
    });
    expect(await flooder.run('x', {}, 20_000)).toBe('done');
    expect(lines[0]).toBe('line 0');
    expect(lines.length).toBeLessThan(1000);
    await flooder.close();
  });

  it.each([
    ['rejects promises that nobody awaits', `for (let i = 0; i < 5000; i++) Promise.reject(new Error('stray ' + i))`],
    [
      'throws from timers that belong to no run',
      `for (let wave = 0; wave < 5; wave++) {
        for (let i = 0; i < 500; i++) setTimeout(() => { throw new Error('stray ' + i) }, 0);
        await new Promise((r) => setTimeout(r, 50)); }`,
    ],
  ])('%s loses lines, not the host', async (_what, body) => {
    const lines: string[] = [];
    const flooder = await rawPlugin(
      `exports.default = { id: 'escape', kind: 'helper', tools: { run: async () => { ${body};
        await new Promise((r) => setTimeout(r, 300)); return 'done' } } };`,
      { tier, kind: 'helper', stray: (text) => lines.push(text) },
    );
    expect(await flooder.run('x', {}, 20_000)).toBe('done');
    expect(lines.some((line) => line.includes('stray 0'))).toBe(true);
    expect(lines.length).toBeLessThan(1000);
    await flooder.close();
  });

  it('answers after its worker was ended is not heard', async () => {
    const late = await rawPlugin(plugin(`await new Promise((r) => setTimeout(r, 600)); return 'late'`), { tier });
    await expect(late.run('x', {}, 100)).rejects.toMatchObject({ code: 'PLUGIN_DEADLINE' });
    await late.close();
  });
});

describe('in the process tier a plugin that', () => {
  it.each([
    ['aborts the engine by a full heap', `const a = []; for (;;) a.push(a.length)`],
    ['fills memory at once', `const a = new Array(1.3e8).fill(0); for (;;);`],
  ])('%s takes only its own process with it', async (_what, body) => {
    const abuser = await rawPlugin(plugin(body), { tier: processTier, memoryMb: 64, unresponsiveMs: 60_000 });
    await expect(abuser.run('x')).rejects.toMatchObject({ code: 'PLUGIN_MEMORY' });
    expect(abuser.crashes).toEqual(['PLUGIN_MEMORY']);
    await abuser.close();
  });
});
