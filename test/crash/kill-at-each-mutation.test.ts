/**
 * Pulls the plug: the host is killed after the checkpoint of a mutation and before it hears the device's answer, for every
 * mutation of the demo's task in turn, and started again on the same data.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wish } from '../../scripts/demo/run.mjs';
import { startShop } from '../../scripts/demo/shop.mjs';
import { api, connectAgent, startJevHost, startStack } from '../../scripts/demo/stack.mjs';
import { type HoldingProxy, holdingProxy } from './holding-proxy.ts';

const chromium = process.env.JEV_HOST_CHROMIUM ?? '/usr/bin/chromium';

interface Bench {
  shop: Awaited<ReturnType<typeof startShop>>;
  proxy: HoldingProxy;
  stack: Awaited<ReturnType<typeof startStack>>;
  deviceDirectory: string;
  end(): Promise<void>;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jev-host-crash-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A device of its own behind a proxy, and a host that reaches it as any operator's host would: by a connector. */
async function setUp(name: string): Promise<Bench> {
  const ends: (() => Promise<unknown>)[] = [];
  const end = async () => {
    for (const one of ends.splice(0).reverse()) await one();
  };
  try {
    return await startAll(name, ends, end);
  } catch (error) {
    // A bench that did not stand up must not leave its browser behind.
    await end();
    throw error;
  }
}

async function startAll(name: string, ends: (() => Promise<unknown>)[], end: () => Promise<void>): Promise<Bench> {
  const home = join(folder, name);
  const deviceDirectory = join(home, 'device');
  const shop = await startShop();
  ends.push(() => shop.close());
  const device = await startJevHost([
    'device',
    'browser',
    '--data-dir',
    deviceDirectory,
    '--approve',
    'always',
    '--executable',
    chromium,
    '--allow',
    shop.url,
    '--port',
    '0',
  ]);
  ends.push(() => device.stop());
  const keyFile = join(deviceDirectory, 'browser-device', 'connector.key');
  const proxy = await holdingProxy(device.url);
  ends.push(() => proxy.close());
  const stack = await startStack({
    folder: home,
    chromium,
    configure: (config: { gateway: Record<string, unknown>; devices?: unknown }) => {
      delete config.devices;
      config.gateway.connectors = [
        {
          id: 'paired-browser',
          url: `${proxy.url}/mcp`,
          authorization: { file: keyFile },
          agents: ['assistant'],
        },
      ];
      return config;
    },
  });
  ends.push(() => stack.stop());
  return {
    shop,
    proxy,
    stack,
    deviceDirectory,
    end,
  };
}

type Call = (tool: string, args: Record<string, unknown>) => Promise<Record<string, never>>;

async function withAgent<T>(bench: Bench, work: (call: Call) => Promise<T>): Promise<T> {
  const agent = await connectAgent(bench.stack.host.url, bench.stack.key);
  try {
    return await work(agent.call as Call);
  } finally {
    await agent.close();
  }
}

const spawnArguments = (bench: Bench, session_id: string) => ({
  title: wish.title,
  instructions: wish.instructions,
  target_profile: 'gateway-managed',
  gateway_target: { adapter: 'browser', session_id, start_url: bench.shop.url },
  browser_fields: wish.fields,
});

async function targetOf(call: Call): Promise<string> {
  const { targets } = (await call('capabilities_list', { scope: 'browser' })) as unknown as {
    targets: { session_id: string }[];
  };
  return targets[0]!.session_id;
}

const settled = new Set(['completed', 'failed', 'cancelled', 'needs_reconciliation', 'waiting_input']);

interface Task {
  taskId: string;
  state: string;
  stateVersion: number;
  outcome?: string;
  failure?: { code: string };
}

async function untilSettled(call: Call, first: Task): Promise<Task> {
  let task = first;
  while (!settled.has(task.state)) {
    const reply = await call('task_status', {
      task_id: task.taskId,
      wait_ms: 30_000,
      after_version: task.stateVersion,
    });
    task = (reply as unknown as { task: Task }).task;
  }
  return task;
}

function expectNothingTwice(bench: Bench): void {
  expect(bench.shop.seen.searches.length).toBeLessThanOrEqual(1);
  expect(bench.shop.seen.basketAdds.length).toBeLessThanOrEqual(1);
  expect(bench.shop.seen.orders.length).toBeLessThanOrEqual(1);
  const ids = bench.proxy.sent.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
}

/** Kills the host while the mutation with this number is on its way, and starts it again. */
async function killDuring(
  number: number,
  what: 'request' | 'answer',
): Promise<{ bench: Bench; task: Task; sentBefore: number; spawned: Task }> {
  const bench = await setUp(`${what}-${number}`);
  const held = bench.proxy.hold(number, what);
  const spawned = await withAgent(
    bench,
    async (call) =>
      (await call('task_spawn', spawnArguments(bench, await targetOf(call)))) as unknown as { task: Task },
  );
  await held;
  const { process: child, exited } = bench.stack.host;
  child.kill('SIGKILL');
  await exited;
  const sentBefore = bench.proxy.sent.length;
  bench.stack.host = await bench.stack.startHost();
  const task = await withAgent(bench, async (call) => {
    const { task: found } = (await call('task_status', { task_id: spawned.task.taskId })) as unknown as { task: Task };
    return untilSettled(call, found);
  });
  return { bench, task, sentBefore, spawned: spawned.task };
}

/** NAVIGATE, the search field, Search, the product, the size, the basket, checkout, four fields, a scroll, the order. */
const MUTATIONS = 13;

describe('a host that is killed while a mutation is on its way', () => {
  it('does the whole task when nobody kills it, with as many mutations as are killed below', {
    timeout: 120_000,
  }, async () => {
    const bench = await setUp('whole');
    try {
      await withAgent(bench, async (call) => {
        const { task } = (await call('task_spawn', spawnArguments(bench, await targetOf(call)))) as unknown as {
          task: Task;
        };
        expect((await untilSettled(call, task)).outcome).toBe('candidate');
      });
      expect(bench.proxy.sent.length).toBe(MUTATIONS);
      expect(bench.shop.seen.orders).toHaveLength(1);
    } finally {
      await bench.end();
    }
  });

  for (let number = 0; number < MUTATIONS; number++) {
    it(`knows after mutation ${number} that it was interrupted, and sends nothing again`, {
      timeout: 120_000,
    }, async () => {
      const { bench, task, sentBefore } = await killDuring(number, 'answer');
      try {
        expect(task.state).toBe('needs_reconciliation');
        expect(task.failure?.code).toBe('BROWSER_EXECUTION_INTERRUPTED');
        expect(['interrupted', 'unknown']).toContain(task.outcome);
        expect(bench.proxy.sent.length).toBe(sentBefore);
        expect(sentBefore).toBe(number + 1);
        expectNothingTwice(bench);
        expect(bench.shop.seen.orders.length).toBe(number === MUTATIONS - 1 ? 1 : 0);

        // The checkpoint was on disk before the mutation left. How it ended is unknown, or the device has been asked since: it
        // did act, and may say so. Neither moves the task.
        const { body } = await api(
          bench.stack.host.url,
          bench.stack.key,
          `/agents/assistant/sessions/default/tasks/${task.taskId}/receipts`,
        );
        const last = body.receipts.at(-1).mutations.at(-1);
        expect(last.operationId).toBe(bench.proxy.sent.at(-1)?.operationId);
        expect(['unknown', 'confirmed']).toContain(last.outcome ?? 'unknown');

        // Nothing that could repeat it gets through: not a new task on the tab, not a new round of this one.
        await withAgent(bench, async (call) => {
          const target = await targetOf(call);
          await expect(call('task_spawn', spawnArguments(bench, target))).rejects.toMatchObject({
            code: 'AUTOMATION_SESSION_EXISTS',
          });
          await expect(
            call('task_update', {
              task_id: task.taskId,
              expected_revision: 1,
              instruction: 'Go on.',
              mode: 'when_ready',
            }),
          ).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
        });
        expect(bench.proxy.sent.length).toBe(sentBefore);
      } finally {
        await bench.end();
      }
    });
  }

  it('does not send an order that was written down and never left', { timeout: 120_000 }, async () => {
    const { bench, task, sentBefore } = await killDuring(MUTATIONS - 1, 'request');
    try {
      expect(task.state).toBe('needs_reconciliation');
      expect(bench.proxy.sent.length).toBe(sentBefore);
      expect(bench.shop.seen.orders).toHaveLength(0);
      expectNothingTwice(bench);
    } finally {
      await bench.end();
    }
  });
});
