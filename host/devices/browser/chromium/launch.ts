/**
 * Starts Chromium as a process group of its own and speaks to it over a pipe, which no other process can join.
 *
 * A group that a killed device left behind is ended at the next start: its id and start time are on record beside the
 * profile, so a number that the system gave to somebody else in the meantime is never signalled.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { refuse } from '../../../../sdk/contract/errors.ts';
import { browserEnvironment } from './environment.ts';
import { assertProfileFree } from './profile-lock.ts';
import { Protocol } from './protocol.ts';
import { pipeWire } from './wires.ts';

/** Milliseconds from start to the first answer. */
const START_MS = 30_000;
/** Milliseconds that Chromium gets to close by itself. */
const CLOSE_MS = 3000;
/** Characters of Chromium's own words kept for an error. */
const KEPT_OUTPUT = 2000;

/** Port 9 is on Chromium's list of ports that no request may go to. */
const NOWHERE = 'http://127.0.0.1:9/';

/** Nothing is looked up, fetched or reported at start; pages go on rendering and running timers when not in front. */
const QUIET = [
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--no-pings',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-component-extensions-with-background-pages',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--disable-quic',
  '--disable-domain-reliability',
  '--disable-client-side-phishing-detection',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-search-engine-choice-screen',
  '--disable-features=OptimizationHints,MediaRouter,DialMediaRouteProvider,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater,InterestFeedContentSuggestions,NetworkTimeServiceQuerying,PaintHolding',
  // No switch keeps these two at home, so they are sent to a port that Chromium itself opens for nobody.
  `--component-updater=url-source=${NOWHERE}`,
  `--gaia-url=${NOWHERE}`,
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-ipc-flooding-protection',
  '--disable-smooth-scrolling',
  '--disable-print-preview',
  '--password-store=basic',
  '--use-mock-keychain',
  '--metrics-recording-only',
];

export interface LaunchOptions {
  /** Gives a start up that is under way. */
  signal: AbortSignal;
  executable: string;
  /** A private directory of this device; the profile and the record of the process lie in it. */
  directory: string;
  headless: boolean;
  profileDir?: string;
  proxy?: string;
  env: NodeJS.ProcessEnv;
  /** The root user cannot use Chromium's own sandbox. */
  asRoot: boolean;
}

export interface Chromium {
  protocol: Protocol;
  /** For example `Chrome/156.0.8078.114`. */
  product: string;
  /** Process group, when this device started it. */
  pid?: number;
  /** Closes it, by force if need be; resolves when no process of it is left. */
  close(): Promise<void>;
}

export async function launchChromium(options: LaunchOptions): Promise<Chromium> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  endOrphan(options.directory);
  const fresh = options.profileDir === undefined;
  if (options.profileDir !== undefined) assertProfileFree(options.profileDir);
  const profile = options.profileDir ?? mkdtempSync(join(options.directory, 'profile-'));
  const child = spawn(
    options.executable,
    [
      ...(options.headless ? ['--headless=new', '--hide-scrollbars', '--mute-audio'] : []),
      ...(options.asRoot ? ['--no-sandbox'] : []),
      ...(options.headless ? ['--disable-gpu'] : []),
      ...QUIET,
      ...(options.proxy === undefined
        ? []
        : [options.proxy === 'direct' ? '--no-proxy-server' : `--proxy-server=${options.proxy}`]),
      `--user-data-dir=${profile}`,
      '--remote-debugging-pipe',
      'about:blank',
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
      env: browserEnvironment(options.env),
    },
  );
  let words = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(-KEPT_OUTPUT);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const pid = child.pid;
  if (pid === undefined) {
    await exited;
    return refuse('DEVICE_CHROMIUM_FAILED', { problem: 'the program could not be started' });
  }
  recordProcess(options.directory, { pid, started: startTimeOf(pid), ...(fresh ? { profile } : {}) });
  const protocol = new Protocol(pipeWire(child.stdio[3] as Writable, child.stdio[4] as Readable));

  const close = async () => {
    if (!protocol.gone) protocol.send('Browser.close').catch(() => {});
    await within(CLOSE_MS, exited);
    endGroup(pid);
    await within(CLOSE_MS, exited);
    protocol.close();
    if (fresh) removeProfile(profile);
    rmSync(recordFile(options.directory), { force: true });
  };

  const givenUp = new Promise<void>((resolve) => {
    if (options.signal.aborted) resolve();
    else options.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const version = await within(START_MS, Promise.race([protocol.send('Browser.getVersion'), exited, givenUp])).catch(
    () => undefined,
  );
  if (!version?.product) {
    await close();
    refuse('DEVICE_CHROMIUM_FAILED', { problem: lastLine(words) });
  }
  return { protocol, product: version.product, pid, close };
}

interface ProcessRecord {
  pid: number;
  started: string | undefined;
  profile?: string;
}

const recordFile = (directory: string) => join(directory, 'chromium.json');

function recordProcess(directory: string, record: ProcessRecord): void {
  writeFileSync(recordFile(directory), JSON.stringify(record), { mode: 0o600 });
}

/** Ends the Chromium that an earlier device, killed in its work, left behind. */
export function endOrphan(directory: string): void {
  let record: ProcessRecord;
  try {
    record = JSON.parse(readFileSync(recordFile(directory), 'utf8'));
  } catch {
    return;
  }
  if (record.started !== undefined && startTimeOf(record.pid) === record.started) endGroup(record.pid);
  if (record.profile?.startsWith(directory)) removeProfile(record.profile);
  rmSync(recordFile(directory), { force: true });
}

/** Ticks since boot at which the process began; with the number it names one process for good. */
export function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}

function removeProfile(profile: string): void {
  // A process of the group may still be writing for a moment after its end was asked for.
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

function lastLine(words: string): string {
  const lines = words.trim().split('\n');
  return (lines.at(-1) || 'it ended without a word').slice(0, 300);
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
