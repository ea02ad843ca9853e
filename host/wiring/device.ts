/**
 * The browser device of this host: a process beside it, registered as connector `browser-device`.
 *
 * A device that ends by itself is started again, with growing pauses, while the host goes on: tasks on its tabs end as
 * their receipts say. A device that cannot start does not keep the host from serving.
 */
import type { DependencyContainer } from 'tsyringe';
import { refuse } from '../../sdk/contract/errors.ts';
import type { DeviceOwner } from '../api/ports.ts';
import { type EmbeddedBrowser, startEmbeddedBrowser } from '../devices/browser/spawn.ts';
import { CONFIG, CONNECTORS, LOG, SURROUNDINGS } from '../tokens.ts';

export const BROWSER_CONNECTOR = 'browser-device';

/** Milliseconds for one answer of the device. */
const ANSWER_MS = 5000;
/** Milliseconds before a lost device is started again: the first time, and at most. */
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

export interface EmbeddedDevices {
  /** Resolves when the device is ready, or when it is known that it is not. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The running device, for the owner's approvals. */
  browser(): EmbeddedBrowser | undefined;
}

export function createEmbeddedDevices(from: DependencyContainer): EmbeddedDevices {
  const log = from.resolve(LOG);
  const { dataDir, env } = from.resolve(SURROUNDINGS);
  const connectors = from.resolve(CONNECTORS);
  let running: EmbeddedBrowser | undefined;
  let pause = PAUSE_MS;
  let again: NodeJS.Timeout | undefined;
  let stopped = false;
  const stopping = new AbortController();

  const start = async (): Promise<void> => {
    const config = from.resolve(CONFIG).current.devices.browser;
    if (!config?.enabled || stopped) return;
    try {
      const device = await startEmbeddedBrowser({ config, dataDir, env, signal: stopping.signal });
      if (stopped) return await device.stop();
      running = device;
      pause = PAUSE_MS;
      connectors.register({
        id: BROWSER_CONNECTOR,
        url: new URL('/mcp', device.url).href,
        adapter: 'browser',
        secret: () => device.connectorKey,
      });
      device.onLost(() => {
        log.error({}, 'the browser device ended');
        lost();
      });
      log.info({ url: device.url, rejoined: device.rejoined }, 'the browser device is ready');
    } catch (error) {
      if (!stopped) log.error({ error: String(error) }, 'the browser device did not start');
      lost();
    }
  };
  const lost = () => {
    running = undefined;
    connectors.unregister(BROWSER_CONNECTOR);
    if (stopped) return;
    again = setTimeout(() => void start(), pause);
    again.unref();
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  };

  return {
    start,
    browser: () => running,
    async stop() {
      stopped = true;
      stopping.abort();
      clearTimeout(again);
      const device = running;
      running = undefined;
      await device?.stop();
    },
  };
}

/** Speaks to the device with its owner's key, which never leaves the host. */
export function deviceOwner(device: EmbeddedBrowser, withdrawn: (grantId: string) => void): DeviceOwner {
  const ask = async (method: string, path: string, body?: object): Promise<object> => {
    const response = await fetch(new URL(path, device.url), {
      method,
      headers: {
        authorization: `Bearer ${device.ownerKey}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.status === 404 || response.status === 400)
      return refuse('INVALID_INPUT', { problem: 'the device knows no such tab or permission' });
    if (!response.ok) return refuse('DEVICE_NOT_RUNNING');
    return (await response.json()) as object;
  };
  return {
    tabs: () => ask('GET', '/v1/tabs'),
    grant: (grant) => ask('POST', '/v1/grants', grant),
    async revoke(grantId) {
      // First the host's own fence: nothing more leaves while the device is told.
      withdrawn(grantId);
      await ask('DELETE', `/v1/grants/${encodeURIComponent(grantId)}`);
    },
  };
}
