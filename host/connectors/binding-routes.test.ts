import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthorization } from '../../core/authorization/authorization.ts';
import { createFences } from '../../core/authorization/fences.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import { scriptedBrowser } from '../../sdk/testing/scripted-browser.ts';
import { createBindingRoutes } from './binding-routes.ts';
import { createBindings } from './bindings.ts';
import type { ManagedConnectors } from './connectors.ts';
import { fence } from './fence.ts';
import { BROWSER_TOOLS } from './tool-sets.ts';

const owner = { agentId: 'assistant', principalId: 'api:admin', conversationId: 'c' };
const signal = new AbortController().signal;

function routes(faults: Parameters<typeof scriptedBrowser>[0]['faults'] = [], during = () => {}) {
  const keys = [
    { id: 'admin', sha256: '0'.repeat(64), agents: '*' as const, access: 'admin' as const },
    { id: 'other', sha256: '1'.repeat(64), agents: '*' as const, access: 'admin' as const },
    { id: 'writer', sha256: '2'.repeat(64), agents: '*' as const, access: 'write' as const },
  ];
  const authorization = createAuthorization({ keys, agents: [{ id: 'assistant' }] });
  const bindings = createBindings({ store: createMemoryStore(), fences: createFences(), config: [] });
  const browser = scriptedBrowser({ pages: { a: { url: 'https://a.example/' } }, faults });
  const connectors = {
    bindings,
    open: async (binding, checkpoint, allowed, settled) =>
      fence({
        ...{ tools: BROWSER_TOOLS, scope: binding.scope, checkpoint, settled, allowed, close: async () => {} },
        send: (name, args, abort) => {
          during();
          return browser.callTool(name, args, abort);
        },
      }),
  } as Partial<ManagedConnectors> as ManagedConnectors;
  const made = createBindingRoutes({ connectors, authorization, clock: { now: () => 1 }, ids: { uuid: randomUUID } });
  const tab = { connectorId: 'relay', name: 'Research', scope: browser.scope };
  return { ...made, tab, browser, authorization, bindings };
}

describe('binding a tab by hand', () => {
  it('looks at the tab under a lease, gives the lease back, and stores neither endpoint nor secret', async () => {
    const { create, list, tab, browser } = routes();
    const bound = await create(owner, tab, signal);
    expect(browser.calls.map((call) => call.name)).toEqual([
      'browser_task_acquire',
      'page_observe',
      'browser_task_release',
    ]);
    expect(browser.leaseHeld()).toBe(false);
    expect(list(owner)).toEqual([bound]);
    expect(Object.keys(bound).sort()).toEqual([
      'adapter',
      'agentId',
      'connectorId',
      'conversationId',
      'id',
      'name',
      'principalId',
      'scope',
    ]);
  });

  it.each([
    [
      'the lease is held by another',
      [{ tool: 'browser_task_acquire', does: { error: 'LEASE_HELD', action_executed: false } }],
    ],
    ['the tab cannot be observed', [{ tool: 'page_observe', does: 'lost' as const }]],
    ['the observation is something else', [{ tool: 'page_observe', does: { page: 'x' } }]],
  ])('stores nothing when %s', async (_what, faults) => {
    const { create, list, tab, browser } = routes(faults);
    await expect(create(owner, tab, signal)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    expect(list(owner)).toEqual([]);
    expect(browser.leaseHeld()).toBe(false);
  });

  it('stores nothing when the key is withdrawn during the look', async () => {
    const made = routes([], () => made.authorization.reconfigure({ keys: [], agents: [{ id: 'assistant' }] }));
    await expect(made.create(owner, made.tab, signal)).rejects.toBeInstanceOf(HostError);
    expect(made.bindings.all(owner)).toEqual([]);
  });

  it('is for administrators, and only for their own conversation', async () => {
    const { create, remove, list, tab } = routes();
    const writer = { ...owner, principalId: 'api:writer' };
    await expect(create(writer, tab, signal)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    const { id } = await create(owner, tab, signal);
    for (const stranger of [
      { ...owner, principalId: 'api:other' },
      { ...owner, conversationId: 'd' },
    ]) {
      expect(list(stranger)).toEqual([]);
      await expect(remove(stranger, id)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    }
    await remove(owner, id);
    expect(list(owner)).toEqual([]);
  });
});
