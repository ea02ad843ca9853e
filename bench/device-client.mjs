/** The browser device as its bench works it: over its own interface, or in this process. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDeviceServer } from '../dist/host/devices/browser/device-server.js';

const KEY = 'bench-key-bench-key';

/** The device over its own interface, in the shape of a peer. */
export async function deviceClient(url, key) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { grants } = await (await fetch(new URL('/v1/grants', url), { headers })).json();
  const scope = { device_id: grants[0].deviceId, grant_id: grants[0].id, tab_id: grants[0].policy.tabs[0].id };
  let id = 0;
  const raw = async (name, args) => {
    const response = await fetch(new URL('/mcp', url), {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { name, arguments: args } }),
    });
    const { result } = await response.json();
    return { isError: result.isError === true, text: result.content[0].text };
  };
  let lease;
  const call = async (name, args = {}) => {
    lease ??= JSON.parse((await raw('browser_task_acquire', { ...scope, operation_id: randomUUID() })).text).result
      .lease_token;
    return raw(name, { ...scope, lease_token: lease, ...args });
  };
  const renew = async () => {
    const { isError } = await call('browser_task_renew', { operation_id: randomUUID() });
    // The peers took longer than the lease lasts.
    if (isError) lease = undefined;
  };
  return {
    name: 'browser device',
    call,
    renew,
    open: async (address) => {
      await renew();
      await call('tab_navigate', { operation_id: randomUUID(), url: address });
    },
    observe: async () => (await call('page_observe')).text,
    controls: (text) => JSON.parse(text).elements.length,
    async clickAndSee(label) {
      await renew();
      const page = JSON.parse((await call('page_observe')).text);
      const element = page.elements.find((candidate) => candidate.label === label);
      if (!element) throw new Error(`the device does not show "${label}"`);
      const start = performance.now();
      const done = await call('page_click', {
        operation_id: randomUUID(),
        ref: element.ref,
        generation: page.generation,
      });
      const taken = performance.now() - start;
      return { ms: taken, page: done.text, refused: done.isError };
    },
  };
}

/** A device in this process, so that its parts can be measured one by one. */
export async function ownServer(config) {
  const directory = mkdtempSync(join(tmpdir(), 'device-bench-raw-'));
  const server = await startDeviceServer({
    config,
    directory,
    host: '127.0.0.1',
    port: 0,
    keys: [{ id: 'bench', role: 'connector', sha256: createHash('sha256').update(KEY).digest('hex') }],
    env: process.env,
    asRoot: process.getuid?.() === 0,
    version: '0',
    onStop: () => {},
    now: Date.now,
  });
  const client = await deviceClient(server.url, KEY);
  const tabOf = async () => server.browser.tab(server.browser.tabs()[0].id);
  const close = async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  return { client, tabOf, close };
}
