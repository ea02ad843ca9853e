/** `jev-host device`: runs a device server, and speaks to one as its owner. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { readTlsFiles } from '../../core/credentials/tls-files.ts';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { dataDirectory } from '../data-directory.ts';
import { connectorKeyFile, ownerKeyFile, readAddress } from '../devices/browser/address.ts';
import { BrowserDeviceConfig } from '../devices/browser/config.ts';
import { runDevice } from '../devices/browser/run.ts';
import { ALONE_MS, deviceDirectory } from '../devices/browser/spawn.ts';
import { type Command, type CommandIo, print, say, UsageError } from './command.ts';
import { dataDirectoryOf } from './host-client.ts';
import { needed, parseOptions } from './options.ts';

const usage = `jev-host device browser [options]        runs the browser device on this machine
jev-host device tabs [--json]            tabs, and what is granted on them
jev-host device approve TAB [options]    lets connectors use a tab
jev-host device revoke GRANT             takes a permission back, at once
jev-host device open [ADDRESS]           opens another tab
jev-host device stop                     ends the device and its browser

Options of "browser"
  --data-dir DIR     where it keeps its keys and records (~/.local/state/jev-host)
  --host HOST        address to listen on (127.0.0.1; any other needs --tls-cert and --tls-key)
  --port N           port (0: any free one)
  --tls-cert FILE    certificate, PEM
  --tls-key FILE     its key, PEM
  --approve WHO      owner (each tab is approved) or always (owner)
  --window           shows the browser's window
  --attach ADDRESS   joins a Chrome that was started with --remote-debugging-port
  --executable FILE  Chromium or Chrome
  --profile DIR      keeps this profile; otherwise each start has a fresh one
  --allow ORIGIN     an origin that may be visited besides public ones; may be repeated
  --deny ORIGIN      an origin that may not be visited; may be repeated
  --memory MB        what Chromium and its pages may take before they are ended and started anew (4096; Linux)
  --proxy ADDRESS    http://host:port, socks5://host:port or direct

Options of "approve"
  --read-only        to look, not to act
  --minutes N        how long (60)

How the device is found
  --data-dir DIR     the folder of the device or of the host that runs it (~/.local/state/jev-host)
  --config FILE      the configuration of the host that runs it
  --url URL --owner-key-file FILE    a device elsewhere

A device leaves its keys in DIR/browser-device: connector.key for a host's connector, owner.key for its owner.

Example
  jev-host device browser --window --allow http://127.0.0.1:8080
  jev-host device approve tab-1f2e3d4c-5b6a --minutes 30`;

export const command: Command = {
  name: 'device',
  summary: 'Runs the browser device on this machine, and decides who may use its tabs.',
  usage,
  async run(args, io) {
    const [action, ...rest] = args;
    switch (action) {
      case 'browser':
        return browser(rest, io);
      case 'tabs':
      case 'approve':
      case 'revoke':
      case 'open':
      case 'stop':
        return owner(action, rest, io);
      case undefined:
        throw new UsageError('An action is needed: browser, tabs, approve, revoke, open or stop.');
      default:
        throw new UsageError(`There is no action "${action}".`);
    }
  },
};

async function browser(args: string[], io: CommandIo): Promise<number> {
  const { options } = parseOptions(args, {
    embedded: 'text',
    'data-dir': 'text',
    host: 'text',
    port: 'text',
    'tls-cert': 'text',
    'tls-key': 'text',
    approve: 'text',
    window: 'flag',
    attach: 'text',
    executable: 'text',
    profile: 'text',
    allow: 'list',
    deny: 'list',
    memory: 'text',
    proxy: 'text',
  });
  const onReady = ({ url }: { url: string }) => print(io, `jev-host device ready ${url}`);
  if (options.embedded !== undefined) {
    const config = v.parse(
      BrowserDeviceConfig,
      JSON.parse(readFileSync(join(options.embedded, 'settings.json'), 'utf8')),
    );
    await runDevice({
      config,
      directory: options.embedded,
      host: '127.0.0.1',
      port: 0,
      env: io.env,
      aloneMs: ALONE_MS,
      signal: io.signal,
      onReady,
    });
    return 0;
  }
  const given = {
    headless: !options.window,
    ...(options.approve === undefined ? {} : { approve: options.approve }),
    ...(options.attach === undefined ? {} : { attach: options.attach }),
    ...(options.executable === undefined ? {} : { executable: options.executable }),
    ...(options.profile === undefined ? {} : { profileDir: options.profile }),
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    ...(options.memory === undefined ? {} : { memoryMb: Number(options.memory) }),
    navigation: { allow: options.allow, deny: options.deny },
  };
  const config = v.safeParse(BrowserDeviceConfig, given);
  if (!config.success) {
    const issue = config.issues[0];
    throw new UsageError(`${v.getDotPath(issue) ?? 'options'}: ${issue.message}`);
  }
  const host = options.host ?? '127.0.0.1';
  const isLoopback = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/.test(host);
  const tls = tlsOf(options['tls-cert'], options['tls-key']);
  if (!isLoopback && !tls) throw new UsageError('An address other machines can reach needs --tls-cert and --tls-key.');
  const port = Number(options.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError('--port is a number from 0 to 65535.');
  const directory = deviceDirectory(options['data-dir'] ?? homeDirectory(io));
  await runDevice({
    config: config.output,
    directory,
    host,
    port,
    ...(tls ? { tls } : {}),
    env: io.env,
    signal: io.signal,
    onReady: (ready) => {
      onReady(ready);
      say(io, `Keys: ${connectorKeyFile(directory)} and ${ownerKeyFile(directory)}`);
      if (config.output.approve === 'owner')
        say(io, `Approve tabs at ${ready.url}/ with the owner’s key, or with "jev-host device approve".`);
    },
  });
  return 0;
}

function tlsOf(certFile: string | undefined, keyFile: string | undefined) {
  if (certFile === undefined && keyFile === undefined) return undefined;
  const files = { certFile: needed(certFile, 'tls-cert'), keyFile: needed(keyFile, 'tls-key') };
  return readTlsFiles(files, { certFile: '--tls-cert', keyFile: '--tls-key' });
}

const homeDirectory = (io: CommandIo) => dataDirectory({ env: io.env });

interface DeviceTab {
  id: string;
  title: string;
  url: string;
  leased: boolean;
  grants: { id: string; control: boolean; expiresAt: number }[];
}

async function owner(action: string, args: string[], io: CommandIo): Promise<number> {
  const { options, positionals } = parseOptions(args, {
    'data-dir': 'text',
    config: 'text',
    url: 'text',
    'owner-key-file': 'text',
    'read-only': 'flag',
    minutes: 'text',
    json: 'flag',
  });
  const device = await findDevice(options, io);
  const ask = (method: string, path: string, body?: unknown) => askDevice(device, method, path, body);
  const [subject] = positionals;
  switch (action) {
    case 'tabs': {
      const { tabs } = (await ask('GET', '/v1/tabs')) as { tabs: DeviceTab[] };
      if (options.json) print(io, JSON.stringify(tabs, null, 2));
      else for (const tab of tabs) print(io, `${tab.id}  ${tab.title}  ${tab.url}${tab.grants.map(granted).join('')}`);
      return 0;
    }
    case 'approve': {
      const minutes = Number(options.minutes ?? 60);
      if (!(minutes > 0 && minutes <= 1440)) throw new UsageError('--minutes is a number from 1 to 1440.');
      const body = {
        tab_id: needed(subject, 'TAB'),
        control: !options['read-only'],
        ttlMs: Math.round(minutes * 60_000),
      };
      const { grant } = (await ask('POST', '/v1/grants', body)) as { grant: { id: string } };
      print(io, grant.id);
      return 0;
    }
    case 'revoke':
      await ask('DELETE', `/v1/grants/${encodeURIComponent(needed(subject, 'GRANT'))}`);
      return 0;
    case 'open': {
      const { id } = (await ask('POST', '/v1/tabs', subject === undefined ? {} : { url: subject })) as { id: string };
      print(io, id);
      return 0;
    }
    default:
      await ask('POST', '/v1/stop');
      return 0;
  }
}

const granted = (grant: { id: string; control: boolean; expiresAt: number }) =>
  `  [${grant.id} ${grant.control ? 'may act' : 'may look'} until ${new Date(grant.expiresAt).toISOString()}]`;

async function findDevice(
  options: {
    config: string | undefined;
    'data-dir': string | undefined;
    url: string | undefined;
    'owner-key-file': string | undefined;
  },
  io: CommandIo,
): Promise<{ url: string; key: string }> {
  if (options.url !== undefined) {
    return { url: options.url, key: readFileSync(needed(options['owner-key-file'], 'owner-key-file'), 'utf8').trim() };
  }
  const directory =
    options.config === undefined
      ? (options['data-dir'] ?? homeDirectory(io))
      : await dataDirectoryOf({
          config: options.config,
          'data-dir': options['data-dir'],
          url: undefined,
          'key-file': undefined,
        });
  const address = readAddress(deviceDirectory(directory)) ?? readAddress(directory);
  if (!address) throw new UsageError(`No device is running in ${directory}; name its folder with --data-dir.`);
  return { url: address.url, key: address.ownerKey };
}

async function askDevice(
  device: { url: string; key: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(new URL(path, device.url), {
      method,
      headers: {
        authorization: `Bearer ${device.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new HostError('DEVICE_UNREACHABLE', { address: device.url }, { cause: error });
  }
  const value = (await response.json()) as { error?: string; cause?: string };
  const { error = response.status, cause } = value;
  if (!response.ok) refuse('DEVICE_REFUSED', { error: cause === undefined ? error : `${error} (${cause})` });
  return value;
}
