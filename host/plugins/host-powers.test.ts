import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { PluginsConfig } from './config.ts';
import type { HostServices } from './host-services.ts';
import { createPluginHost } from './plugin-host.ts';
import type { RunPorts } from './ports.ts';

const fixtures = join(import.meta.dirname, '../../test/fixtures/plugins');
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

const everything = { 'model.messages': true, 'cdp.call': true, 'tasks.control': true, storage: true };

interface Options {
  tier?: 'thread' | 'process';
  grants?: object;
  missing?: HostServices['missing'];
  ports?: RunPorts;
  dev?: boolean;
  store?: ReturnType<typeof createMemoryStore>;
}

async function host({ tier = 'thread', grants = everything, missing = () => undefined, ...rest }: Options = {}) {
  const entry = (more: object) => ({ powers: { path: join(fixtures, 'powers'), tier, grants, ...more } });
  const config = (more: object = {}) => v.parse(PluginsConfig, entry(more));
  const running = createPluginHost({
    bundledDirectory: join(fixtures, 'none'),
    log: () => {},
    now: Date.now,
    dev: rest.dev ?? true,
    services: { missing, ports: () => rest.ports ?? {} },
    config: config(),
    ...(rest.store ? { store: rest.store } : {}),
  });
  cleanUp.push(() => running.stop());
  await running.start();
  let runs = 0;
  const ask = (handler: string, input: unknown, ports: RunPorts = {}, signal = new AbortController().signal) => {
    runs += 1;
    const authority = { principalId: 'p', agentId: 'a', conversationId: 'c' };
    return running.callContributed('powers', handler, input, { runId: `run-${runs}`, ports, authority, signal });
  };
  return { running, ask, config, state: () => running.list()[0] };
}

describe('a plugin that is granted what the host cannot do', () => {
  const noModel: HostServices['missing'] = (capability) =>
    capability === 'model.messages' ? 'no model is set up' : undefined;

  it('is refused when it starts, with the capability and the reason', async () => {
    const { ask, state } = await host({ missing: noModel });
    expect(state()).toMatchObject({ state: 'failed', reason: expect.stringContaining('model.messages') });
    expect(state()?.reason).toContain('no model is set up');
    await expect(ask('model', {})).rejects.toMatchObject({ code: 'PLUGIN_NOT_AVAILABLE' });
  });

  it('is not approved, and stays held', async () => {
    const { running, state } = await host({ missing: noModel, dev: false });
    expect(state()).toMatchObject({ state: 'held' });
    await expect(running.approve('powers')).rejects.toMatchObject({
      code: 'PLUGIN_CAPABILITY_UNAVAILABLE',
      details: { capability: 'model.messages' },
    });
    expect(state()).toMatchObject({ state: 'held' });
  });

  it('starts once the host can, or once it is no longer granted', async () => {
    let problem: string | undefined = 'no model is set up';
    const { running, config, state } = await host({
      missing: (capability) => (capability === 'model.messages' ? problem : undefined),
    });
    await running.reconfigure(config({ grants: { ...everything, 'model.messages': false } }));
    expect(state()).toMatchObject({ state: 'serving' });
    await running.reconfigure(config());
    expect(state()).toMatchObject({ state: 'serving', reason: expect.stringContaining('model.messages') });
    problem = undefined;
    const again = await host({ missing: () => problem });
    expect(again.state()).toMatchObject({ state: 'serving' });
  });

  it('is tried again when the configuration changes, though its own entry did not', async () => {
    let problem: string | undefined = 'no model is set up';
    const { running, config, state } = await host({ missing: () => problem });
    problem = undefined;
    await running.reconfigure(config());
    expect(state()).toMatchObject({ state: 'serving' });
  });

  it.each(['image', 'speech'])('never gets %s, which no host serves', async (capability) => {
    const { checkServed } = await import('./host-services.ts');
    const grants = new Map([[capability as 'image', { request: { reason: 'For a test.' }, narrowing: {} }]]);
    const manifest = { id: 'x', kind: 'helper' } as never;
    expect(() => checkServed(manifest, grants, { missing: () => undefined, ports: () => ({}) })).toThrow(capability);
  });
});

describe.each(['thread', 'process'] as const)('powers of the host in tier %s', (tier) => {
  it('model.messages: messages in, text out, nothing else passes, two at a time', async () => {
    const asked: unknown[] = [];
    const model: RunPorts['model'] = async (request) => {
      asked.push(request);
      return { text: 'yes', stop: 'end' };
    };
    const { ask } = await host({ tier, ports: { model } });
    const messages = [{ role: 'user', content: 'Is it?' }];
    expect(await ask('model', { messages, maxTokens: 10 })).toEqual({ text: 'yes', stop: 'end' });
    expect(asked).toEqual([{ messages, maxTokens: 10 }]);
    for (const wrong of [{}, { messages, apiKey: 'x' }, { messages: [{ role: 'root', content: '' }] }, []])
      await expect(ask('model', wrong)).rejects.toMatchObject({ details: { cause: 'PLUGIN_CALL_INVALID' } });
    expect(asked).toHaveLength(1);
  });

  it('cdp.call: listed methods, with session and browser, a few at a time', async () => {
    const sent: unknown[] = [];
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const cdp: RunPorts['cdp'] = async (command) => {
      sent.push(command);
      if (sent.length > 1) await gate;
      return { ok: true };
    };
    const { ask } = await host({ tier, ports: { cdp } });
    const call = ['Runtime.evaluate', { expression: '1' }, { sessionId: 's', browser: 'b' }];
    expect(await ask('cdp', call)).toEqual({ ok: true });
    expect(sent).toEqual([{ method: 'Runtime.evaluate', params: { expression: '1' }, sessionId: 's', browser: 'b' }]);
    await expect(ask('cdp', ['Browser.close'])).rejects.toMatchObject({ details: { cause: 'CAPABILITY_DENIED' } });
    for (const wrong of [
      ['Runtime.evaluate', { text: 'x'.repeat(300_000) }],
      ['Runtime.evaluate', []],
      ['Runtime.evaluate', {}, { url: 'ws://x' }],
    ])
      await expect(ask('cdp', wrong)).rejects.toMatchObject({ details: { cause: 'PLUGIN_CALL_INVALID' } });
    const many = ask('many', ['Target.getTargets', 12]);
    await expect.poll(() => sent.length).toBe(9);
    open();
    expect(await many).toEqual({ served: 8, code: 'PLUGIN_TOO_MANY_CALLS' });
  });

  it('cdp.call: an answer that is too large is a refusal with words, not a failure of the host', async () => {
    const { ask } = await host({ tier, ports: { cdp: async () => ({ data: 'x'.repeat(5_000_000) }) } });
    await expect(ask('cdp', ['Target.getTargets'])).rejects.toMatchObject({
      details: { cause: 'PLUGIN_CALL_INVALID', problem: expect.stringContaining('its answer has') },
    });
  });

  it('tasks.control: the exact commands, through the caller’s own port, and denied without one', async () => {
    const commands: unknown[] = [];
    const control: RunPorts['control'] = async (command) => {
      commands.push(command);
      return { task: { taskId: 't' } };
    };
    const { ask } = await host({ tier });
    const id = '00000000-0000-4000-8000-000000000001';
    const revise = { action: 'revise', id, taskId: 't', expectedRevision: 1, text: 'Buy two' };
    expect(await ask('tasks', revise, { control })).toEqual({ task: { taskId: 't' } });
    expect(commands).toEqual([revise]);
    for (const wrong of [
      { action: 'spawn' },
      { action: 'pause', id, taskId: 't', expectedRevision: 1, text: 'x' },
      { action: 'cancel', taskId: 't', agentId: 'another' },
      { action: 'pause', id: 'again', taskId: 't', expectedRevision: 1 },
    ])
      await expect(ask('tasks', wrong, { control })).rejects.toMatchObject({
        details: { cause: 'PLUGIN_CALL_INVALID' },
      });
    await expect(ask('tasks', { action: 'status' })).rejects.toMatchObject({
      details: { cause: 'CAPABILITY_DENIED' },
    });
    expect(commands).toHaveLength(1);
  });

  it('storage: survives a reload and a restart, and goes when the plugin is taken out of the configuration', async () => {
    const store = createMemoryStore();
    const first = await host({ tier, store });
    await first.ask('put', ['greeting', 'hello']);
    await first.running.reload('powers');
    expect(await first.ask('get', 'greeting')).toBe('hello');
    // Another path is another folder, but the same plugin.
    await first.running.reconfigure(first.config({ path: `${join(fixtures, 'powers')}/.` }));
    expect(await first.ask('get', 'greeting')).toBe('hello');
    await first.running.reconfigure(first.config({ enabled: false }));
    await first.running.stop();
    const second = await host({ tier, store });
    expect(await second.ask('get', 'greeting')).toBe('hello');
    await second.running.reconfigure({});
    await second.running.reconfigure(second.config());
    expect(await second.ask('get', 'greeting')).toBe(null);
  });

  it('storage: refuses what is over its bounds with one code each', async () => {
    const { ask } = await host({ tier, store: createMemoryStore() });
    expect(await ask('fill', [2, 64 * 1024 + 1])).toEqual(['0 STORAGE_VALUE_TOO_LARGE', '1 STORAGE_VALUE_TOO_LARGE']);
    expect(await ask('fill', [130, 64 * 1024])).toEqual(['128 STORAGE_FULL', '129 STORAGE_FULL']);
    await expect(ask('put', ['../other', 'x'])).rejects.toMatchObject({ details: { cause: 'PLUGIN_CALL_INVALID' } });
  });
});
