import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { container as root } from 'tsyringe';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { browserReferences } from '../programs/browser-references.ts';
import { ProgramsConfig } from '../programs/config.ts';
import { BROWSERS, CONFIG, THINKING_MODEL } from '../tokens.ts';
import { pluginServices } from './plugin-services.ts';

const { signal } = new AbortController();
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function debuggable() {
  const sockets: WebSocket[] = [];
  const received: { method: string; sessionId?: string }[] = [];
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      received.push({ method: message.method, sessionId: message.sessionId });
      socket.send(JSON.stringify({ id: message.id, result: { ok: true } }));
    });
  });
  cleanUp.push(() => server.close());
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets, received };
}

async function services(options: { browsers?: object[]; mayWrite?: boolean; model?: boolean; limit?: number } = {}) {
  const programs = v.parse(ProgramsConfig, { browsers: options.browsers ?? [] });
  const asked: unknown[] = [];
  const container = root.createChildContainer();
  const thinking = options.limit === undefined ? undefined : { maxCallsPerRun: options.limit };
  container.register(CONFIG, { useValue: { current: { gateway: { programs, jev: { thinking } } } } as never });
  const references = browserReferences(programs.browsers, () => options.mayWrite ?? true);
  cleanUp.push(() => references.close());
  container.register(BROWSERS, { useValue: references });
  container.register(THINKING_MODEL, {
    useValue: {
      configured: options.model ?? true,
      complete: async (call: unknown) => {
        asked.push(call);
        return { text: 'yes', stop: 'end' };
      },
    } as never,
  });
  const made = pluginServices(container);
  const ports = (agentId = 'assistant') =>
    made.ports({ pluginId: 'x', authority: { principalId: 'p', agentId, conversationId: 'c' } });
  return { ...made, ports, asked };
}

const browser = (id: string, wsUrl: string, more = {}) => ({
  id,
  wsUrl,
  allowedMethods: ['Target.getTargets', 'Runtime.evaluate'],
  ...more,
});
const list = { method: 'Target.getTargets', params: {} };

describe('what the host has for plugins', () => {
  it('says which capability it cannot serve as it is set up, and why', async () => {
    const bare = await services({ model: false });
    expect(bare.missing('model.messages', 'helper')).toContain('gateway.jev.thinking');
    expect(bare.missing('cdp.call', 'controller')).toContain('gateway.programs.browsers');
    expect(bare.missing('tasks.control', 'controller')).toContain('controller');
    expect(bare.missing('tasks.control', 'helper')).toBe(undefined);
    const whole = await services({ browsers: [browser('one', 'ws://127.0.0.1:1/')] });
    expect(whole.missing('model.messages', 'helper')).toBe(undefined);
    expect(whole.missing('cdp.call', 'controller')).toBe(undefined);
  });

  it('asks the operator’s model, as often as one run may', async () => {
    const { ports, asked } = await services({ limit: 2 });
    const { model } = ports();
    const request = { messages: [] };
    expect(await model?.(request, signal)).toEqual({ text: 'yes', stop: 'end' });
    await model?.(request, signal);
    expect(() => model?.(request, signal)).toThrow(expect.objectContaining({ code: 'THINKING_BUDGET' }));
    expect(asked).toHaveLength(2);
    await ports().model?.(request, signal);
  });

  it('sends commands to the browser that programs use, connecting by itself and only once', async () => {
    const { url, received, sockets } = await debuggable();
    const { ports } = await services({ browsers: [browser('one', url)] });
    const { cdp } = ports();
    expect(await cdp?.(list, signal)).toEqual({ ok: true });
    expect(await cdp?.({ method: 'Runtime.evaluate', params: {}, sessionId: 's' }, signal)).toEqual({ ok: true });
    expect(received).toEqual([{ method: 'Target.getTargets' }, { method: 'Runtime.evaluate', sessionId: 's' }]);
    expect(sockets).toHaveLength(1);
    await expect(cdp?.({ method: 'Browser.close', params: {} }, signal)).rejects.toMatchObject({
      code: 'PLUGIN_CDP_FAILED',
    });
    sockets[0]?.terminate();
    await expect.poll(() => cdp?.(list, signal).then(String, (error) => error.code)).toBe('PLUGIN_CDP_FAILED');
    expect(sockets).toHaveLength(1);
    expect(await ports().cdp?.(list, signal)).toEqual({ ok: true });
  });

  it('wants the name of the browser when there are several, and gives only what the agent may use', async () => {
    const { url } = await debuggable();
    const two = [browser('one', url), browser('two', url, { agents: ['second'] })];
    const { ports } = await services({ browsers: two });
    expect(await ports().cdp?.(list, signal)).toEqual({ ok: true });
    const refused = expect.objectContaining({ code: 'CAPABILITY_DENIED' });
    await expect(ports().cdp?.({ ...list, browser: 'two' }, signal)).rejects.toEqual(refused);
    await expect(ports().cdp?.({ ...list, browser: 'none' }, signal)).rejects.toEqual(refused);
    await expect(ports('second').cdp?.(list, signal)).rejects.toEqual(refused);
    expect(await ports('second').cdp?.({ ...list, browser: 'two' }, signal)).toEqual({ ok: true });
    const reader = await services({ browsers: two, mayWrite: false });
    await expect(reader.ports().cdp?.(list, signal)).rejects.toEqual(refused);
  });
});
