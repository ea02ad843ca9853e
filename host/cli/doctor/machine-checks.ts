/** The machine: runtime, data directory, store, disk, clock, browser. */

import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { openLmdbStore } from '../../../core/store/lmdb-store.ts';
import { codes, describeCode } from '../../../sdk/contract/codes.ts';
import { isHostError } from '../../../sdk/contract/errors.ts';
import { findChromium } from '../../devices/browser/chromium/executable.ts';
import { connectHost } from '../host-client.ts';
import { type Check, type Finding, fail, ok, type Patient, skip, warn } from './check.ts';

const MEBIBYTE = 1024 * 1024;
/** Below this the store soon refuses to write, and mutations stop. */
const DISK_FAIL_BYTES = 128 * MEBIBYTE;
const DISK_WARN_BYTES = 1024 * MEBIBYTE;
/** Proofs are at most five minutes old; a clock that jumps this far makes good ones look stale. */
const CLOCK_WARN_MS = 5000;
const CLOCK_FAIL_MS = 60_000;
/** Older than this program: a clock that was never set. */
const EARLIEST = Date.UTC(2026, 0, 1);

const nodeVersion: Check = ({ nodeVersion: version }) => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const good = major > 20 || (major === 20 && minor >= 19);
  if (!good) return [fail('node', `Node ${version} is too old.`, 'Use Node 20.19 or later.')];
  return [ok('node', `Node ${version}.`)];
};

const dataDirectoryCheck: Check = async ({ dataDir }) => {
  const id = 'data.directory';
  try {
    if (!existsSync(dataDir)) {
      const parent = await nearestParent(dataDir);
      if (!(await stat(parent)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
      await access(parent, constants.W_OK);
      return [ok(id, `The data directory ${dataDir} does not exist yet and can be made.`)];
    }
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const { mode } = await stat(dataDir);
    if (mode & 0o077) {
      return [
        warn(id, `The data directory ${dataDir} is open to other users of this machine.`, `Run: chmod 700 ${dataDir}`),
      ];
    }
    return [ok(id, `The data directory ${dataDir} can be used.`)];
  } catch (error) {
    return [
      fail(
        id,
        `The data directory ${dataDir} cannot be used (${codeOf(error)}).`,
        'Give it to the service’s user, or name another with dataDir or --data-dir.',
      ),
    ];
  }
};

const disk: Check = async ({ dataDir, freeBytes }) => {
  const id = 'data.disk';
  try {
    const free = await freeBytes(await nearestParent(dataDir));
    const says = `${Math.floor(free / MEBIBYTE)} MiB are free for the data directory.`;
    const next = 'Free disk space or move the data directory. When the disk is full, tasks stop acting.';
    if (free < DISK_FAIL_BYTES) return [fail(id, says, next)];
    return [free < DISK_WARN_BYTES ? warn(id, says, next) : ok(id, says)];
  } catch (error) {
    return [warn(id, `The free disk space could not be read (${codeOf(error)}).`, 'Look at it by hand.')];
  }
};

/** A running host holds the store and is asked instead; the store is never opened beside it. */
const store: Check = async ({ dataDir }) => {
  const id = 'data.store';
  if (await isRunning(dataDir)) return [ok(id, 'A host is running on this data directory and holds the store.')];
  if (!existsSync(join(dataDir, 'store.mdb'))) return [skip(id, 'There is no store yet; the first start makes it.')];
  try {
    const opened = await openLmdbStore({ directory: dataDir, readOnly: true });
    const { records, damaged } = opened.verify();
    await opened.close();
    if (damaged === 0) return [ok(id, `The store can be opened, and its ${records} records are whole.`)];
    const says = `${damaged} of the store’s ${records} records ${damaged === 1 ? 'is' : 'are'} damaged.`;
    return [fail(id, says, codes.STORE_DAMAGED.next)];
  } catch (error) {
    if (!isHostError(error)) throw error;
    return [fail(id, `${error.code}: ${describeCode(error.code, error.details)}`, error.next)];
  }
};

const clock: Check = async ({ dataDir, now }) => {
  const id = 'clock';
  const at = now();
  if (at < EARLIEST) return [fail(id, 'The clock was never set.', 'Set it, and keep it set with a time service.')];
  const directory = existsSync(dataDir) ? dataDir : undefined;
  if (!directory) return [ok(id, 'The clock is set.')];
  const skew = await skewOf(directory, now);
  const newest = await newestFile(directory);
  const next = 'Set the clock with a time service. Proofs are rejected when clocks disagree.';
  if (newest - at > CLOCK_WARN_MS) {
    const says = `Files of the data directory are ${Math.round((newest - at) / 1000)} s in the future: the clock was set back.`;
    return [newest - at > CLOCK_FAIL_MS ? fail(id, says, next) : warn(id, says, next)];
  }
  if (skew === undefined) return [skip(id, 'The clock could not be compared with the disk’s.')];
  if (Math.abs(skew) > CLOCK_WARN_MS) {
    const says = `The clock differs from the disk’s by ${Math.round(skew / 1000)} s.`;
    return [Math.abs(skew) > CLOCK_FAIL_MS ? fail(id, says, next) : warn(id, says, next)];
  }
  return [ok(id, 'The clock agrees with the disk’s.')];
};

const chromium: Check = ({ config, env }) => {
  const id = 'browser.chromium';
  const { browser } = config.devices as { browser?: { enabled?: boolean; attach?: string; executable?: string } };
  if (browser?.enabled !== true) return [skip(id, 'The browser device is off.')];
  if (browser.attach !== undefined) return [skip(id, `The browser device joins the Chromium at ${browser.attach}.`)];
  try {
    return [ok(id, `Chromium: ${findChromium(browser.executable, env.PATH)}.`)];
  } catch (error) {
    if (!isHostError(error)) throw error;
    return [fail(id, error.message, error.next)];
  }
};

const port: Check = async ({ config, dataDir }) => {
  const id = 'api.port';
  const { host, port: wanted } = config.gateway.api;
  if (wanted === 0) return [ok(id, 'Any free port is taken.')];
  if (await isRunning(dataDir)) return [ok(id, 'A host is running on this data directory.')];
  const problem = await new Promise<string | undefined>((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(codeOf(error)));
    probe.listen(wanted, host, () => probe.close(() => resolve(undefined)));
  });
  if (problem === undefined) return [ok(id, `${host}:${wanted} is free.`)];
  return [
    fail(
      id,
      `${host}:${wanted} cannot be used (${problem}).`,
      'Set gateway.api.port or gateway.api.host, or stop what uses it.',
    ),
  ];
};

const apiKeys: Check = ({ config }) => {
  const { keys } = config.gateway.api;
  if (keys.length > 0) return [ok('api.keys', `${keys.length} API ${keys.length === 1 ? 'key' : 'keys'}.`)];
  return [
    warn(
      'api.keys',
      'No API key is configured, so only this machine’s owner can use the host.',
      'Make one: jev-host key create.',
    ),
  ];
};

async function isRunning(dataDir: string): Promise<boolean> {
  try {
    const client = await connectHost({ 'data-dir': dataDir });
    try {
      await client.get('/agents');
      return true;
    } catch (error) {
      return isHostError(error) && error.code !== 'HOST_NOT_RUNNING';
    } finally {
      await client.close();
    }
  } catch {
    return false;
  }
}

/** What the disk's clock is ahead, in milliseconds; undefined when nothing can be written. */
async function skewOf(directory: string, now: () => number): Promise<number | undefined> {
  const probe = join(directory, `.clock-${randomUUID()}`);
  try {
    const before = now();
    await writeFile(probe, '', { mode: 0o600 });
    const { mtimeMs } = await stat(probe);
    const after = now();
    return mtimeMs < before ? mtimeMs - before : Math.max(0, mtimeMs - after);
  } catch {
    return undefined;
  } finally {
    await rm(probe, { force: true });
  }
}

async function newestFile(directory: string): Promise<number> {
  let newest = 0;
  for (const name of (await readdir(directory)).slice(0, 200)) {
    const found = await stat(join(directory, name)).catch(() => undefined);
    newest = Math.max(newest, found?.mtimeMs ?? 0);
  }
  return newest;
}

async function nearestParent(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(at) || at === dirname(at)) return at;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}

export const machineChecks: readonly ((patient: Patient) => Promise<Finding[]> | Finding[])[] = [
  nodeVersion,
  dataDirectoryCheck,
  disk,
  store,
  clock,
  chromium,
  port,
  apiKeys,
];
