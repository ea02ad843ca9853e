/** The browser speaks to nobody but the pages that it is led to: read from its own log of the network. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDevice } from '../fixtures/device.ts';
import { type Site, startSite } from '../fixtures/site/site.ts';

/** Milliseconds of a browser at rest. Without its switches it asks for the time, updates and accounts within the first. */
const REST_MS = 4000;

let folder: string;
let site: Site;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quiet-start-'));
  site = await startSite();
});
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface NetworkLog {
  constants: { logEventTypes: Record<string, number> };
  events: { type: number; params?: { url?: string; hostname?: string; address?: string } }[];
}

/** Requests, names that were looked up, and sockets that bytes went through, as the browser logged them. */
async function spokenTo(name: string, config: Record<string, unknown>) {
  const [log, executable] = [join(folder, `${name}.json`), join(folder, name)];
  const chromium = process.env.JEV_HOST_CHROMIUM ?? '/usr/bin/chromium';
  writeFileSync(executable, `#!/bin/sh\nexec ${chromium} --log-net-log=${log} "$@"\n`);
  chmodSync(executable, 0o755);
  const device = await startDevice({ executable, ...config });
  await device.open(`${site.url}/buttons`);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  await device.close();
  const { constants, events } = readLog(log);
  const names = new Map(Object.entries(constants.logEventTypes).map(([event, id]) => [id, event]));
  const of = (event: RegExp, field: 'url' | 'hostname' | 'address') =>
    events.flatMap(({ type, params }) => (event.test(names.get(type) ?? '') && params?.[field] ? [params[field]] : []));
  return {
    requests: [...new Set(of(/^URL_REQUEST_START_JOB$/, 'url').map((url) => new URL(url).origin))],
    lookups: of(/^DNS_TRANSACTION$/, 'hostname'),
    sockets: [...new Set(of(/^TCP_CONNECT_ATTEMPT$|^UDP_BYTES_SENT$/, 'address'))],
  };
}

/** A browser that was ended by force leaves the log without its last brackets. */
function readLog(path: string): NetworkLog {
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(`${text.replace(/,\s*$/, '')}]}`);
  }
}

describe('a browser that was started and left alone', () => {
  it.each([
    ['with a fresh profile', 'fresh', () => ({})],
    ['with a profile that is kept', 'kept', () => ({ profileDir: join(folder, 'profile') })],
  ])(
    'asks nothing of anybody outside: %s',
    async (_how, name, config) => {
      const { requests, lookups, sockets } = await spokenTo(name, config());
      // The page itself shows that the log tells of requests; port 9 is one that the browser never opens.
      expect(requests).toContain(site.url);
      expect(requests.filter((origin) => origin !== site.url && origin !== 'http://127.0.0.1:9')).toEqual([]);
      expect(lookups).toEqual([]);
      expect(sockets).toEqual([new URL(site.url).host]);
    },
    90_000,
  );
});
