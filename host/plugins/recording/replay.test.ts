import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HostError } from '../../../sdk/contract/errors.ts';
import type { Recording } from '../../../sdk/contract/recording.ts';
import { replayPlugin, runPlugin, stubEvaluator } from '../../../sdk/testing/index.ts';
import type { RunPorts } from '../ports.ts';

const fixtures = join(import.meta.dirname, '../../../test/fixtures/plugins');
const cleanUp: (() => unknown)[] = [];
afterEach(() => {
  for (const step of cleanUp.splice(0)) step();
});

/** Answers that come in any order. */
const world = (): RunPorts => ({
  evaluate: stubEvaluator({ way: { LEFT: 0.4, RIGHT: 0.6 } }),
  async callTool(name, args) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
    if (name === 'look' && args.round === 1) throw new HostError('STALE_OBSERVATION');
    return { content: [{ type: 'text', text: JSON.stringify(args) }] };
  },
  progress: () => {},
});

async function record(input: object, more: { signal?: AbortSignal; ports?: RunPorts } = {}) {
  let recording: Recording | undefined;
  const result = await runPlugin({
    plugin: join(fixtures, 'taped'),
    tier: 'worker',
    input,
    ports: more.ports ?? world(),
    ...(more.signal ? { signal: more.signal } : {}),
    record: (taken) => {
      recording = taken;
    },
  }).catch((error: unknown) => error);
  if (!recording) throw result;
  return { recording, result };
}

/** The plugin as it is after a change of its source. */
function changed(from: string, to: string): string {
  const folder = mkdtempSync(join(fixtures, '../tmp-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(fixtures, 'taped'), join(folder, 'taped'), { recursive: true });
  const file = join(folder, 'taped/index.ts');
  const source = readFileSync(file, 'utf8').replace(from, to);
  expect(source).toContain(to);
  writeFileSync(file, source);
  return join(folder, 'taped');
}

describe('a replayed run', () => {
  it('makes the same decisions in the same order of events, whatever order that was', async () => {
    const { recording } = await record({ rounds: 6 });
    // Through text, as a file would take it.
    const replayed = await replayPlugin(join(fixtures, 'taped'), JSON.parse(JSON.stringify(recording)));
    expect(replayed).toEqual({ same: true, calls: 30, decisions: 6 });
  });

  it('names the first decision that a changed plugin makes otherwise, and what was asked then and now', async () => {
    const { recording } = await record({ rounds: 3 });
    const plugin = changed("'Which way?'", "round < 1 ? 'Which way?' : 'Where to?'");
    expect(await replayPlugin(plugin, recording)).toEqual({
      same: false,
      calls: 8,
      decisions: 1,
      difference: {
        step: 9,
        decision: 2,
        call: 'jev.evaluate',
        path: 'questions.way.instructions',
        before: '"Which way?"',
        now: '"Where to?"',
      },
    });
  });

  it.each([
    ['asks for something else', "tools.call('look'", "tools.call('act'", { call: 'tools.call', before: '"look"' }],
    [
      'asks for less',
      "await ctx.tools.call('act', { way: answers",
      "if (!round) await ctx.tools.call('act', { way: answers",
      { step: 10, before: 'tools.call' },
    ],
    [
      'asks for more',
      "if (end === 'throw')",
      "await ctx.tools.call('look', {}); if (end === 'throw')",
      { call: 'tools.call', before: 'the end of the run' },
    ],
    ['ends otherwise', 'return { order }', 'return { order: 1 }', { call: 'result', path: 'result.order' }],
    ['throws', 'return { order }', "throw new TypeError('no')", { call: 'result' }],
  ])('differs when the plugin %s', async (_what, from, to, difference) => {
    const { recording } = await record({ rounds: 2 });
    const replayed = await replayPlugin(changed(from, to), recording);
    expect(replayed).toMatchObject({ same: false, difference });
  });

  it('is the same when the plugin threw then and throws now', async () => {
    const { recording, result } = await record({ rounds: 1, end: 'throw' });
    expect(result).toMatchObject({ code: 'PLUGIN_FAILED' });
    expect(recording.ended).toMatchObject({ message: expect.stringContaining('after ') });
    expect(await replayPlugin(join(fixtures, 'taped'), recording)).toMatchObject({ same: true });
  });

  it('is cancelled where the recorded run was', async () => {
    const stop = new AbortController();
    const ports = world();
    const { recording, result } = await record(
      { rounds: 1, end: 'wait' },
      {
        signal: stop.signal,
        ports: {
          ...ports,
          callTool: async (name, args, signal) => {
            // The run sleeps next; the recording must hold the sleep before the cancellation.
            if (name === 'act' && args.way !== 'home') setTimeout(() => stop.abort(), 200);
            return (ports.callTool as NonNullable<RunPorts['callTool']>)(name, args, signal);
          },
        },
      },
    );
    expect((result as { order: string[] }).order).toContain('stopped');
    expect(recording.events).toContainEqual({ aborted: 'cancelled' });
    expect(await replayPlugin(join(fixtures, 'taped'), recording)).toMatchObject({ same: true });
  });

  it('of a recording that breaks off is the same as far as that goes', async () => {
    const { recording } = await record({ rounds: 3 });
    const { ended: _lost, ...head } = recording;
    const cut = { ...head, events: recording.events.slice(0, 14) };
    const replayed = await replayPlugin(join(fixtures, 'taped'), cut);
    expect(replayed).toMatchObject({ same: true, partial: true });
    expect(replayed.decisions).toBeGreaterThan(0);
  });
});
