/**
 * The host's own browser device: started beside the host, or found again after the host was restarted (DECISIONS 25).
 *
 * The device is a process of its own and outlives a crash of the host. While the host lives it holds one response of the
 * device open; when that ends for ten minutes, the device ends itself. An orderly stop of the host stops it at once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { type ClientRequest, get } from 'node:http';
import { extname, join } from 'node:path';
import { HostError, refuse } from '../../../sdk/contract/errors.ts';
import { type Address, readAddress, settingsHash, writePrivately } from './address.ts';
import { browserEnvironment } from './chromium/environment.ts';
import { startTimeOf } from './chromium/launch.ts';
import type { BrowserDeviceConfig } from './config.ts';
import { packageVersion } from './device-server.ts';

/** Milliseconds that the device lives without a host. */
export const ALONE_MS = 600_000;
/** Milliseconds for the device and its Chromium to be ready. */
const READY_MS = 60_000;
/** Milliseconds for one answer of a device that may be dead. */
const ANSWER_MS = 3000;
/** Milliseconds for an orderly end. */
const STOP_MS = 15_000;

export interface EmbeddedBrowserOptions {
  config: BrowserDeviceConfig;
  /** The host's data directory; the device keeps its own folder in it. */
  dataDir: string;
  env: NodeJS.ProcessEnv;
  /** How `jev-host` is called; the default is this program. */
  command?: readonly string[];
  /** Gives a start up that is under way. */
  signal?: AbortSignal;
}

export interface EmbeddedBrowser {
  /** Of the device; its MCP endpoint is `/mcp` there, its grants `/v1/grants`. */
  url: string;
  /** The bearer key of the connector `browser-device`. */
  connectorKey: string;
  /** The owner's key, for the console's approvals. */
  ownerKey: string;
  /** True when a device was found that had outlived its host. */
  rejoined: boolean;
  /** Called when the device ends although nobody asked it to. */
  onLost(listener: () => void): void;
  /** Ends the device and its Chromium. */
  stop(): Promise<void>;
  /** Leaves the device running, for a host that starts again at once. */
  leave(): void;
}

export const deviceDirectory = (dataDir: string): string => join(dataDir, 'browser-device');

/** @throws DEVICE_NOT_READY, with the device's own words. */
export async function startEmbeddedBrowser(options: EmbeddedBrowserOptions): Promise<EmbeddedBrowser> {
  const directory = deviceDirectory(options.dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const wanted = settingsHash(options.config, packageVersion());
  const found = readAddress(directory);
  if (found && (await isAlive(found))) {
    if (found.settings === wanted) return join_(found, true);
    await end(found);
  } else if (found) {
    killOwn(found);
  }
  return join_(await startProcess(options, directory), false);
}

async function startProcess(options: EmbeddedBrowserOptions, directory: string): Promise<Address> {
  const settings = join(directory, 'settings.json');
  writePrivately(settings, JSON.stringify(options.config));
  const log = openSync(join(directory, 'device.log'), 'a', 0o600);
  const command = options.command ?? [
    process.execPath,
    join(import.meta.dirname, '..', '..', `main${extname(import.meta.filename)}`),
  ];
  const [program = process.execPath, ...args] = command;
  const child = spawn(program, [...args, 'device', 'browser', '--embedded', directory], {
    detached: true,
    stdio: ['ignore', 'pipe', log],
    env: browserEnvironment(options.env),
  });
  closeSync(log);
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (problem: string) => reject(new HostError('DEVICE_NOT_READY', { problem }));
      const timer = setTimeout(() => fail('it was not ready in time'), READY_MS);
      const done = (act: () => void) => {
        clearTimeout(timer);
        act();
      };
      let words = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        words += chunk.toString('utf8');
        if (/^jev-host device ready /m.test(words)) done(resolve);
      });
      child.once('error', (error) => done(() => fail(error.message)));
      const giveUp = () => done(() => fail('it was stopped while it started'));
      if (options.signal?.aborted) giveUp();
      else options.signal?.addEventListener('abort', giveUp, { once: true });
      child.once('exit', (code) =>
        done(() => fail(`it ended with ${code}; its words are in ${join(directory, 'device.log')}`)),
      );
    });
  } catch (error) {
    await endChild(child);
    throw error;
  }
  child.removeAllListeners();
  child.stdout?.destroy();
  child.unref();
  return readAddress(directory) ?? refuse('DEVICE_NOT_READY', { problem: 'it left no address' });
}

/** With time to end its Chromium; by force after that. */
async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(force);
}

function join_(address: Address, rejoined: boolean): EmbeddedBrowser {
  const listeners = new Set<() => void>();
  let expected = false;
  const presence = holdPresence(address, () => {
    if (!expected) for (const listener of listeners) listener();
  });
  const leave = () => {
    expected = true;
    presence.destroy();
  };
  return {
    url: address.url,
    connectorKey: address.connectorKey,
    ownerKey: address.ownerKey,
    rejoined,
    onLost: (listener) => void listeners.add(listener),
    leave,
    async stop() {
      leave();
      await end(address);
    },
  };
}

function holdPresence(address: Address, onEnd: () => void): ClientRequest {
  const request = get(
    new URL('/v1/presence', address.url),
    { headers: { authorization: `Bearer ${address.connectorKey}` }, agent: false },
    (response) => {
      response.resume();
      response.once('close', onEnd);
    },
  );
  request.on('error', onEnd);
  request.on('socket', (socket) => socket.unref());
  return request;
}

async function isAlive(address: Address): Promise<boolean> {
  try {
    const status = (await ask(address, 'GET', '/v1/status')) as { instance?: string };
    return status.instance === address.instance;
  } catch {
    return false;
  }
}

async function ask(address: Address, method: string, path: string): Promise<unknown> {
  const response = await fetch(new URL(path, address.url), {
    method,
    headers: { authorization: `Bearer ${address.ownerKey}` },
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

/** Asks it to end and waits for it; a process that does not is ended. */
async function end(address: Address): Promise<void> {
  await ask(address, 'POST', '/v1/stop').catch(() => {});
  const deadline = Date.now() + STOP_MS;
  while (isOurs(address) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  killOwn(address);
}

/** The process of the address is still that process, and not a later one with its number. */
function isOurs({ pid, started }: Address): boolean {
  if (started !== undefined) return startTimeOf(pid) === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function killOwn(address: Address): void {
  if (address.started === undefined || !isOurs(address)) return;
  try {
    process.kill(address.pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
