import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { PluginsConfig } from './config.ts';
import { createPluginHost } from './plugin-host.ts';
import type { RunCall } from './ports.ts';

const fixtures = join(import.meta.dirname, '../../test/fixtures/plugins');
let folder: string;
let store: ReturnType<typeof createMemoryStore>;
const cleanUp: (() => unknown)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(fixtures, '../tmp-'));
  cpSync(join(fixtures, 'echo'), join(folder, 'echo'), { recursive: true });
  store = createMemoryStore();
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

const change = (file: string, from: string, to: string): void => {
  const path = join(folder, 'echo', file);
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
};

async function host(entry: object = {}, dev = false) {
  const config = (over: object) =>
    v.parse(PluginsConfig, { echo: { path: join(folder, 'echo'), tier: 'thread', ...entry, ...over } });
  const running = createPluginHost({
    bundledDirectory: join(folder, 'none'),
    config: config({}),
    store,
    log: () => {},
    now: Date.now,
    dev,
  });
  cleanUp.push(() => running.stop());
  await running.start();
  let runs = 0;
  const run = (input: unknown, ports: RunCall['ports'] = {}) => {
    runs += 1;
    const authority = { principalId: 'p', agentId: 'a', conversationId: 'c' };
    return running.run('echo', { runId: `r${runs}`, input, ports, authority, signal: new AbortController().signal });
  };
  return { running, run, config, state: () => running.list()[0]! };
}

describe('a plugin that does not ship with the host', () => {
  it('does not run until the operator has approved it, and says what it asks for', async () => {
    const { running, run, state } = await host();
    expect(state()).toMatchObject({ state: 'held', generation: 0, held: { version: '1.0.0' } });
    expect(state().held!.difference).toContain(
      "It asks for tools.call, because: “Calls the tools of the test's target.”",
    );
    await expect(run({ do: 'echo', value: 1 })).rejects.toMatchObject({ code: 'PLUGIN_HELD' });
    expect(await running.approve('echo')).toMatchObject({ state: 'serving', generation: 1 });
    expect(await run({ do: 'echo', value: 1 })).toMatchObject({ value: 1 });
  });

  it('is granted nothing until the config grants it, approved or not', async () => {
    const { running, run, config } = await host();
    await running.approve('echo');
    const callTool = async () => ({ content: [] });
    const denied = { code: 'PLUGIN_FAILED', details: { cause: 'CAPABILITY_DENIED' } };
    await expect(run({ do: 'tool', name: 'x', args: {} }, { callTool })).rejects.toMatchObject(denied);
    await running.reconfigure(config({ grants: { 'tools.call': { tools: ['x'] } } }));
    expect(await run({ do: 'tool', name: 'x', args: {} }, { callTool })).toEqual({ content: [] });
    await expect(run({ do: 'tool', name: 'y', args: {} }, { callTool })).rejects.toMatchObject(denied);
  });

  it('keeps serving the approved version when its files change, over a restart too, until the change is approved', async () => {
    const first = await host({ grants: { clock: true } });
    await first.running.approve('echo');
    change('index.ts', "return 'slept'", "return 'changed'");
    change('plugin.json', '"clock"', '"storage": { "reason": "Keeps what it has learned." }, "clock"');
    await first.running.reload('echo');
    expect(await first.run({ do: 'wait', ms: 1 })).toBe('slept');
    await first.running.stop();

    const second = await host({ grants: { clock: true } });
    expect(second.state()).toMatchObject({ state: 'serving' });
    expect(second.state().held!.difference).toEqual([
      expect.stringMatching(/^Its code changed: [0-9a-f]{12} becomes [0-9a-f]{12}\.$/),
      'It asks for storage, because: “Keeps what it has learned.”',
    ]);
    expect(await second.run({ do: 'wait', ms: 1 })).toBe('slept');
    expect(await second.running.approve('echo')).not.toHaveProperty('held');
    expect(await second.run({ do: 'wait', ms: 1 })).toBe('changed');
  });

  it('is approved as it was shown, not as it has become since', async () => {
    const { running, run } = await host({ grants: { clock: true } });
    change('index.ts', "return 'slept'", "return 'sneaked in'");
    await running.approve('echo');
    expect(await run({ do: 'wait', ms: 1 })).toBe('slept');
  });

  it('needs no approval again when nothing changed', async () => {
    const first = await host();
    await first.running.approve('echo');
    await first.running.stop();
    const second = await host();
    expect(second.state()).not.toHaveProperty('held');
    await expect(second.running.approve('echo')).rejects.toMatchObject({ code: 'PLUGIN_NOT_HELD' });
  });

  it('runs as it is in development, and is loaded again when a file changes', async () => {
    const { run, state } = await host({ grants: { clock: true } }, true);
    expect(await run({ do: 'wait', ms: 1 })).toBe('slept');
    change('index.ts', "return 'slept'", "return 'edited'");
    while (state().generation < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await run({ do: 'wait', ms: 1 })).toBe('edited');
  });

  it('goes when the config no longer names it, and comes back', async () => {
    const { running, run, config } = await host({}, true);
    await running.reconfigure({});
    expect(running.list()).toEqual([]);
    await expect(run({ do: 'echo', value: 1 })).rejects.toMatchObject({ code: 'PLUGIN_NOT_AVAILABLE' });
    await running.reconfigure(config({}));
    expect(await run({ do: 'echo', value: 1 })).toMatchObject({ value: 1 });
    await running.reconfigure(config({ enabled: false }));
    await expect(run({ do: 'echo', value: 1 })).rejects.toMatchObject({ code: 'PLUGIN_NOT_AVAILABLE' });
  });
});
