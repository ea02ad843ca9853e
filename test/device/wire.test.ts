import { randomUUID } from 'node:crypto';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { toolArguments } from '../../host/devices/browser/tools.ts';
import { CONNECTOR_KEY, find, OWNER_KEY, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';

const { site, device } = await deviceOnSite();
const headers = { authorization: `Bearer ${CONNECTOR_KEY}` };

describe('both kinds of MCP client', () => {
  it('list the tools and call one: the client of the 2026 revision', async () => {
    const client = new NewClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new NewTransport(new URL('/mcp', device.server.url), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name).sort()).toEqual(Object.keys(toolArguments).sort());
    for (const tool of tools) expect(Object.keys(tool.annotations ?? {})).toHaveLength(4);
    const reply = await client.callTool({ name: 'operation_status', arguments: { operation_id: randomUUID() } });
    expect(JSON.parse((reply.content as { text: string }[])[0]?.text ?? '')).toMatchObject({ state: 'not_found' });
    await client.close();
  });

  it('list the tools and call one: the client of the 2025 revisions', async () => {
    const client = new OldClient({ name: 'test', version: '1' });
    await client.connect(new OldTransport(new URL('/mcp', device.server.url), { requestInit: { headers } }) as never);
    expect((await client.listTools()).tools).toHaveLength(Object.keys(toolArguments).length);
    const reply = await client.callTool({ name: 'operation_status', arguments: { operation_id: randomUUID() } });
    expect(JSON.parse((reply.content as { text: string }[])[0]?.text ?? '')).toMatchObject({ state: 'not_found' });
    await client.close();
  });

  it.each([
    ['another version in the header', { 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    ['another method in the header', { 'mcp-method': 'tools/list' }, 400, -32020],
    ['another tool in the header', { 'mcp-name': 'page_click' }, 400, -32020],
  ])('are refused when a header says something else: %s', async (_, changed, status, code) => {
    const response = await fetch(new URL('/mcp', device.server.url), {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'operation_status',
        ...changed,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'operation_status',
          arguments: { operation_id: randomUUID() },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: { code: number } }).error.code).toBe(code);
  });
});

describe('the door', () => {
  const post = (body: string, extra: Record<string, string> = headers) =>
    fetch(new URL('/mcp', device.server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...extra },
      body,
    });

  it.each([
    ['without a key', {}],
    ['with another key', { authorization: 'Bearer not-the-key-of-this-device' }],
    ['with a key in another scheme', { authorization: `Basic ${CONNECTOR_KEY}` }],
  ])('is closed %s', async (_, extra) => {
    expect((await post('{}', extra as Record<string, string>)).status).toBe(401);
  });

  it('is closed to any page, whatever key it has', async () => {
    const response = await post('{}', { ...headers, origin: 'https://evil.example' });
    expect(response.status).toBe(403);
  });

  it.each([
    ['no JSON', '{', 400],
    ['nested too deep', `${'['.repeat(100)}${']'.repeat(100)}`, 400],
    ['too large', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(1_100_000) } }), 413],
    ['an id that is an object', JSON.stringify({ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }), 400],
    [
      'an id of five million characters',
      JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(900_000), method: 'ping' }),
      400,
    ],
  ])('refuses a body that is %s', async (_, body, status) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect((await response.text()).length).toBeLessThan(500);
  });

  it('lets no connector approve, open or stop anything', async () => {
    for (const [method, path] of [
      ['GET', '/v1/tabs'],
      ['POST', '/v1/tabs'],
      ['POST', '/v1/grants'],
      ['DELETE', '/v1/grants/x'],
      ['POST', '/v1/stop'],
    ] as const) {
      const body = method === 'POST' ? { body: { unknown: 1 } } : {};
      expect((await device.request(method, path, body)).status, `${method} ${path}`).toBe(403);
    }
    expect((await device.request('GET', '/v1/tabs', { key: OWNER_KEY })).status).toBe(200);
  });
});

describe('a call', () => {
  it.each([
    ['an unknown argument', { extra: 1 }, /extra/],
    ['a missing argument', { operation_id: undefined }, /operation_id/],
    ['a wrong type', { ref: 7 }, /ref/],
    ['an operation id that is no UUID', { operation_id: 'mine' }, /operation_id/],
  ])('with %s is refused by name, and nothing is sent', async (_, wrong, named) => {
    const args = { ...device.scope, ref: 'd1e1', generation: 'g', operation_id: randomUUID(), ...wrong };
    const answer = await device.call('page_click', args);
    expect(answer).toMatchObject({ error: 'INVALID_INPUT', action_executed: false });
    expect(answer.message).toMatch(named);
  });

  it('for a tab, device or grant that is not granted is refused', async () => {
    for (const wrong of ['device_id', 'grant_id', 'tab_id'])
      expect(await device.call('page_observe', { ...device.scope, [wrong]: 'other' })).toMatchObject({
        error: 'CONSENT_REQUIRED',
        action_executed: false,
      });
  });

  it('that acts needs the lease, and only one holder has it', async () => {
    const page = await device.open(`${site.url}/next`);
    const ref = find(page, 'Press').ref;
    const args = { ...device.scope, ref, generation: page.generation };
    expect(await device.call('page_click', { ...args, operation_id: randomUUID() })).toMatchObject({
      error: 'LEASE_REQUIRED',
      action_executed: false,
    });
    expect(
      await device.call('page_click', { ...args, lease_token: randomUUID(), operation_id: randomUUID() }),
    ).toMatchObject({ error: 'LEASE_EXPIRED' });
    expect(await device.call('browser_task_acquire', { ...device.scope, operation_id: randomUUID() })).toMatchObject({
      error: 'BROWSER_BUSY',
    });
    expect(await device.call('page_observe', { ...device.scope })).toMatchObject({ error: 'BROWSER_BUSY' });
    expect(site.effects).toEqual([]);
  });

  it('with an operation id that was used does nothing and says so', async () => {
    const page = await device.open(`${site.url}/next`);
    site.clear();
    const id = randomUUID();
    const target = { ref: find(page, 'Press').ref, generation: page.generation };
    seen(await device.browser.click(id, target));
    expect(await device.browser.click(id, target)).toMatchObject({ outcome: 'unknown', code: 'OUTCOME_UNKNOWN' });
    expect(await device.browser.click(id.toUpperCase(), target)).toMatchObject({ outcome: 'unknown' });
    expect(site.count('next: pressed')).toBe(1);
    expect(await device.browser.operationStatus(id)).toMatchObject({
      ok: true,
      value: { state: 'completed', operation: 'page_click' },
    });
  });

  it('that was refused is on record as not executed', async () => {
    const page = await device.open(`${site.url}/covered`);
    const id = randomUUID();
    await device.browser.click(id, { ref: find(page, 'Buy now').ref, generation: page.generation });
    expect(await device.browser.operationStatus(id)).toMatchObject({
      value: { state: 'not_executed', code: 'STALE_OBSERVATION', cause: 'TARGET_OBSCURED' },
    });
  });

  it('goes after the one before it: five at once on one page end as five whole ones', async () => {
    const page = await device.open(`${site.url}/form-plain`);
    const target = { ref: find(page, 'Note').ref, generation: page.generation };
    const words = ['SLATE', 'CRANE', 'PLUMB', 'FJORD', 'WALTZ'];
    const outcomes = await Promise.all(words.map((text) => device.browser.type(randomUUID(), { ...target, text })));
    // The first is confirmed; what the others decided on is no longer so.
    expect(outcomes.map((one) => one.outcome)).toEqual([
      'confirmed',
      'not_executed',
      'not_executed',
      'not_executed',
      'not_executed',
    ]);
    expect(find(await device.observe(), 'Note').value).toBe('SLATE');
  });
});
