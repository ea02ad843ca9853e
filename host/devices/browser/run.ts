/** Runs the device server as this process's whole work, until it is asked to stop or is left alone. */

import { sha256Hex } from '../serving/keys.ts';
import { keysOf, readAddress, removeAddress, settingsHash, writeAddress } from './address.ts';
import { startTimeOf } from './chromium/launch.ts';
import type { BrowserDeviceConfig } from './config.ts';
import { type DeviceServer, packageVersion, startDeviceServer } from './device-server.ts';

export interface RunOptions {
  config: BrowserDeviceConfig;
  directory: string;
  host: string;
  port: number;
  tls?: { cert: Buffer; key: Buffer };
  env: NodeJS.ProcessEnv;
  aloneMs?: number;
  signal: AbortSignal;
  /** Called once it answers. */
  onReady(ready: { url: string; connectorKey: string; ownerKey: string }): void;
}

export async function runDevice(options: RunOptions): Promise<void> {
  const { directory } = options;
  const keys = keysOf(directory);
  const before = readAddress(directory);
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  options.signal.addEventListener('abort', () => stop(), { once: true });
  const start = (port: number) =>
    startDeviceServer({
      config: options.config,
      directory,
      host: options.host,
      port,
      ...(options.tls ? { tls: options.tls } : {}),
      keys: [
        { id: 'connector', role: 'connector', sha256: sha256Hex(keys.connectorKey) },
        { id: 'owner', role: 'owner', sha256: sha256Hex(keys.ownerKey) },
      ],
      env: options.env,
      asRoot: process.getuid?.() === 0,
      version: packageVersion(),
      ...(options.aloneMs === undefined ? {} : { aloneMs: options.aloneMs }),
      onStop: () => stop(),
      now: Date.now,
    });
  const server = await atTheSamePort(start, options.port, before?.url);
  try {
    const starting = server.browser.start();
    starting.catch(() => {});
    await Promise.race([starting, stopped]);
    if (options.signal.aborted) return;
    const started = startTimeOf(process.pid);
    writeAddress(directory, {
      url: server.url,
      pid: process.pid,
      ...(started === undefined ? {} : { started }),
      instance: server.instance,
      ...keys,
      settings: settingsHash(options.config, packageVersion()),
    });
    options.onReady({ url: server.url, ...keys });
    await stopped;
  } finally {
    removeAddress(directory);
    await server.close();
  }
}

/** A device that is started again is found where it was, if nobody took the port. */
async function atTheSamePort(
  start: (port: number) => Promise<DeviceServer>,
  port: number,
  before: string | undefined,
): Promise<DeviceServer> {
  const known = before !== undefined && URL.canParse(before) ? Number(new URL(before).port) : 0;
  if (port !== 0 || !known) return start(port);
  try {
    return await start(known);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return start(0);
  }
}
