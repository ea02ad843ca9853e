/** What holds between starts and while the browser works: its profile, its proxy, its ceiling of memory. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDevice } from '../fixtures/device.ts';
import { eventually } from '../fixtures/processes.ts';

let folder: string;
let cleanUp: (() => unknown)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'device-keeping-'));
  cleanUp = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
});
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function device(config: Record<string, unknown>, options: { unready?: boolean } = {}) {
  const started = await startDevice(config, options);
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await started.close();
  };
  cleanUp.push(close);
  return { ...started, close };
}

async function serve(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a profile that is kept', () => {
  const remembering = () =>
    serve(
      createServer(({ headers }, response) => {
        response.setHeader('set-cookie', 'met=before; Max-Age=600');
        response.setHeader('content-type', 'text/html');
        response.end(`<p>${headers.cookie?.includes('met=before') ? 'Welcome back' : 'Never seen'}</p>`);
      }),
    );

  it('remembers over a restart; a fresh one does not', async () => {
    const url = `http://${await remembering()}/`;
    const profileDir = join(folder, 'profile');
    for (const [config, says] of [
      [{ profileDir }, 'Never seen'],
      [{ profileDir }, 'Welcome back'],
      [{}, 'Never seen'],
    ] as const) {
      const running = await device(config);
      expect((await running.open(url)).text).toBe(says);
      await running.close();
    }
  });

  it('is not shared by two browsers: the second is told who has it, and gets it once it is free', async () => {
    const profileDir = join(folder, 'profile');
    const first = await device({ profileDir });
    const pid = Number(/-(\d+)$/.exec(readlinkSync(join(profileDir, 'SingletonLock')))?.[1]);
    const second = await device({ profileDir }, { unready: true });
    await expect(second.server.browser.start()).rejects.toMatchObject({
      code: 'DEVICE_PROFILE_IN_USE',
      details: { path: profileDir, holder: `the browser with process id ${pid}` },
    });
    expect(await second.request('GET', '/v1/grants')).toEqual({
      status: 503,
      body: { error: 'DEVICE_PROFILE_IN_USE' },
    });
    // The first one noticed nothing.
    expect(first.server.browser.restarts).toBe(0);
    expect((await first.open('about:blank')).url).toBe('about:blank');
    await first.close();
    expect((await second.request('GET', '/v1/grants')).status).toBe(200);
  });

  it.each([
    ['a browser of this machine that has died left', `${hostname()}-999999999`, 200],
    ['a browser of another machine holds', 'another-machine-4711', 503],
  ])('with a lock that %s', async (_who, lock, status) => {
    const profileDir = join(folder, 'profile');
    mkdirSync(profileDir);
    symlinkSync(lock, join(profileDir, 'SingletonLock'));
    const running = await device({ profileDir }, { unready: true });
    expect((await running.request('GET', '/v1/grants')).status).toBe(status);
  });
});

describe('a proxy', () => {
  /** @returns its address, and the requests that came through it; it answers all of them itself. */
  async function proxy(name: string) {
    const asked: string[] = [];
    const server = createServer(({ method, url }, response) => {
      asked.push(`${method} ${url}`);
      response.setHeader('content-type', 'text/html');
      response.end(`<p>By way of ${name}</p>`);
    });
    server.on('connect', ({ url }, socket) => {
      asked.push(`CONNECT ${url}`);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    return { address: await serve(server), asked };
  }

  it('carries pages outside, with and without encryption, and names are its to look up', async () => {
    const { address, asked } = await proxy('the proxy');
    const running = await device({ proxy: `http://${address}` });
    expect((await running.open('http://shop.example/')).text).toBe('By way of the proxy');
    expect(asked).toContain('GET http://shop.example/');
    await running.browser.navigate(randomUUID(), { url: 'https://shop.example/' });
    expect(asked).toContain('CONNECT shop.example:443');
  });

  it('is not asked for pages of this machine, nor where it is switched off', async () => {
    const { address, asked } = await proxy('the proxy');
    const local = await serve(createServer((_, response) => response.end('Here')));
    for (const config of [{ proxy: `http://${address}` }, { proxy: 'direct' }]) {
      const running = await device(config);
      expect((await running.open(`http://${local}/`)).text).toBe('Here');
      await running.close();
    }
    expect(asked).toEqual([]);
  });

  it('of the SOCKS kind carries pages as well', async () => {
    const page = await serve(createServer((_, response) => response.end('By way of SOCKS')));
    const asked: string[] = [];
    const server = createServer();
    server.removeAllListeners('connection');
    // Version 5, no authentication, one CONNECT to a name; whatever was asked for, the page is what comes.
    server.on('connection', (socket) => {
      socket.once('data', () => {
        socket.write(Buffer.from([5, 0]));
        socket.once('data', (request) => {
          asked.push(request.subarray(5, 5 + (request[4] ?? 0)).toString());
          const [host, port] = page.split(':');
          const onward = connect(Number(port), host);
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          socket.pipe(onward).pipe(socket);
          socket.on('error', () => onward.destroy());
          onward.on('error', () => socket.destroy());
        });
      });
    });
    const running = await device({ proxy: `socks5://${await serve(server)}` });
    expect((await running.open('http://shop.example/')).text).toBe('By way of SOCKS');
    expect(asked).toContain('shop.example');
  });

  it('that is away is named, and the device goes on', async () => {
    const running = await device({ proxy: 'http://127.0.0.1:1' });
    const lease = await running.browser.acquire();
    expect(lease.ok).toBe(true);
    const gone = await running.browser.navigate(randomUUID(), { url: 'http://shop.example/' });
    const page = gone.outcome === 'confirmed' && gone.observation ? gone.observation : await running.observe();
    expect(`${page.text} ${JSON.stringify(page.notices ?? [])}`).toMatch(/PROXY_CONNECTION_FAILED/);
  });
});

describe('the ceiling of memory', () => {
  it('ends a browser that outgrows it, says so, and starts another', async () => {
    const url = `http://${await serve(
      createServer((_, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(
          '<script>const kept = []; for (let i = 0; i < 40; i++) kept.push(new Uint8Array(25e6).fill(1))</script>Full',
        );
      }),
    )}/`;
    const running = await device({ memoryMb: 700 });
    await running.browser.acquire();
    // On a busy machine the ceiling may be met before the page is there.
    await running.browser.navigate(randomUUID(), { url });
    await eventually(() => !running.server.browser.running, 'the browser is ended', 30_000);
    expect(await running.call('page_observe', { ...running.scope })).toMatchObject({ error: 'DEVICE_BROWSER_LOST' });
    expect((await running.request('GET', '/v1/grants')).status).toBe(200);
    expect(running.server.browser).toMatchObject({ running: true, restarts: 1 });
  }, 60_000);
});
