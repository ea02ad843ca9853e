import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { PluginsConfig } from './config.ts';
import { createPluginHost, type PluginHostDeps, type RunningPluginHost } from './plugin-host.ts';
import type { RunCall } from './ports.ts';

const root = join(import.meta.dirname, '../..');
const fixtures = join(root, 'test/fixtures/plugins');
const authority = { principalId: 'p', agentId: 'a', conversationId: 'c' };
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A folder of plugins that ship with the host; `change` may alter it before anything starts. */
function pluginFolder(names: string[], change: (folder: string) => void = () => {}): string {
  // Inside the checkout, so that the fixtures' imports of the SDK find it.
  const folder = mkdtempSync(join(fixtures, '../tmp-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of names) cpSync(join(fixtures, name), join(folder, name), { recursive: true });
  change(folder);
  return folder;
}

const edit = (file: string, from: string, to: string): void =>
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));

async function host(
  names: string[],
  options: Partial<PluginHostDeps> & { raw?: object; change?: (folder: string) => void } = {},
) {
  const folder = pluginFolder(names, options.change);
  const lines: string[] = [];
  const running = createPluginHost({
    bundledDirectory: folder,
    log: ({ pluginId, level, text }) => lines.push(`${pluginId} ${level} ${text}`),
    now: Date.now,
    ...options,
    config: v.parse(PluginsConfig, options.raw ?? {}),
    times: { unresponsiveMs: 400, cancelMs: 300, deadlineMs: 300, ...options.times },
  });
  cleanUp.push(() => running.stop());
  return { running, folder, lines, states: await running.start() };
}

let runs = 0;
const call = (input: unknown, over: Partial<RunCall> = {}): RunCall => {
  runs += 1;
  return { runId: `run-${runs}`, input, ports: {}, authority, signal: new AbortController().signal, ...over };
};
const echo = (running: RunningPluginHost, input: unknown, over: Partial<RunCall> = {}) =>
  running.run('echo', call(input, over));

function deferred() {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

describe('the plugin host', () => {
  it('starts what is there and says how it went, plugin by plugin', async () => {
    const { running, states } = await host(['echo', 'toolbox'], {
      change: (folder) =>
        edit(join(folder, 'toolbox/index.ts'), 'let calls = 0', 'throw new Error("broken"); let calls = 0'),
    });
    expect(states).toMatchObject([
      {
        id: 'echo',
        state: 'serving',
        tier: 'thread',
        generation: 1,
        adapter: 'test',
        activationMs: expect.any(Number),
      },
      { id: 'toolbox', state: 'failed', reason: expect.stringContaining('broken') },
    ]);
    expect(running.controllerFor('test')).toBe('echo');
    expect(running.controllerFor('browser')).toBe(undefined);
    await expect(running.run('toolbox', call({}))).rejects.toMatchObject({ code: 'PLUGIN_NOT_AVAILABLE' });
  });

  it('does not start without a plugin that the operator requires', async () => {
    const starting = host(['echo'], {
      raw: { echo: { required: true } },
      change: (folder) => edit(join(folder, 'echo/plugin.json'), '"contract": 1', '"contract": 2'),
    });
    await expect(starting).rejects.toMatchObject({ code: 'PLUGIN_CONTRACT_VERSION' });
  });

  it('names the entry of plugin.json that is wrong', async () => {
    const { states } = await host(['echo'], {
      change: (folder) => edit(join(folder, 'echo/plugin.json'), '"memoryMb": 128', '"memoryMb": 1'),
    });
    expect(states[0]!.reason).toContain('limits.memoryMb');
  });

  it('leaves a disabled plugin alone', async () => {
    const { running, states } = await host(['echo'], { raw: { echo: { enabled: false } } });
    expect(states[0]).toMatchObject({ state: 'disabled', generation: 0 });
    await expect(echo(running, { do: 'echo', value: 1 })).rejects.toMatchObject({ code: 'PLUGIN_NOT_AVAILABLE' });
  });

  it('shows an entry for a plugin that does not exist as failed', async () => {
    const { states } = await host(['echo'], { raw: { nothere: {} } });
    expect(states.find(({ id }) => id === 'nothere')).toMatchObject({ state: 'failed' });
  });

  it('gives every run a sandbox of its own, and keeps counts', async () => {
    const { running } = await host(['echo']);
    expect(await echo(running, { do: 'remember', value: 'secret' })).toEqual({ before: null, activated: 1 });
    expect(await echo(running, { do: 'remember', value: 'x' })).toEqual({ before: null, activated: 1 });
    expect(running.list()[0]).toMatchObject({ runs: 2, crashes: 0 });
  });

  it('runs as many at once as the limit allows, and lets the others wait', async () => {
    const { running } = await host(['echo'], { raw: { echo: { limits: { concurrentRuns: 2 } } } });
    let now = 0;
    let most = 0;
    let pair = deferred();
    // Every call waits until a second one is there, so the test ends only if two run at once.
    const callTool = async () => {
      now += 1;
      most = Math.max(most, now);
      const mine = pair;
      if (now === 2) {
        mine.resolve();
        pair = deferred();
      }
      await mine.promise;
      now -= 1;
      return { content: [] };
    };
    const all = Array.from({ length: 6 }, () =>
      echo(running, { do: 'tool', name: 'x', args: {} }, { ports: { callTool } }),
    );
    await Promise.all(all);
    expect(most).toBe(2);
  });

  it('lets a run that waits for its turn be cancelled', async () => {
    const { running } = await host(['echo'], { raw: { echo: { limits: { concurrentRuns: 1 } } } });
    const first = echo(running, { do: 'wait', ms: 200 });
    const stop = new AbortController();
    const second = echo(running, { do: 'echo', value: 1 }, { signal: stop.signal });
    stop.abort(new Error('changed my mind'));
    await expect(second).rejects.toThrow('changed my mind');
    expect(await first).toBe('slept');
  });

  it('ends a plugin that hangs, says in which call, and others go on', async () => {
    const { running, lines } = await host(['echo', 'toolbox']);
    const spinning = echo(running, { do: 'spin' });
    expect(await running.callContributed('toolbox', 'add', { a: 1, b: 2 }, call(undefined))).toEqual({ sum: 3 });
    await expect(spinning).rejects.toMatchObject({
      code: 'PLUGIN_UNRESPONSIVE',
      details: { plugin: 'echo', call: 'run' },
    });
    expect(await echo(running, { do: 'echo', value: 1 })).toEqual({ value: 1, activated: 1 });
    expect(lines.some((line) => line.includes('stopped answering'))).toBe(true);
  });

  it('holds a contributed tool to its schemas, whoever calls it', async () => {
    const { running } = await host(['toolbox'], {
      change: (folder) => edit(join(folder, 'toolbox/index.ts'), 'sum: a + b', 'sum: a > 100 ? "much" : a + b'),
    });
    const add = (args: unknown) => running.callContributed('toolbox', 'add', args, call(undefined));
    expect(await add({ a: 1, b: 2 })).toEqual({ sum: 3 });
    await expect(add({ a: 'one', b: 2 })).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { path: 'a' } });
    expect(running.list()[0]).toMatchObject({ runs: 1 });
    await expect(add({ a: 101, b: 2 })).rejects.toMatchObject({
      code: 'PLUGIN_RESULT_INVALID',
      details: { plugin: 'toolbox', path: 'add' },
    });
  });

  it('ends a run that ignores its cancellation', async () => {
    const { running } = await host(['echo']);
    const stop = new AbortController();
    const ports = { progress: () => stop.abort() };
    const run = echo(running, { do: 'stubborn', ms: 60_000 }, { signal: stop.signal, ports });
    await expect(run).rejects.toMatchObject({ code: 'PLUGIN_UNRESPONSIVE' });
  });

  it('ends a run at its deadline, and takes an answer that comes in the time to clean up', async () => {
    const { running } = await host(['echo']);
    await expect(echo(running, { do: 'stubborn', ms: 60_000 }, { deadlineMs: 100 })).rejects.toMatchObject({
      code: 'PLUGIN_DEADLINE',
      details: { ms: 100 },
    });
    expect(await echo(running, { do: 'wait', ms: 60_000 }, { deadlineMs: 100 })).toEqual({ cancelled: true });
  });

  it('disables a plugin that keeps crashing, until it is enabled again', async () => {
    let time = 0;
    const { running } = await host(['echo'], { now: () => Date.now() + time });
    for (let i = 0; i < 5; i += 1) {
      await expect(echo(running, { do: 'spin' })).rejects.toMatchObject({ code: 'PLUGIN_UNRESPONSIVE' });
      time += 30_000;
    }
    await expect(echo(running, { do: 'echo', value: 1 })).rejects.toMatchObject({
      code: 'PLUGIN_DISABLED',
      details: { crashes: 5 },
    });
    expect(running.list()[0]).toMatchObject({
      state: 'disabled',
      crashes: 5,
      reason: expect.stringContaining('stopped answering'),
    });
    await running.enable('echo');
    expect(await echo(running, { do: 'echo', value: 1 })).toMatchObject({ value: 1 });
  });

  it('keeps it disabled over a restart, with the reason, until an operator says otherwise', async () => {
    const store = createMemoryStore();
    let time = 0;
    const first = await host(['echo'], { store, now: () => Date.now() + time });
    for (let i = 0; i < 5; i += 1) {
      await expect(echo(first.running, { do: 'spin' })).rejects.toMatchObject({ code: 'PLUGIN_UNRESPONSIVE' });
      time += 30_000;
    }
    await first.running.stop();
    const second = await host(['echo'], { store });
    expect(second.states).toMatchObject([
      { state: 'disabled', generation: 0, reason: expect.stringContaining('stopped answering') },
    ]);
    await expect(echo(second.running, { do: 'echo', value: 1 })).rejects.toMatchObject({ code: 'PLUGIN_DISABLED' });
    await second.running.enable('echo');
    expect(await echo(second.running, { do: 'echo', value: 1 })).toMatchObject({ value: 1 });
    await second.running.stop();
    expect((await host(['echo'], { store })).states).toMatchObject([{ state: 'serving' }]);
  });

  it('makes the callers of a crashing plugin wait before it is tried again', async () => {
    const { running } = await host(['echo'], { now: () => 1_000_000 + performance.now() / 1000 });
    // With a clock that hardly moves nothing counts as silent, so the deadline ends these.
    for (let i = 0; i < 2; i += 1) {
      await expect(echo(running, { do: 'spin' }, { deadlineMs: 50 })).rejects.toMatchObject({
        code: 'PLUGIN_DEADLINE',
      });
    }
    await expect(echo(running, { do: 'echo', value: 1 })).rejects.toMatchObject({
      code: 'PLUGIN_NOT_AVAILABLE',
      details: { waitMs: expect.any(Number) },
    });
  });

  it('switches to a new version without ending runs of the old, and keeps the old when the new is broken', async () => {
    const { running, folder } = await host(['echo']);
    const file = join(folder, 'echo/index.ts');
    const { promise: started, resolve: progress } = deferred();
    const old = echo(running, { do: 'wait', ms: 300 }, { ports: { progress } });
    await started;
    edit(file, "return 'slept'", "return 'slept in 2'");
    await running.reload('echo');
    expect(await echo(running, { do: 'wait', ms: 1 })).toBe('slept in 2');
    expect(await old).toBe('slept');
    edit(file, 'activated += 1;', 'throw new Error("not today");');
    await expect(running.reload('echo')).rejects.toMatchObject({ code: 'PLUGIN_ACTIVATION_FAILED' });
    expect(await echo(running, { do: 'wait', ms: 1 })).toBe('slept in 2');
    expect(running.list()[0]).toMatchObject({
      state: 'serving',
      generation: 2,
      reason: expect.stringContaining('not today'),
    });
  });

  it('serves nothing with settings that do not fit, and goes on with the last good ones when a reload brings some', async () => {
    const declare = (folder: string) =>
      edit(
        join(folder, 'echo/plugin.json'),
        '"kind"',
        '"settings": { "type": "object", "properties": { "greeting": { "type": "string" } }, "additionalProperties": false }, "kind"',
      );
    const entry = (settings: object) => v.parse(PluginsConfig, { echo: { settings } });
    const wrong = await host(['echo'], { change: declare, raw: { echo: { settings: { greeting: 1 } } } });
    expect(wrong.states).toMatchObject([
      { state: 'failed', reason: expect.stringContaining('plugins.echo.settings.greeting') },
    ]);
    const { running } = await host(['echo'], { change: declare, raw: { echo: { settings: { greeting: 'Hello' } } } });
    await running.reconfigure(entry({ greetings: 'Hello' })).catch(() => {});
    expect(running.list()).toMatchObject([
      { state: 'serving', generation: 1, reason: expect.stringContaining('plugins.echo.settings') },
    ]);
    expect(await echo(running, { do: 'echo', value: 1 })).toMatchObject({ value: 1 });
    await running.reconfigure(entry({ greeting: 'Good day' }));
    expect(running.list()).toMatchObject([{ state: 'serving', generation: 2 }]);
  });

  it('ends what runs when it stops', async () => {
    const { running } = await host(['echo'], { times: { drainMs: 50 } });
    const { promise: started, resolve: progress } = deferred();
    const run = echo(running, { do: 'wait', ms: 60_000 }, { ports: { progress } });
    const failed = expect(run).rejects.toMatchObject({ code: 'PLUGIN_LOST' });
    await started;
    await running.stop();
    await failed;
  });
});

describe('a helper', () => {
  it('offers the tools of its manifest and serves its other handlers to the host only', async () => {
    const { running } = await host(['toolbox']);
    expect(running.tools()).toMatchObject([{ name: 'add', pluginId: 'toolbox', annotations: { readOnlyHint: true } }]);
    expect(await running.callContributed('toolbox', 'count', {}, call(undefined))).toBe(1);
    expect(await running.callContributed('toolbox', 'count', {}, call(undefined))).toBe(2);
    await expect(running.callContributed('toolbox', 'toString', {}, call(undefined))).rejects.toMatchObject({
      code: 'PLUGIN_NOT_AVAILABLE',
    });
  });

  it('tells when the tools that it offers are others', async () => {
    let changes = 0;
    const { running, folder } = await host(['toolbox'], { toolsChanged: () => (changes += 1) });
    expect(changes).toBe(1);
    await running.reload('toolbox');
    expect(changes).toBe(1);
    edit(join(folder, 'toolbox/plugin.json'), '"title": "Add"', '"title": "Add up"');
    await running.reload('toolbox');
    expect(changes).toBe(2);
  });

  it('serves many calls at the same time, and one call’s deadline is not the others’', async () => {
    const { running } = await host(['toolbox']);
    const slow = running.callContributed('toolbox', 'wait', 60_000, call(undefined, { deadlineMs: 50 }));
    const many = Array.from({ length: 20 }, (_, a) =>
      running.callContributed('toolbox', 'add', { a, b: 1 }, call(undefined)),
    );
    await expect(slow).rejects.toMatchObject({ code: 'PLUGIN_FAILED' });
    expect(await Promise.all(many)).toHaveLength(20);
  });

  it('is started again after it was lost', async () => {
    const { running } = await host(['toolbox']);
    await expect(running.callContributed('toolbox', 'die', {}, call(undefined))).rejects.toMatchObject({
      code: 'PLUGIN_UNRESPONSIVE',
    });
    expect(await running.callContributed('toolbox', 'count', {}, call(undefined))).toBe(1);
  });
});

describe('bundling a plugin', () => {
  it('does not read files outside the plugin’s folder, not even through a link', async () => {
    const secret = join(mkdtempSync(join(tmpdir(), 'secret-')), 'key.json');
    writeFileSync(secret, '{"key":"sk-123"}');
    cleanUp.push(() => rmSync(join(secret, '..'), { recursive: true }));
    for (const link of [false, true]) {
      const { states } = await host(['echo'], {
        change: (folder) => {
          if (link) symlinkSync(secret, join(folder, 'echo/key.json'));
          edit(
            join(folder, 'echo/index.ts'),
            'import * as v',
            `import key from '${link ? './key.json' : secret}'; console.log(key);\nimport * as v`,
          );
        },
      });
      expect(states[0]).toMatchObject({ state: 'failed', reason: expect.stringContaining('outside the plugin') });
    }
  });

  it('names file and line of what the sandbox would refuse', async () => {
    const { states } = await host(['echo'], {
      change: (folder) =>
        edit(
          join(folder, 'echo/index.ts'),
          'let activated = 0;',
          'let activated = 0;\nexport const later = () => import(String(activated));',
        ),
    });
    const line =
      readFileSync(join(fixtures, 'echo/index.ts'), 'utf8')
        .split('\n')
        .findIndex((text) => text.startsWith('let activated')) + 2;
    expect(states[0]!.reason).toContain(`index.ts:${line}`);
  });

  it('says what to do instead of importing a module of Node', async () => {
    const { states } = await host(['echo'], {
      change: (folder) =>
        edit(
          join(folder, 'echo/index.ts'),
          'import * as v',
          "import { readFileSync } from 'node:fs'; readFileSync('x');\nimport * as v",
        ),
    });
    expect(states[0]!.reason).toMatch(/"fs" belongs to Node.*capability/);
  });
});
