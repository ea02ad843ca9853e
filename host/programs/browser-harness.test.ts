import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { BrowserHarness } from './browser-harness.ts';
import { browserReferences } from './browser-references.ts';
import { BrowserHarnessConfig, ProgramsConfig } from './config.ts';

const signal = new AbortController().signal;
const allowedMethods = ['Target.getTargets', 'Runtime.evaluate'];

describe('the configuration of a browser', () => {
  const base = { id: 'browser', wsUrl: 'ws://127.0.0.1:9222/devtools/browser/x', allowedMethods };
  const problem = (more: object) => {
    const parsed = v.safeParse(BrowserHarnessConfig, { ...base, ...more });
    return parsed.success ? undefined : parsed.issues.map(({ message }) => message).join();
  };

  it('takes exact methods and a ws or wss address without credentials', () => {
    expect(problem({})).toBeUndefined();
    expect(problem({ allowedMethods: ['*'] })).toMatch(/exact/);
    expect(problem({ allowedMethods: ['Runtime.*'] })).toMatch(/exact/);
    expect(problem({ allowedMethods: [] })).toBeDefined();
    expect(problem({ wsUrl: 'https://127.0.0.1:9222' })).toMatch(/ws\/wss/);
    expect(problem({ wsUrl: 'ws://user:secret@127.0.0.1:9222' })).toMatch(/ws\/wss/);
    expect(problem({ autoAllow: true })).toBeDefined();
  });

  it('clamps the time of a call', () => {
    expect(v.parse(BrowserHarnessConfig, base).callTimeoutMs).toBe(10_000);
    expect(v.parse(BrowserHarnessConfig, { ...base, callTimeoutMs: 1 }).callTimeoutMs).toBe(100);
    expect(v.parse(BrowserHarnessConfig, { ...base, callTimeoutMs: 1e9 }).callTimeoutMs).toBe(60_000);
  });

  it.each(['jev', 'program', 'tools', 'input', 'console', 'fetch', 'process', 'class'])('is not called %s', (id) => {
    expect(v.safeParse(ProgramsConfig, { browsers: [{ ...base, id }] }).success).toBe(false);
  });

  it('has each id once', () => {
    expect(v.safeParse(ProgramsConfig, { browsers: [base, base] }).success).toBe(false);
  });
});

describe('a browser harness', () => {
  let server: WebSocketServer;
  let sockets: WebSocket[];
  let received: { id: number; method: string; sessionId?: string }[];
  let answer: (message: { id: number; method: string }) => object | undefined;
  let harness: BrowserHarness;

  beforeEach(async () => {
    sockets = [];
    received = [];
    answer = ({ id }) => ({ id, result: { ok: true } });
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => {
      sockets.push(socket);
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        received.push(message);
        const reply = answer(message);
        if (reply) socket.send(JSON.stringify(reply));
      });
    });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    harness = new BrowserHarness({
      id: 'browser',
      wsUrl: `ws://127.0.0.1:${port}`,
      allowedMethods,
      callTimeoutMs: 200,
    });
  });
  afterEach(() => {
    harness.close();
    server.close();
    for (const socket of sockets) socket.terminate();
  });

  it('connects once, however often it is asked', async () => {
    await Promise.all([harness.connect(signal), harness.connect(signal)]);
    await harness.connect(signal);
    expect(sockets).toHaveLength(1);
  });

  it('answers nothing before it is connected', async () => {
    await expect(harness.cdp({ method: 'Target.getTargets' }, signal)).rejects.toThrow(
      'Call browser.connect before browser.cdp',
    );
  });

  it('sends only allowed methods, and page-scoped ones only with a session', async () => {
    await harness.connect(signal);
    expect(await harness.cdp({ method: 'Target.getTargets' }, signal)).toEqual({ ok: true });
    await expect(harness.cdp({ method: 'Browser.close' }, signal)).rejects.toThrow(/Invalid/);
    await expect(harness.cdp({ method: 'Runtime.evaluate' }, signal)).rejects.toThrow(
      'Page-scoped CDP calls require an explicit sessionId',
    );
    await harness.cdp({ method: 'Runtime.evaluate', sessionId: 's1' }, signal);
    expect(received.map(({ method, sessionId }) => [method, sessionId])).toEqual([
      ['Target.getTargets', undefined],
      ['Runtime.evaluate', 's1'],
    ]);
  });

  it('has at most 16 commands on their way', async () => {
    answer = () => undefined;
    await harness.connect(signal);
    const calls = Array.from({ length: 17 }, () => harness.cdp({ method: 'Target.getTargets' }, signal));
    const ends = await Promise.allSettled(calls);
    const reasons = ends.map((end) => (end.status === 'rejected' ? end.reason.message : 'answered'));
    expect(reasons.filter((reason) => reason === 'Browser Harness outstanding call limit reached')).toHaveLength(1);
    expect(reasons.filter((reason) => /timed out/.test(reason))).toHaveLength(16);
  });

  it('stops waiting when it is cancelled, and says that the effect is not known', async () => {
    answer = () => undefined;
    await harness.connect(signal);
    const caller = new AbortController();
    const call = harness.cdp({ method: 'Target.getTargets' }, caller.signal);
    caller.abort();
    await expect(call).rejects.toThrow('its effect is not known');
    await expect(harness.cdp({ method: 'Target.getTargets' }, AbortSignal.abort())).rejects.toThrow(/cancelled/);
  });

  it('does not reconnect by itself', async () => {
    answer = () => undefined;
    await harness.connect(signal);
    const waiting = harness.cdp({ method: 'Target.getTargets' }, signal);
    const message = 'Browser Harness disconnected; explicitly reconnect before retrying';
    sockets[0]!.terminate();
    await expect(waiting).rejects.toThrow(message);
    await expect(harness.cdp({ method: 'Target.getTargets' }, signal)).rejects.toThrow(message);
    answer = ({ id }) => ({ id, result: {} });
    await harness.connect(signal);
    expect(await harness.cdp({ method: 'Target.getTargets' }, signal)).toEqual({});
  });

  it('passes on what the browser refuses', async () => {
    answer = ({ id }) => ({ id, error: { code: -32000, message: 'No target with given id' } });
    await harness.connect(signal);
    await expect(harness.cdp({ method: 'Target.getTargets' }, signal)).rejects.toThrow('CDP: No target with given id');
  });

  it('ignores messages that are no answers', async () => {
    await harness.connect(signal);
    for (const text of ['no json', '{}', '{"id":"1"}', 'null', '[]', '{"id":99,"result":{}}']) sockets[0]!.send(text);
    expect(await harness.cdp({ method: 'Target.getTargets' }, signal)).toEqual({ ok: true });
  });

  it('is closed for good when the host goes', async () => {
    harness.close();
    await expect(harness.connect(signal)).rejects.toThrow('Browser Harness provider closed');
    await expect(harness.cdp({ method: 'Target.getTargets' }, signal)).rejects.toThrow(
      'Browser Harness provider closed',
    );
  });

  it('says when there is no browser', async () => {
    const nowhere = new BrowserHarness({ id: 'b', wsUrl: 'ws://127.0.0.1:9', allowedMethods, callTimeoutMs: 200 });
    await expect(nowhere.connect(signal)).rejects.toThrow('Browser Harness could not connect');
  });
});

describe('its references', () => {
  const config = { id: 'browser', wsUrl: 'ws://127.0.0.1:9', allowedMethods, callTimeoutMs: 200, agents: ['a'] };
  const caller = { principalId: 'p', agentId: 'a', conversationId: 'c' };
  const source = browserReferences([config], () => true);

  it('are connect and cdp, with the allowed methods in the description', () => {
    expect(source.find('browser.connect', caller)).toMatchObject({ allowed: true });
    expect(source.find('browser.cdp', caller)?.inputSchema).toMatchObject({
      properties: { method: { enum: allowedMethods } },
    });
    expect(source.find('browser.close', caller)).toBeUndefined();
    expect(source.find('other.cdp', caller)).toBeUndefined();
  });

  it('are denied to agents that are not listed, and to callers who may not execute', () => {
    expect(source.find('browser.cdp', { ...caller, agentId: 'b' })?.allowed).toBe(false);
    expect(browserReferences([config], () => false).find('browser.cdp', caller)?.allowed).toBe(false);
  });

  it('refuse arguments of another shape', async () => {
    const cdp = source.find('browser.cdp', caller)!;
    for (const args of [{}, { method: 1 }, { method: 'Target.getTargets', extra: 1 }, [], null])
      await expect(cdp.call(args, signal)).rejects.toThrow(/^Invalid browser\.cdp arguments/);
  });
});
