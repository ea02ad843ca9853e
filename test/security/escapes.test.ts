import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processTier } from '../../host/plugins/process-tier.ts';
import { threadTier } from '../../host/plugins/thread-tier.ts';
import { type Attempt, attempts as classic, entryFiles } from './escape-attempts.ts';
import { freshAttempts } from './fresh-attempts.ts';
import { rawPlugin } from './raw-plugin.ts';

const attempts = [...classic, ...freshAttempts];
const tableOf = (all: readonly Attempt[]): string =>
  `{${all.map(([what, body]) => `${JSON.stringify(what)}: async (ctx) => {${body}}`).join(',\n')}}`;
const plugin = `
  const attempts = ${tableOf(attempts)};
  exports.default = { id: 'escape', kind: 'controller', async run(name, ctx) {
    try {
      const evidence = await attempts[name](ctx);
      return evidence ? { escaped: String(evidence) } : { refused: 'nothing' };
    } catch (error) { return { refused: String(error && error.message) }; }
  } };`;

describe.each([threadTier, processTier])('a plugin in the $tier tier', (tier) => {
  let hostile: Awaited<ReturnType<typeof rawPlugin>>;
  beforeAll(async () => {
    hostile = await rawPlugin(plugin, { tier });
  });
  afterAll(() => hostile.close());

  it.each(attempts)('does not get out by %s', async (what) => {
    expect(await hostile.run(what)).toEqual({ refused: expect.any(String) });
  });

  it.each(entryFiles)('does not start with %s', async (_what, code) => {
    await expect(rawPlugin(code, { tier, untouched: true })).rejects.toMatchObject({
      code: 'PLUGIN_ACTIVATION_FAILED',
    });
  });

  it('leaves nothing on its globals for the next run', async () => {
    const code = `exports.default = { id: 'escape', kind: 'controller', run(value) {
      const before = globalThis.kept ?? null; globalThis.kept = value; return before; } };`;
    const forgetful = await rawPlugin(code, { tier });
    expect(await forgetful.run('one principal’s secret')).toBe(null);
    expect(await forgetful.run('another')).toBe(null);
    await forgetful.close();
  });

  it('cannot act after its run by a timer that it left', async () => {
    const calls: unknown[] = [];
    const code = `exports.default = { id: 'escape', kind: 'controller', async run(value, ctx) {
      if (value === 'leave') { setInterval(() => ctx.task.progress({ late: true }).catch(() => {}), 1); return 'left'; }
      await new Promise((r) => setTimeout(r, 50)); return 'done'; } };`;
    const late = await rawPlugin(code, { tier, capabilities: ['task'] });
    await late.run('leave', { progress: (event) => calls.push(event) });
    const before = calls.length;
    await late.run('stay', { progress: (event) => calls.push(event) });
    expect(calls).toHaveLength(before);
    await late.close();
  });
});

describe('the attempts themselves', () => {
  it('mostly succeed where there is no sandbox', async () => {
    const source = `
      const { parentPort } = require('node:worker_threads');
      const ctx = { log: { info() {} }, jev: { async evaluate() { throw new TypeError('x') } }, signal: new AbortController().signal,
        run: { settings: {}, pluginId: 'escape' } };
      const attempts = ${tableOf(classic)};
      (async () => {
        for (const name of Object.keys(attempts)) {
          let got; try { got = !!(await attempts[name](ctx)) } catch { got = false }
          parentPort.postMessage([name, got]);
        }
        process.exit();
      })();`;
    const escaped = new Set<string>();
    const worker = new Worker(source, { eval: true, env: {}, stdout: true, stderr: true });
    worker.on('message', ([name, got]: [string, boolean]) => got && escaped.add(name));
    await new Promise((resolve) => worker.once('exit', resolve));
    // The others name what only our sandbox has.
    expect(escaped.size).toBeGreaterThanOrEqual(95);
  });
});
