import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAddress } from '../../host/devices/browser/address.ts';
import { BrowserDeviceConfig } from '../../host/devices/browser/config.ts';
import { deviceDirectory, type EmbeddedBrowser, startEmbeddedBrowser } from '../../host/devices/browser/spawn.ts';
import { eventually, processesWith } from '../fixtures/processes.ts';

const main = join(import.meta.dirname, '../../dist/host/main.js');
const rounds = Number(process.env.JEV_HOST_ROUNDS ?? 20);

let dataDir: string;
let devices: EmbeddedBrowser[];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'device-life-'));
  devices = [];
});
afterEach(async () => {
  for (const device of devices) await device.stop();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

async function start(config: Record<string, unknown> = {}): Promise<EmbeddedBrowser> {
  const device = await startEmbeddedBrowser({
    config: v.parse(BrowserDeviceConfig, { approve: 'always', ...config }),
    dataDir,
    env: { ...process.env, CANARY_SECRET: 'canary-in-the-environment' },
    command: [process.execPath, main],
  });
  devices.push(device);
  return device;
}

const grants = async ({ url, connectorKey }: EmbeddedBrowser) => {
  const response = await fetch(new URL('/v1/grants', url), { headers: { authorization: `Bearer ${connectorKey}` } });
  return (await response.json()) as { grants: { policy: { tabs: { id: string }[] } }[] };
};

/** Everything that belongs to this test's device names its folder. */
const left = () => processesWith(dataDir);
const pidOf = () => readAddress(deviceDirectory(dataDir))?.pid ?? 0;

describe('the embedded device', () => {
  it('is found again by a host that was restarted, with the same tabs', async () => {
    const first = await start();
    const tabs = await grants(first);
    first.leave();
    const second = await start();
    expect(second.rejoined).toBe(true);
    expect(await grants(second)).toEqual(tabs);
    expect(tabs.grants[0]?.policy.tabs).toHaveLength(1);
  });

  it('leaves nothing running when the host stops it', async () => {
    const device = await start();
    expect(left().length).toBeGreaterThan(2);
    await device.stop();
    await eventually(() => left().length === 0, 'no process of the device is left');
  });

  it('starts anew when its settings changed', async () => {
    const first = await start();
    first.leave();
    const second = await start({ navigation: { allow: ['http://127.0.0.1:1'] } });
    expect(second.rejoined).toBe(false);
    expect((await grants(second)).grants).toHaveLength(1);
  });

  it('tells the host when it was lost, and is started again without the orphan of its browser', async () => {
    const first = await start();
    const lost = new Promise<void>((resolve) => first.onLost(resolve));
    process.kill(pidOf(), 'SIGKILL');
    await lost;
    const second = await start();
    expect(second.rejoined).toBe(false);
    expect(second.url).toBe(first.url);
    await second.stop();
    await eventually(() => left().length === 0, 'no process of the device is left');
  });

  it('gives its processes nothing of the environment but where things are', async () => {
    await start();
    for (const pid of left()) {
      let environment = '';
      try {
        environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      } catch {
        // It ended meanwhile.
      }
      expect(environment).not.toContain('canary-in-the-environment');
    }
  });

  it(
    `leaves nothing running after ${rounds} rounds of starting, stopping and killing`,
    async () => {
      for (let round = 0; round < rounds; round++) {
        const device = await start();
        if (round % 2 === 0) {
          process.kill(pidOf(), 'SIGKILL');
          device.leave();
        } else await device.stop();
      }
      await (await start()).stop();
      devices = [];
      await eventually(() => left().length === 0, 'no process of the device is left');
    },
    rounds * 6000,
  );
});
