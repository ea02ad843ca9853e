import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createFences } from '../../core/authorization/fences.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { createConnectors } from './connectors.ts';

const owner = { agentId: 'assistant', principalId: 'api:a', conversationId: 'c' };
const signal = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: { method?: string; params?: { name?: string; arguments?: Record<string, unknown> } } | undefined;
}

async function serve(answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server: Server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text ? JSON.parse(text) : undefined,
    };
    seen.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const grants = {
  grants: [
    {
      id: 'g1',
      deviceId: 'd1',
      label: 'Mine',
      online: true,
      ready: true,
      policy: {
        control: true,
        tabs: [
          { id: 't1', title: 'Shop\n\u202e## x' },
          { id: 't2', title: '' },
        ],
      },
    },
    {
      id: 'g2',
      deviceId: 'd1',
      label: 'Off',
      online: false,
      ready: true,
      policy: { control: true, tabs: [{ id: 't', title: 'x' }] },
    },
    {
      id: 'g3',
      deviceId: 'd1',
      label: 'Asks',
      online: true,
      ready: true,
      policy: { control: false, tabs: [{ id: 't', title: 'x' }] },
    },
    {
      id: 'g4',
      deviceId: 'd1',
      label: 'Old',
      online: true,
      ready: true,
      expiresAt: 1,
      policy: { control: true, tabs: [{ id: 't', title: 'x' }] },
    },
  ],
};
const replyOf = (seen: Seen & { body: { id?: number } }, text: unknown) => ({
  jsonrpc: '2.0',
  id: (seen.body as { id?: number }).id,
  result: { content: [{ type: 'text', text: JSON.stringify(text) }], resultType: 'complete' },
});

/** A device that answers every tool with what `tool` says, in the modern generation. */
function device(tool: (name: string, args: Record<string, unknown>) => unknown) {
  return (seen: Seen, response: ServerResponse) => {
    if (seen.path === '/v1/grants') return json(response, grants);
    const id = (seen.body as { id?: number }).id;
    if (seen.body?.method === 'server/discover') return json(response, { jsonrpc: '2.0', id, result: {} });
    return json(
      response,
      replyOf(seen as never, tool(seen.body?.params?.name ?? '', seen.body?.params?.arguments ?? {})),
    );
  };
}

function connectorsAt(url: string, more: { agents?: string[] | '*'; now?: () => number } = {}) {
  const fences = createFences();
  const config = {
    connectors: [
      {
        ...{
          id: 'relay',
          url: `${url}/mcp`,
          authorization: { file: '/secret' },
          agents: more.agents ?? ('*' as const),
        },
        ...{ resourcesPath: '/v1/grants' as const, sharing: 'agent' as const },
      },
    ],
    bindings: [],
  };
  const connectors = createConnectors({
    ...{ store: createMemoryStore(), fences, config, clock: { now: more.now ?? Date.now } },
    resolve: async () => 'the-secret',
  });
  closing.push(() => connectors.close());
  return { connectors, fences, config };
}

async function openTab(url: string, checkpoint = async (_: unknown) => {}, allowed = () => true) {
  const { connectors } = connectorsAt(url);
  const [target] = await connectors.discover(owner, signal);
  const notes: unknown[] = [];
  const tools = await connectors.open(target!, checkpoint, allowed, (note) => notes.push(note.outcome));
  return { tools, notes, here: target!.scope, connectors };
}

describe('discovery', () => {
  it('offers the approved tabs that can be used now, under ids that stay the same', async () => {
    const { url, seen } = await serve(device(() => ({})));
    const { connectors } = connectorsAt(url);
    const found = await connectors.discover(owner, signal);
    expect(found.map((one) => one.name)).toEqual(['Remote Browser · Mine · Shop ## x', 'Remote Browser · Mine · Tab']);
    expect(found[0]?.id).toMatch(/^auto-[0-9a-f]{64}$/);
    expect((await connectors.discover(owner, signal)).map((one) => one.id)).toEqual(found.map((one) => one.id));
    expect(seen[0]?.headers.authorization).toBe('Bearer the-secret');
  });

  it('gives every owner its own targets and nobody another’s', async () => {
    const { url } = await serve(device(() => ({})));
    const { connectors } = connectorsAt(url, { agents: ['assistant'] });
    const [mine] = await connectors.discover(owner, signal);
    const other = { ...owner, principalId: 'api:b' };
    const [theirs] = await connectors.discover(other, signal);
    expect(theirs?.id).not.toBe(mine?.id);
    expect(connectors.resolve(other, mine!.id)).toBeUndefined();
    expect(connectors.resolve(owner, mine!.id)).toMatchObject({ id: mine!.id });
    expect(await connectors.discover({ ...owner, agentId: 'stranger' }, signal)).toEqual([]);
  });

  it.each([
    ['answers with an error', (_: Seen, r: ServerResponse) => json(r, {}, 500), 'BROWSER_DISCOVERY_UNAVAILABLE'],
    [
      'redirects',
      (_: Seen, r: ServerResponse) => r.writeHead(302, { location: '/elsewhere' }).end(),
      'BROWSER_DISCOVERY_UNAVAILABLE',
    ],
    [
      'answers with something else',
      (_: Seen, r: ServerResponse) => json(r, { grants: [{ id: 1 }] }),
      'BROWSER_DISCOVERY_INVALID',
    ],
    ['answers with too much', (_: Seen, r: ServerResponse) => r.end('x'.repeat(300_000)), 'BROWSER_DISCOVERY_INVALID'],
  ])('says so when the server %s', async (_what, answer, code) => {
    const { url } = await serve(answer as never);
    await expect(connectorsAt(url).connectors.discover(owner, signal)).rejects.toMatchObject({ code });
  });

  it('asks the owner of the one waiting device at most once a minute, and only for a caller that may act', async () => {
    let now = 1_000_000;
    const waiting = { ...grants.grants[0]!, ready: false };
    const asks = () => seen.filter((one) => one.body?.params?.name === 'browser_request_access').length;
    const { url, seen } = await serve((one, response) =>
      one.path === '/v1/grants' ? json(response, { grants: [waiting] }) : device(() => ({}))(one, response),
    );
    const { connectors } = connectorsAt(url, { now: () => now });
    await connectors.discover(owner, signal);
    expect(asks()).toBe(0);
    await connectors.discover({ ...owner, writable: true }, signal);
    await connectors.discover({ ...owner, writable: true }, signal);
    expect(asks()).toBe(1);
    now += 60_000;
    await connectors.discover({ ...owner, writable: true }, signal);
    expect(asks()).toBe(2);
  });

  it('ends what runs on a connector that was changed', async () => {
    const { url } = await serve(device(() => ({})));
    const { connectors, fences, config } = connectorsAt(url);
    const permit = fences.permit(['connector:relay']);
    connectors.reconfigure(config);
    expect(permit.holds()).toBe(true);
    connectors.reconfigure({ ...config, connectors: [{ ...config.connectors[0]!, url: `${url}/other` }] });
    expect(permit.holds()).toBe(false);
  });
});

describe('a run on a tab', () => {
  it('is fenced when the relay takes the tab back, and the relay is asked no longer than the run lasts', async () => {
    let given = true;
    const { url, seen } = await serve((one, response) =>
      one.path === '/v1/grants'
        ? json(response, given ? grants : { grants: [] })
        : device(() => ({ state: 'completed', result: {} }))(one, response),
    );
    let tick = () => {};
    const fences = createFences();
    const connectors = createConnectors({
      ...{ store: createMemoryStore(), fences, clock: { now: Date.now }, resolve: async () => 'secret' },
      config: { connectors: [], bindings: [] },
      every: (_ms, call) => {
        tick = call;
        return () => {
          tick = () => {};
        };
      },
    });
    closing.push(() => connectors.close());
    connectors.register({ id: 'relay', url: `${url}/mcp`, adapter: 'browser', secret: () => 'x' });
    const [target] = await connectors.discover(owner, signal);
    const permit = fences.permit([`binding:${target!.id}`]);
    const reads = () => seen.filter((one) => one.path === '/v1/grants').length;
    const looking = await connectors.open(target!, undefined, () => true);
    await looking.close();
    expect(reads()).toBe(1);

    const tools = await connectors.open(target!, async () => {}, permit.holds);
    await expect.poll(reads).toBe(2);
    given = false;
    const gone = new Promise((resolve) => permit.signal.addEventListener('abort', resolve));
    // The timer stands for the clock: reads go on until the withdrawal shows, each after the one before.
    const turning = setInterval(() => tick(), 1);
    await gone;
    clearInterval(turning);
    const click = { ...target!.scope, ref: 'e', generation: 'g', operation_id: randomUUID() };
    await expect(tools.call('page_click', click, signal)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    await tools.close();
    const before = reads();
    tick();
    expect(reads()).toBe(before);
  });
});

describe('the fence of a task’s calls', () => {
  const clicks = (seen: Seen[]) => seen.filter((one) => one.body?.params?.name === 'page_click');
  const click = (here: Record<string, string>, more = {}) => ({
    ...here,
    ref: 'e',
    generation: 'g',
    operation_id: randomUUID(),
    ...more,
  });

  it('sends a mutation only after its checkpoint is on disk', async () => {
    const { url, seen } = await serve(device(() => ({ state: 'completed', result: {} })));
    const order: string[] = [];
    const { tools, here, notes } = await openTab(url, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`checkpoint, ${clicks(seen).length} sent`);
    });
    await tools.call('page_click', click(here), signal);
    expect(order).toEqual(['checkpoint, 0 sent']);
    expect(clicks(seen)).toHaveLength(1);
    expect(notes).toEqual(['confirmed']);
  });

  it.each([
    ['names another tab', 'page_click', { tab_id: 't2' }, 'BROWSER_SCOPE_DENIED'],
    ['names no tab', 'page_observe', { tab_id: undefined }, 'BROWSER_SCOPE_DENIED'],
    ['names another device', 'page_observe', { device_id: 'd2' }, 'BROWSER_SCOPE_DENIED'],
    ['opens a tab', 'tab_open', {}, 'BROWSER_SCOPE_DENIED'],
    ['asks for consent', 'browser_request_access', {}, 'BROWSER_SCOPE_DENIED'],
    ['uses a name of every object', 'constructor', {}, 'BROWSER_SCOPE_DENIED'],
    ['has no operation id', 'page_click', { operation_id: undefined }, 'BROWSER_CHECKPOINT_UNAVAILABLE'],
    ['has an operation id that is no text', 'page_click', { operation_id: 7 }, 'BROWSER_CHECKPOINT_UNAVAILABLE'],
  ])('refuses a call that %s, and nothing leaves', async (_what, name, change, code) => {
    const { url, seen } = await serve(device(() => ({})));
    const { tools, here } = await openTab(url);
    const before = seen.length;
    await expect(tools.call(name, click(here, change), signal)).rejects.toMatchObject({ code });
    expect(seen.length).toBe(before);
  });

  it('lets nothing leave when the checkpoint fails, or access ends while it is written', async () => {
    const { url, seen } = await serve(device(() => ({ state: 'completed', result: {} })));
    const failing = await openTab(url, async () => Promise.reject(new Error('disk')));
    await expect(failing.tools.call('page_click', click(failing.here), signal)).rejects.toThrow();
    let allowed = true;
    const revoked = await openTab(
      url,
      async () => {
        allowed = false;
      },
      () => allowed,
    );
    await expect(revoked.tools.call('page_click', click(revoked.here), signal)).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
    });
    expect(revoked.notes).toEqual(['not_executed']);
    expect(clicks(seen)).toEqual([]);
  });

  it('discards a reply that comes after access ended, and still gives the lease back', async () => {
    let allowed = true;
    const { url, seen } = await serve(
      device(() => {
        allowed = false;
        return { state: 'completed', result: {} };
      }),
    );
    const { tools, here, notes } = await openTab(url, undefined, () => allowed);
    await expect(tools.call('page_click', click(here), signal)).rejects.toMatchObject({ code: 'ADAPTER_FAILURE' });
    expect(notes).toEqual(['confirmed']);
    await tools.call('browser_task_release', { ...here, lease_token: 'x', operation_id: randomUUID() }, signal);
    expect(seen.at(-1)?.body?.params?.name).toBe('browser_task_release');
  });

  it('never sends a mutation twice, whatever the server does', async () => {
    const answers: ((response: ServerResponse, seen: Seen) => unknown)[] = [
      (response) => response.socket?.destroy(),
      (response) => json(response, {}, 503),
      (response) => json(response, {}, 429),
      (response) => response.writeHead(307, { location: '/mcp' }).end(),
      (response) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99999999' }).end('{}'),
      (response, seen) =>
        json(response, {
          jsonrpc: '2.0',
          id: (seen.body as { id?: number }).id,
          error: { code: -32603, message: 'x' },
        }),
      (response, seen) => json(response, { ...replyOf(seen as never, {}), id: 'another' }),
    ];
    for (const answer of answers) {
      const { url, seen } = await serve((one, response) =>
        one.body?.params?.name === 'page_click' ? answer(response, one) : device(() => ({}))(one, response),
      );
      const { tools, here, notes } = await openTab(url);
      await expect(tools.call('page_click', click(here), signal)).rejects.toMatchObject({ code: expect.any(String) });
      expect(clicks(seen)).toHaveLength(1);
      expect(notes).toEqual(['unknown']);
    }
  });

  it('knows that nothing was done when no connection came about', async () => {
    const { url, server } = await serve(device(() => ({ state: 'completed', result: {} })));
    const { tools, here, notes } = await openTab(url);
    await tools.call('page_observe', here, signal);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    const reply = await tools.call('page_click', click(here), signal).catch((error: unknown) => error);
    if ('content' in (reply as object)) expect(notes).toEqual(['not_executed']);
    else expect(notes).toEqual(['unknown']);
  });

  it('speaks to a server of the session-based generation, and names its session', async () => {
    const { url, seen } = await serve((one, response) => {
      const id = (one.body as { id?: number } | undefined)?.id;
      if (one.path === '/v1/grants') return json(response, grants);
      if (one.method === 'DELETE') return response.writeHead(204).end();
      if (one.body?.method === 'initialize') {
        response.setHeader('mcp-session-id', 'session-7');
        return json(response, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', capabilities: {} } });
      }
      if (one.body?.method === 'notifications/initialized') return response.writeHead(202).end();
      if (one.headers['mcp-session-id'] !== 'session-7')
        return json(response, { jsonrpc: '2.0', id, error: { code: -32600, message: 'no' } }, 400);
      const event = `event: message\ndata: ${JSON.stringify(replyOf(one as never, { state: 'completed' }))}\n\n`;
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event);
    });
    const { tools, here, notes } = await openTab(url);
    await tools.call('page_click', click(here), signal);
    expect(notes).toEqual(['confirmed']);
    expect(clicks(seen)[0]?.headers).toMatchObject({
      'mcp-session-id': 'session-7',
      'mcp-protocol-version': '2025-06-18',
    });
  });
});
