/**
 * A throw-away host for drills: the real store, receipts, connectors and task service in a process of its own, steered
 * over the channel to its parent. Only the plugin is replaced, by a controller that needs no evaluator.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createAuthorization } from '../../core/authorization/authorization.ts';
import { openLmdbStore } from '../../core/store/lmdb-store.ts';
import type { BrowserRunInput } from '../../sdk/contract/browser-run.ts';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import { createConnectors } from '../connectors/connectors.ts';
import { createTaskService } from '../tasks/task-service.ts';
import { pressAll } from './fixture-controller.ts';

export const DRILL_CALLER: Caller = {
  principalId: 'api:drill',
  agentId: 'drill',
  sessionId: 'default',
  conversationId: 'conversation:drill:drill',
  access: 'write',
};

export interface Order {
  id: number;
  method: 'discover' | 'spawn' | 'status' | 'receipts' | 'update' | 'cancel' | 'stop';
  args: unknown;
}

export type Answer = { id: number; value?: unknown; code?: string } | { ready: true };

/** @param directory the data directory. @param deviceUrl the fixture device. */
export async function runThrowawayHost(directory: string, deviceUrl: string): Promise<void> {
  const store = await openLmdbStore({ directory: join(directory, 'store') });
  const keys = [{ id: 'drill', sha256: '0'.repeat(64), agents: ['drill'], access: 'write' as const }];
  const authorization = createAuthorization({ keys, agents: [{ id: 'drill' }] });
  const connectors = createConnectors({
    ...{ store, fences: authorization.fences, config: { connectors: [], bindings: [] }, clock: { now: Date.now } },
    resolve: async () => refuse('BROWSER_CREDENTIAL_UNAVAILABLE', {}),
  });
  connectors.register({ id: 'fixture', url: `${deviceUrl}/mcp`, adapter: 'browser', secret: () => 'fixture' });
  const service = createTaskService({
    ...{ store, authorization, targets: connectors, clock: { now: Date.now }, ids: { uuid: randomUUID } },
    plugins: {
      controllerFor: () => 'fixture',
      run: (_id, { input, ports, signal }) =>
        pressAll((input as BrowserRunInput).scope, (name, args) => {
          if (!ports.callTool) return refuse('CAPABILITY_DENIED', { capability: 'tools.call' });
          return ports.callTool(name, args, signal);
        }),
    },
    jev: { allowed: () => true, evaluate: () => Promise.reject(new HostError('JEV_DISABLED')) },
    features: () => ({ browserTasks: true, computerTasks: false, browserSteps: false, computerSteps: false }),
  });
  await service.start();

  const signal = new AbortController().signal;
  const answer = (message: Answer) => process.send?.(message);
  const methods: Record<Order['method'], (args: never) => Promise<unknown>> = {
    discover: () => service.discover(DRILL_CALLER, {}, signal),
    spawn: (args) => service.spawn(DRILL_CALLER, args, signal),
    status: (args) => service.status(DRILL_CALLER, args, signal),
    receipts: ({ taskId }: { taskId: string }) => service.receipts(DRILL_CALLER, taskId),
    update: (args) => service.update(DRILL_CALLER, args),
    cancel: (args) => service.cancel(DRILL_CALLER, args),
    async stop() {
      await service.stop();
      await connectors.close();
      await store.close();
    },
  };
  process.on('message', async ({ id, method, args }: Order) => {
    try {
      const value = (await methods[method](args as never)) ?? null;
      answer({ id, value });
    } catch (error) {
      answer({ id, code: isHostError(error) ? error.code : 'INTERNAL' });
    }
    if (method === 'stop') process.disconnect();
  });
  answer({ ready: true });
}

const [directory, deviceUrl] = process.argv.slice(2);
if (process.send && directory && deviceUrl) await runThrowawayHost(directory, deviceUrl);
