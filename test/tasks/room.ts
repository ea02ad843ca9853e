/** A task service on a store in memory, with a scripted tab and controllers that a test writes as functions. */
import { randomUUID } from 'node:crypto';
import { type ApiKeyEntry, createAuthorization } from '../../core/authorization/authorization.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import type { Store } from '../../core/store/store.ts';
import { fence } from '../../host/connectors/fence.ts';
import { BROWSER_TOOLS } from '../../host/connectors/tool-sets.ts';
import type { TaskServiceDeps } from '../../host/tasks/deps.ts';
import type { ControllerPorts, TaskTarget } from '../../host/tasks/ports.ts';
import { createTaskService } from '../../host/tasks/task-service.ts';
import type { BrowserRunInput, BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import type { ToolReply } from '../../sdk/contract/capabilities.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import type { Caller, TaskSnapshot } from '../../sdk/contract/task.ts';
import { scriptedBrowser } from '../../sdk/testing/scripted-browser.ts';

export type Controller = (
  input: BrowserRunInput,
  ports: Required<Pick<ControllerPorts, 'callTool' | 'progress'>> & ControllerPorts,
  signal: AbortSignal,
) => Promise<unknown>;

export const SCOPE = { device_id: 'device-1', grant_id: 'grant-1', tab_id: 'tab-1' };
export const caller = (more: Partial<Caller> = {}): Caller => ({
  principalId: 'api:a',
  agentId: 'assistant',
  sessionId: 'default',
  conversationId: 'conversation:assistant:a',
  access: 'write',
  ...more,
});

export const keys: ApiKeyEntry[] = ['a', 'b', 'reader'].map((id) => ({
  id,
  sha256: '0'.repeat(64),
  agents: '*' as const,
  access: id === 'reader' ? ('read' as const) : ('write' as const),
}));
export const agents = [{ id: 'assistant' }, { id: 'other' }];

export interface RoomOptions {
  store?: Store;
  controller?: Controller;
  browser?: ReturnType<typeof scriptedBrowser>;
  limits?: TaskServiceDeps['limits'];
  thinking?: TaskServiceDeps['thinking'];
  now?: () => number;
  scope?: typeof SCOPE;
  evaluate?: TaskServiceDeps['jev']['evaluate'];
  /** Who may come; default: `keys`. */
  keys?: readonly ApiKeyEntry[];
  callTool?: (name: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<ToolReply>;
}

export function shopTab() {
  return scriptedBrowser({
    pages: {
      shop: {
        url: 'https://shop.example/',
        text: 'A shop',
        elements: [{ ref: 'e1', label: 'Buy', operations: ['CLICK'], goto: 'done' }],
      },
      done: { url: 'https://shop.example/done', text: 'Thank you for the order' },
    },
  });
}

export function createTestRoom(options: RoomOptions = {}) {
  const store = options.store ?? createMemoryStore();
  const browser = options.browser ?? shopTab();
  const authorization = createAuthorization({ keys: options.keys ?? keys, agents });
  const callTool = options.callTool ?? ((name, args, signal) => browser.callTool(name, args, signal));
  let controller: Controller = options.controller ?? (async () => candidate());
  const runs: BrowserRunInput[] = [];
  const targetFor = (owner: Pick<Caller, 'agentId' | 'principalId' | 'conversationId'>, id: string): TaskTarget => ({
    ...{ id, adapter: 'browser', name: 'Remote Browser · Test', connectorId: 'device' },
    agentId: owner.agentId,
    principalId: owner.principalId,
    conversationId: owner.conversationId,
    scope: options.scope ?? SCOPE,
  });
  const idOf = (owner: Pick<Caller, 'principalId' | 'conversationId'>) =>
    `tab-${owner.principalId}-${owner.conversationId}`;
  const deps: TaskServiceDeps = {
    store,
    authorization,
    targets: {
      discover: async (owner) => [targetFor(owner, idOf(owner))],
      resolve: (owner, id) => (id === idOf(owner) ? targetFor(owner, id) : undefined),
      open: async (target, checkpoint, allowed, settled) =>
        fence({
          ...{ tools: BROWSER_TOOLS, scope: target.scope, checkpoint, settled, allowed },
          send: callTool,
          close: async () => {},
        }),
    },
    plugins: {
      controllerFor: () => 'browser-use',
      async run(_plugin, call) {
        const input = call.input as BrowserRunInput;
        runs.push(input);
        return controller(input, call.ports as Parameters<Controller>[1], call.signal);
      },
    },
    jev: {
      allowed: () => true,
      evaluate: options.evaluate ?? (async () => Promise.reject(new HostError('JEV_DISABLED'))),
    },
    features: () => ({ browserTasks: true, computerTasks: true, browserSteps: false, computerSteps: false }),
    clock: { now: options.now ?? Date.now },
    ids: { uuid: () => randomUUID() },
    limits: { graceMs: 50, ...options.limits },
    ...(options.thinking ? { thinking: options.thinking } : {}),
  };
  const service = createTaskService(deps);

  return {
    service,
    deps,
    store,
    browser,
    authorization,
    runs,
    target: idOf,
    use(next: Controller) {
      controller = next;
    },
    spawn: (more: { caller?: Caller; requestId?: string; instructions?: string; startUrl?: string } = {}) => {
      const who = more.caller ?? caller();
      const { caller: _, ...request } = more;
      return service.spawn(
        who,
        { title: 'Shop', instructions: 'Buy the thing', adapter: 'browser', targetId: idOf(who), ...request },
        new AbortController().signal,
      );
    },
    /** Waits for a condition on the task by its events; never polls. */
    async until(taskId: string, holds: (task: TaskSnapshot) => boolean, who = caller()): Promise<TaskSnapshot> {
      const done = new AbortController();
      const look = async () => (await service.status(who, { taskId }, done.signal)).task!;
      const now = await look();
      if (holds(now)) return now;
      for await (const _event of service.events(who, 0, done.signal)) {
        const task = await look();
        if (holds(task)) {
          done.abort();
          return task;
        }
      }
      throw new Error('the events ended');
    },
  };
}

export type TestRoom = ReturnType<typeof createTestRoom>;

export const settled = (task: TaskSnapshot): boolean =>
  !['queued', 'starting', 'running', 'interrupting', 'cancel_requested'].includes(task.state);

export function result(more: Partial<BrowserRunResult> = {}): BrowserRunResult {
  return {
    ...{ contractVersion: 1, status: 'needs_verification', reason: 'COMPLETION_CANDIDATE' },
    ...{ steps: 1, evaluations: 1, staleRetries: 0, textCalls: 0 },
    ...more,
  };
}
export const candidate = () => result();

export const textOf = (reply: ToolReply) => JSON.parse(reply.content[0]!.text) as Record<string, unknown>;

export const leaseOf = (acquired: Record<string, unknown>): unknown =>
  acquired.lease_token ?? (acquired.result as { lease_token?: unknown } | undefined)?.lease_token;

/** Takes the lease, clicks the button, gives the lease back. */
export async function clickBuy(
  ports: Parameters<Controller>[1],
  signal: AbortSignal,
  operationId: string = randomUUID(),
) {
  const acquired = textOf(
    await ports.callTool('browser_task_acquire', { ...SCOPE, operation_id: randomUUID() }, signal),
  );
  const here = { ...SCOPE, lease_token: leaseOf(acquired) };
  const page = textOf(await ports.callTool('page_observe', { ...here, detail: 'full' }, signal));
  const click = { ...here, ref: 'e1', generation: page.generation, operation_id: operationId, detail: 'full' };
  let outcome: 'confirmed' | 'not_executed' | 'unknown' = 'unknown';
  try {
    const reply = textOf(await ports.callTool('page_click', click, signal));
    outcome = reply.state === 'completed' ? 'confirmed' : reply.action_executed === false ? 'not_executed' : 'unknown';
  } finally {
    await ports.callTool('browser_task_release', { ...here, operation_id: randomUUID() }, signal).catch(() => {});
  }
  return { lastAction: { operationId, operation: 'CLICK', outcome } };
}

export const buyer: Controller = async (_input, ports, signal) => result(await clickBuy(ports, signal));
