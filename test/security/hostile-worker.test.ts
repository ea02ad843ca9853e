/** A worker that was taken over: it writes what it likes on its real ports. The host ends it and does nothing that it asked. */
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { Broker } from '../../host/plugins/broker.ts';
import type { EndCause } from '../../host/plugins/execution.ts';
import { effectiveGrants } from '../../host/plugins/grants.ts';
import { portWire } from '../../host/plugins/port-wire.ts';
import { LOG_BURST, MAX_CALLS_IN_FLIGHT, MAX_WIRE_SIZE } from '../../host/plugins/protocol.ts';
import { checkManifest } from '../../host/plugins/read-manifest.ts';
import { Slot } from '../../host/plugins/slot.ts';

const reason = 'This is needed by the test.';
const manifest = checkManifest({
  id: 'hostile',
  version: '1.0.0',
  contract: 1,
  kind: 'controller',
  entry: 'index.js',
  adapter: 'test',
  capabilities: { task: { reason }, log: { reason }, 'jev.evaluate': { reason } },
  limits: { memoryMb: 64, concurrentRuns: 1, runDeadlineMs: 60_000 },
});

function takenOver() {
  const [calls, capabilities] = [new MessageChannel(), new MessageChannel()];
  let end: (cause: EndCause) => void = () => {};
  const ended = new Promise<EndCause>((resolve) => (end = resolve));
  const slot = new Slot(
    {
      calls: portWire(calls.port1),
      capabilities: portWire(capabilities.port1),
      ended,
      terminate: () => end({ kind: 'lost', text: 'it was ended' }),
      memory: async () => undefined,
      busy: () => undefined,
    },
    { pluginId: 'hostile', memoryMb: 64, unresponsiveMs: 5000, now: Date.now, stray: () => {} },
  );
  const progress: unknown[] = [];
  const ports = { progress: (event: unknown) => progress.push(event), evaluate: () => new Promise<never>(() => {}) };
  const run = {
    runId: 'r',
    pluginId: 'hostile',
    authority: { principalId: 'p', agentId: 'a', conversationId: 'c' },
    ports,
  };
  const broker = new Broker(
    { ...run, cancelled: new AbortController().signal },
    effectiveGrants(manifest, undefined, true),
    { log: () => {}, now: Date.now },
    (problem) =>
      slot.kill(
        Object.assign(new Error(problem), { name: 'HostError', code: 'PLUGIN_PROTOCOL', details: {} }) as never,
      ),
  );
  const running = slot.run({ runId: 'r', handler: 'run' }, broker);
  running.catch(() => {});
  const send = (message: unknown, transfer: ArrayBuffer[] = []) => capabilities.port2.postMessage(message, transfer);
  const close = () => {
    for (const port of [calls.port2, capabilities.port2]) port.close();
  };
  return { slot, running, progress, send, answer: (message: unknown) => calls.port2.postMessage(message), close };
}

const apply = (name: string, ...values: unknown[]) => ({
  id: String(Math.random()),
  type: 'APPLY',
  path: [name],
  argumentList: values.map((value) => ({ type: 'RAW', value })),
});

const nest = (depth: number): object => {
  let inner: object = {};
  for (let at = 0; at < depth; at += 1) inner = { inner };
  return inner;
};
const many = (count: number): [string, number][] => Array.from({ length: count }, (_, at) => [`key${at}`, at]);

describe('a worker that was taken over', () => {
  it.each([
    [
      'constructs in the host',
      {
        id: '1',
        type: 'CONSTRUCT',
        path: ['task.progress', 'constructor'],
        argumentList: [{ type: 'RAW', value: 'return process' }],
      },
    ],
    ['reads the host’s objects', { id: '1', type: 'GET', path: ['task.progress'] }],
    [
      'writes into the host’s objects',
      { id: '1', type: 'SET', path: ['__proto__', 'polluted'], value: { type: 'RAW', value: 1 } },
    ],
    ['asks for another port', { id: '1', type: 'ENDPOINT', path: [] }],
    ['lets the endpoint go', { id: '1', type: 'RELEASE', path: [] }],
    ['calls what is not in the contract', apply('host.shutdown', 'r')],
    ['calls an inherited method', apply('hasOwnProperty', 'r')],
    ['sends an object for an argument', apply('task.progress', 'r', { toString: 'x' })],
    ['sends arguments of the wrong kind', apply('task.progress', 'r', 7)],
    ['sends too many arguments', apply('task.progress', 'r', '{}', '{}', '{}')],
    ['sends more than a message may hold', apply('task.progress', 'r', 'x'.repeat(MAX_WIRE_SIZE + 1))],
    ['sends nothing', null],
    ['sends a nest of objects', apply('task.progress', 'r', nest(500))],
    ['sends a list that is mostly holes', { ...apply('task.progress'), argumentList: new Array(2 ** 31) }],
    ['sends a path that is an object', { ...apply('task.progress'), path: [{ toString: 'task.progress' }] }],
    ['sends a path of two parts', { ...apply('task.progress'), path: ['task.progress', 'call'] }],
    ['sends a message of many parts', { ...apply('nothing'), ...Object.fromEntries(many(100_000)) }],
    ['sends a map', apply('task.progress', 'r', new Map(many(1000)))],
    ['sends a date', apply('task.progress', 'r', new Date(0))],
    ['sends an error', apply('task.progress', 'r', new Error('x'))],
    ['sends a list for a text', apply('task.progress', 'r', ['{}'])],
    ['sends shared memory', apply('image.transform', 'r', '{}', new Uint8Array(new SharedArrayBuffer(8)))],
    [
      'sends a small view of a large buffer',
      apply('image.transform', 'r', '{}', new Uint8Array(new ArrayBuffer(2 * MAX_WIRE_SIZE), 0, 1)),
    ],
    ['sends an id that is an object', { ...apply('task.progress', 'r', '{}'), id: { a: 1 } }],
    ['sends an id without end', { ...apply('task.progress', 'r', '{}'), id: 'x'.repeat(1000) }],
    ['names its run by an object', apply('task.progress', { id: 'r' }, '{}')],
  ])('%s and is ended', async (_what, message) => {
    const { slot, running, progress, send, close } = takenOver();
    send(message);
    expect((await slot.ended).code).toBe('PLUGIN_PROTOCOL');
    await expect(running).rejects.toMatchObject({ code: 'PLUGIN_PROTOCOL' });
    expect(progress).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
    close();
  });

  it('makes more calls at once than any honest worker and is ended', async () => {
    const { slot, send, close } = takenOver();
    for (let i = 0; i <= MAX_CALLS_IN_FLIGHT + LOG_BURST; i += 1) send(apply('jev.evaluate', 'r', '{}'));
    expect((await slot.ended).code).toBe('PLUGIN_PROTOCOL');
    close();
  });

  it('floods the log past its own limit and is ended', async () => {
    const { slot, send, close } = takenOver();
    for (let i = 0; i <= 3 * LOG_BURST; i += 1) send(apply('log.write', 'r', 'info', 'x'));
    expect((await slot.ended).code).toBe('PLUGIN_PROTOCOL');
    close();
  });

  it('floods the reports of what was thrown and is ended', async () => {
    const { slot, send, close } = takenOver();
    for (let i = 0; i <= 3 * LOG_BURST; i += 1) send(apply('host.stray', 'timer', 'x'));
    expect((await slot.ended).code).toBe('PLUGIN_PROTOCOL');
    close();
  });

  it('answers a run with what is not JSON, or with a proxy, and is ended', async () => {
    const proxy = takenOver();
    proxy.answer({ id: '1', type: 'HANDLER', name: 'proxy', value: {} });
    expect((await proxy.slot.ended).code).toBe('PLUGIN_PROTOCOL');
    proxy.close();
  });

  it('names another run and is served nothing', async () => {
    const { slot, progress, send, running, close } = takenOver();
    send(apply('task.progress', 'another-run', '{}'));
    send(apply('task.progress', 'r', '{"mine":true}'));
    while (progress.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(progress).toEqual([{ mine: true }]);
    expect(slot.alive).toBe(true);
    slot.execution.terminate();
    await expect(running).rejects.toMatchObject({ code: 'PLUGIN_LOST' });
    close();
  });
});
