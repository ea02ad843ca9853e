import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAddress } from '../../host/devices/browser/address.ts';
import { BrowserDeviceConfig } from '../../host/devices/browser/config.ts';
import { deviceDirectory, type EmbeddedBrowser, startEmbeddedBrowser } from '../../host/devices/browser/spawn.ts';
import { remoteBrowser } from '../../sdk/devices/remote-browser.ts';
import { find } from '../fixtures/device.ts';
import { eventually } from '../fixtures/processes.ts';
import { type Site, startSite } from '../fixtures/site/site.ts';

const main = join(import.meta.dirname, '../../dist/host/main.js');
let dataDir: string;
let site: Site;
let devices: EmbeddedBrowser[];
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'device-honesty-'));
  site = await startSite();
  devices = [];
});
afterEach(async () => {
  for (const device of devices) await device.stop();
  await site.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

async function start() {
  const device = await startEmbeddedBrowser({
    config: v.parse(BrowserDeviceConfig, { approve: 'always', navigation: { allow: ['http://127.0.0.1:*'] } }),
    dataDir,
    env: process.env,
    command: [process.execPath, main],
  });
  devices.push(device);
  const headers = { authorization: `Bearer ${device.connectorKey}`, 'content-type': 'application/json' };
  const { grants } = (await (await fetch(new URL('/v1/grants', device.url), { headers })).json()) as {
    grants: { id: string; deviceId: string; policy: { tabs: { id: string }[] } }[];
  };
  const grant = grants[0];
  const browser = remoteBrowser(
    {
      async call(name, args) {
        const response = await fetch(new URL('/mcp', device.url), {
          method: 'POST',
          headers,
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
        });
        return ((await response.json()) as { result: never }).result;
      },
    },
    { device_id: grant?.deviceId ?? '', grant_id: grant?.id ?? '', tab_id: grant?.policy.tabs[0]?.id ?? '' },
    { uuid: randomUUID },
  );
  return { device, browser };
}

describe('a device that is killed in its work', () => {
  it('knows afterwards what was sent and not ended, what was only taken, and what it never heard of', async () => {
    const { browser } = await start();
    await browser.acquire();
    await browser.navigate(randomUUID(), { url: `${site.url}/frozen` });
    const page = await browser.observe();
    if (!page.ok) throw new Error(page.code);
    const [sent, taken] = [randomUUID(), randomUUID()];
    const { generation } = page.value;
    // The page hangs in the first click, so the second waits for its turn.
    const first = browser.click(sent, { ref: find(page.value, 'Freeze').ref, generation });
    const second = browser.click(taken, { ref: find(page.value, 'Other').ref, generation });
    await eventually(async () => {
      const [one, two] = [await browser.operationStatus(sent), await browser.operationStatus(taken)];
      return one.ok && one.value.state === 'dispatched' && two.ok && two.value.state === 'accepted';
    }, 'the first click was sent and the second waits');
    process.kill(readAddress(deviceDirectory(dataDir))?.pid ?? 0, 'SIGKILL');
    expect((await first).outcome).toBe('unknown');
    expect((await second).outcome).toBe('unknown');

    const again = await start();
    expect(await again.browser.operationStatus(sent)).toMatchObject({
      ok: true,
      value: { state: 'unknown' },
    });
    expect(await again.browser.operationStatus(taken)).toMatchObject({ ok: true, value: { state: 'not_executed' } });
    expect(await again.browser.operationStatus(randomUUID())).toMatchObject({
      ok: true,
      value: { state: 'not_found' },
    });
    // Used is used, whatever became of it.
    await again.browser.acquire();
    expect(await again.browser.click(sent, { ref: 'd1e1', generation: 'x' })).toMatchObject({
      outcome: 'unknown',
      code: 'OUTCOME_UNKNOWN',
    });
    expect(site.effects).toEqual([]);
  });
});
