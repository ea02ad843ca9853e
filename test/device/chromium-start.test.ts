/** How the device comes by its Chromium: joins one that runs, finds one, refuses what is too old or is none. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { attachChromium } from '../../host/devices/browser/chromium/attach.ts';
import { OWNER_KEY, startDevice } from '../fixtures/device.ts';
import { startSite } from '../fixtures/site/site.ts';
import { startChromium } from '../support/chromium.ts';

const { signal } = new AbortController();
let folder: string;
let cleanUp: (() => unknown)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chromium-start-'));
  cleanUp = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
});
afterEach(async () => {
  for (const step of cleanUp.reverse()) await step();
});

/** A port that plays a debugging port up to a point, and is silent or wrong from there. */
async function port(play: (server: Server, url: () => string) => void): Promise<string> {
  const server = createServer();
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  play(server, url);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return url();
}
const saying = (text: string) => port((server) => server.on('request', (_, response) => response.end(text)));
/** @param product what it says it is; without it, it never answers a command. */
const speaking = (product?: string) =>
  port((server, url) => {
    const webSocketDebuggerUrl = () => `${url().replace('http', 'ws')}/devtools/browser/x`;
    server.on('request', (_, response) =>
      response.end(JSON.stringify({ webSocketDebuggerUrl: webSocketDebuggerUrl() })),
    );
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) =>
      socket.on('message', (data) => {
        const { id } = JSON.parse(String(data));
        if (product !== undefined) socket.send(JSON.stringify({ id, result: { product } }));
      }),
    );
    cleanUp.push(() => {
      for (const socket of sockets.clients) socket.terminate();
    });
  });

describe('joining a Chrome that its owner started', () => {
  it('works in it under the owner’s consent, and leaves it running', async () => {
    const site = await startSite();
    const chrome = await startChromium();
    cleanUp.push(
      () => site.close(),
      () => chrome.stop(),
    );
    const attach = `http://${new URL(chrome.wsUrl).host}`;
    const device = await startDevice({ attach, approve: 'owner' });
    try {
      // What is open in the owner's browser is nobody's until the owner says so.
      expect((await device.request('GET', '/v1/grants')).body).toMatchObject({
        grants: [{ ready: false, policy: { tabs: [] } }],
      });
      const owner = async <T>(method: string, path: string, body?: unknown) =>
        (await device.request(method, path, { key: OWNER_KEY, body })).body as T;
      const { tabs } = await owner<{ tabs: { id: string }[] }>('GET', '/v1/tabs');
      const wish = { tab_id: tabs[0]?.id, control: true };
      const { grant } = await owner<{ grant: { id: string } }>('POST', '/v1/grants', wish);
      const scope = { ...device.scope, grant_id: grant.id, tab_id: tabs[0]?.id };
      const acquired = await device.call('browser_task_acquire', { ...scope, operation_id: crypto.randomUUID() });
      const { lease_token } = acquired.result as { lease_token: string };
      expect(
        await device.call('tab_navigate', {
          ...scope,
          lease_token,
          operation_id: crypto.randomUUID(),
          url: `${site.url}/buttons`,
          observe: true,
        }),
      ).toMatchObject({ state: 'completed', result: { observation: { url: `${site.url}/buttons` } } });
    } finally {
      await device.close();
    }
    const pages = (await (await fetch(`${attach}/json/list`)).json()) as { url: string }[];
    expect(pages.map(({ url }) => url)).toContain(`${site.url}/buttons`);
  });

  it('gives up what never answers, at each stage of it', async () => {
    const silent = [
      await port((server) => server.on('request', () => {})),
      await port((server) => server.on('request', (_, response) => response.write('{'))),
      await port((server, url) => {
        server.on('request', (_, response) =>
          response.end(JSON.stringify({ webSocketDebuggerUrl: url().replace('http', 'ws') })),
        );
        server.on('upgrade', () => {});
      }),
      await speaking(),
    ];
    const answers = silent.map((address) => attachChromium(address, signal));
    for (const [at, answer] of answers.entries()) {
      await expect(answer, `stage ${at}`).rejects.toMatchObject({
        code: 'DEVICE_ATTACH_FAILED',
        details: { address: silent[at], problem: 'it did not answer in time' },
      });
    }
  }, 40_000);

  it('is given up at once when the device ends meanwhile', async () => {
    const ending = new AbortController();
    const joining = attachChromium(await speaking(), ending.signal);
    setTimeout(() => ending.abort(), 50);
    await expect(joining).rejects.toMatchObject({ code: 'DEVICE_ATTACH_FAILED' });
  });

  it.each([
    ['nothing at all', async () => 'http://127.0.0.1:9'],
    ['what is no JSON', () => saying('<html>')],
    ['no address of a browser', () => saying('{}')],
    ['an address that is none', () => saying('{"webSocketDebuggerUrl":"nowhere"}')],
    ['a server that speaks no WebSocket', () => saying('{"webSocketDebuggerUrl":"ws://127.0.0.1:1/x"}')],
  ])('refuses %s with one code', async (_name, address) => {
    await expect(attachChromium(await address(), signal)).rejects.toMatchObject({ code: 'DEVICE_ATTACH_FAILED' });
  });

  it('follows no other address than the one that the owner named', async () => {
    let elsewhere = 0;
    const other = await port((server) => server.on('upgrade', () => (elsewhere += 1)));
    const here = await saying(JSON.stringify({ webSocketDebuggerUrl: `${other.replace('http', 'ws')}/x` }));
    await expect(attachChromium(here, signal)).rejects.toMatchObject({ code: 'DEVICE_ATTACH_FAILED' });
    expect(elsewhere).toBe(0);
  });

  it('refuses one that is too old, before anything is done in it', async () => {
    const device = await startDevice({ attach: await speaking('Chrome/90.0.4430.212') }, { unready: true });
    cleanUp.push(() => device.close());
    expect(await device.request('GET', '/v1/grants')).toEqual({
      status: 503,
      body: { error: 'DEVICE_CHROMIUM_TOO_OLD' },
    });
  });
});

describe('a Chromium to start', () => {
  const script = (text: string, mode = 0o755) => {
    const path = join(folder, 'chromium');
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, mode);
    return path;
  };
  const old = 'printf \'{"id":1,"result":{"product":"Chrome/90.0.4430.212"}}\\0\' >&4; exec sleep 60';

  it.each([
    ['is not there', () => '/nowhere/chromium', 'DEVICE_CHROMIUM_MISSING'],
    ['may not be run', () => script('exit 0', 0o644), 'DEVICE_CHROMIUM_MISSING'],
    ['is a folder', () => folder, 'DEVICE_CHROMIUM_MISSING'],
    ['ends at once', () => script('echo no display >&2; exit 1'), 'DEVICE_CHROMIUM_FAILED'],
    ['is too old', () => script(old), 'DEVICE_CHROMIUM_TOO_OLD'],
  ])(
    'that %s is refused with a code of its own, and can be put right while the device runs',
    async (_name, path, code) => {
      const executable = path();
      const device = await startDevice({ executable }, { unready: true });
      cleanUp.push(() => device.close());
      expect(await device.request('GET', '/v1/grants')).toEqual({ status: 503, body: { error: code } });
      const { scope } = device;
      expect(await device.call('page_observe', { ...scope, device_id: 'd', grant_id: 'g', tab_id: 't' })).toMatchObject(
        {
          error: 'CONSENT_REQUIRED',
        },
      );
      expect((await device.request('POST', '/v1/tabs', { key: OWNER_KEY, body: {} })).body).toEqual({ error: code });
      if (executable !== join(folder, 'chromium')) return;
      script('exec /usr/bin/chromium "$@"');
      expect(await device.request('GET', '/v1/grants')).toMatchObject({
        status: 200,
        body: { grants: [{ policy: { tabs: [{}] } }] },
      });
    },
  );
});
