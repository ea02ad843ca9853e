/** The device server put together: the browser, its records, and the routes by which connectors and the owner reach it. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { openLmdbStore } from '../../../core/store/lmdb-store.ts';
import type { Store } from '../../../core/store/store.ts';
import { HostError } from '../../../sdk/contract/errors.ts';
import { type Incoming, json, type Listening, listen, type Outgoing } from '../serving/http.ts';
import { type DeviceKey, DeviceKeys } from '../serving/keys.ts';
import { type McpTool, mcpServer } from '../serving/mcp.ts';
import { Browser } from './browser.ts';
import type { BrowserDeviceConfig } from './config.ts';
import type { Resolve } from './navigation/names.ts';
import { ownerPage } from './owner-page.ts';
import { Presence } from './presence.ts';
import { Grants } from './records/grants.ts';
import { Leases } from './records/leases.ts';
import { Operations } from './records/operations.ts';
import { Refusal } from './refusal.ts';
import { ToolCalls } from './tool-calls.ts';
import { type ToolName, toolArguments, toolDescriptions } from './tools.ts';

export interface DeviceServerOptions {
  config: BrowserDeviceConfig;
  /** A private directory of this device: its store, profiles, its own id. */
  directory: string;
  host: string;
  port: number;
  tls?: { cert: Buffer; key: Buffer };
  keys: DeviceKey[];
  env: NodeJS.ProcessEnv;
  asRoot: boolean;
  version: string;
  /** Milliseconds without a host after which the device ends itself; without it, never. */
  aloneMs?: number;
  /** Called when the device was told to stop or was alone for too long. */
  onStop(reason: 'asked' | 'alone'): void;
  now(): number;
  /** How names are looked up; as this machine does it otherwise. */
  resolve?: Resolve;
}

export interface DeviceServer {
  url: string;
  /** Names this process. */
  instance: string;
  browser: Browser;
  close(): Promise<void>;
}

/** Milliseconds between two prunings of the records. */
const PRUNE_MS = 3_600_000;

export async function startDeviceServer(options: DeviceServerOptions): Promise<DeviceServer> {
  const { config, directory, now } = options;
  const instance = randomUUID();
  const store = await openLmdbStore({ directory: join(directory, 'store') });
  const leases = new Leases({ now, uuid: randomUUID, isGranted: (id) => grants.isLive(id) });
  const browser = new Browser({
    config,
    directory: join(directory, 'chromium'),
    env: options.env,
    asRoot: options.asRoot,
    now,
    ...(options.resolve ? { resolve: options.resolve } : {}),
    onTabGone: (tabId) => leases.revoke({ tabId }),
  });
  const deviceId = await deviceIdOf(store);
  const grants = new Grants({
    deviceId,
    label: `Chromium on ${hostname()}`.slice(0, 80),
    approve: config.approve,
    now,
    uuid: randomUUID,
    tabs: () => browser.tabs(),
    fate: (tabId) => browser.fate(tabId),
  });
  const operations = new Operations(store, instance, now);
  const calls = new ToolCalls({ browser, grants, leases, operations });
  const presence = new Presence(options.aloneMs, () => options.onStop('alone'));
  const mcp = mcpServer({
    name: 'browser-device',
    version: options.version,
    tools: toolList(),
    call: (name, args, signal) => calls.call(name, args, signal),
  });
  const keys = new DeviceKeys(options.keys);

  const routes: Record<string, (request: Incoming) => Promise<Outgoing | undefined> | Outgoing | undefined> = {
    'GET /v1/status': () =>
      json(200, {
        instance,
        deviceId,
        version: options.version,
        product: browser.product,
        running: browser.running,
        restarts: browser.restarts,
        pid: process.pid,
        approve: config.approve,
        askedAt: grants.askedAt,
      }),
    'GET /v1/grants': async () => {
      await browser.start();
      return json(200, grants.list());
    },
    'GET /v1/tabs': () =>
      json(200, {
        tabs: browser.tabs().map((tab) => ({
          ...tab,
          leased: leases.isHeld(tab.id),
          grants: grants.live().filter((grant) => grant.tabId === tab.id),
        })),
      }),
    'POST /v1/tabs': async ({ body }) => {
      const wish = v.safeParse(v.optional(v.strictObject({ url: v.optional(v.string()) }), {}), body ?? {});
      if (!wish.success) return json(400, { error: 'INVALID_INPUT' });
      await browser.start();
      const opened = await browser.openTab(wish.output.url);
      if (typeof opened === 'string') return json(201, { id: opened });
      return json(403, { error: opened.code, cause: opened.cause });
    },
    'POST /v1/grants': ({ body }) => {
      const wish = v.safeParse(GrantWish, body);
      if (!wish.success) return json(400, { error: 'INVALID_INPUT' });
      return json(201, {
        grant: grants.create({ tabId: wish.output.tab_id, control: wish.output.control, ttlMs: wish.output.ttlMs }),
      });
    },
    'POST /v1/stop': () => {
      setImmediate(() => options.onStop('asked'));
      return json(202, { stopping: true });
    },
    'GET /v1/presence': ({ response }) => {
      presence.hold(response);
      return undefined;
    },
  };

  async function handle(request: Incoming): Promise<Outgoing | undefined> {
    const { method, path } = request;
    if (path === '/mcp') return mcp(request);
    if (method === 'GET' && path === '/healthz') return json(200, { ok: true });
    if (method === 'GET' && path === '/') return ownerPage();
    const revoked = method === 'DELETE' ? /^\/v1\/grants\/([\w-]{1,120})$/.exec(path)?.[1] : undefined;
    if (revoked !== undefined) {
      const grant = grants.revoke(revoked);
      if (!grant) return json(404, { error: 'NOT_FOUND' });
      leases.revoke({ grantId: revoked });
      browser.halt(grant.tabId);
      return json(200, { revoked: grant.id });
    }
    const route = routes[`${method} ${path}`];
    if (!route) return json(404, { error: 'NOT_FOUND' });
    try {
      return await route(request);
    } catch (error) {
      if (error instanceof Refusal) return json(409, { error: error.code });
      // Chromium cannot be had. Where it lies is the owner's to know, not a connector's.
      if (error instanceof HostError) return json(503, { error: error.code });
      throw error;
    }
  }

  const server: Listening = await listen({
    host: options.host,
    port: options.port,
    ...(options.tls ? { tls: options.tls } : {}),
    admit: ({ method, path, headers }) => admit({ method, path, headers }, keys),
    handle,
  });
  const pruning = setInterval(() => void operations.prune().catch(() => {}), PRUNE_MS);
  pruning.unref();
  await operations.prune();

  let closing: Promise<void> | undefined;
  const close = async () => {
    clearInterval(pruning);
    presence.close();
    await server.close();
    await browser.close();
    await store.close();
  };
  return {
    url: server.url,
    instance,
    browser,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const GrantWish = v.strictObject({
  tab_id: v.pipe(v.string(), v.maxLength(120)),
  control: v.boolean(),
  ttlMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1000), v.maxValue(24 * 3_600_000)), 3_600_000),
});

/** What needs no key at all: the owner's page is empty until its key is entered, and health says nothing. */
const OPEN = new Set(['GET /', 'GET /healthz']);
/** What a connector's key reaches. Everything else is the owner's. */
const CONNECTOR = new Set([
  'POST /mcp',
  'GET /mcp',
  'DELETE /mcp',
  'GET /v1/grants',
  'GET /v1/presence',
  'GET /v1/status',
]);

function admit(
  request: { method: string; path: string; headers: Incoming['headers'] },
  keys: DeviceKeys,
): Outgoing | undefined {
  const { method, path, headers } = request;
  const call = `${method} ${path}`;
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host))
    return json(403, { error: 'ORIGIN_NOT_ALLOWED' });
  if (OPEN.has(call)) return undefined;
  const caller = keys.find(headers.authorization);
  if (!caller) return json(401, { error: 'UNAUTHORIZED' }, { 'www-authenticate': 'Bearer' });
  if (caller.role === 'owner' || CONNECTOR.has(call)) return undefined;
  return json(403, { error: 'ACCESS_DENIED' });
}

const isOwnOrigin = (origin: string, host: string | undefined) =>
  origin === `http://${host}` || origin === `https://${host}`;

function toolList(): McpTool[] {
  return (Object.keys(toolArguments) as ToolName[]).map((name) => {
    const { title, description, readOnly, destructive, idempotent } = toolDescriptions[name];
    const { $schema: _, ...inputSchema } = toJsonSchema(toolArguments[name], {
      typeMode: 'input',
      errorMode: 'ignore',
    });
    return {
      name,
      title,
      description,
      inputSchema: inputSchema as Record<string, unknown>,
      annotations: {
        readOnlyHint: readOnly,
        destructiveHint: destructive,
        idempotentHint: idempotent,
        openWorldHint: true,
      },
    };
  });
}

/** The device keeps one id for good, so that what an operator bound to it stays bound. */
async function deviceIdOf(store: Store): Promise<string> {
  const table = store.table<string>({ name: 'device', version: 1 });
  const known = table.get(['id']);
  if (known !== undefined) return known;
  const id = `browser-${randomUUID()}`;
  await store.commit([table.put(['id'], id)]);
  return id;
}

export function packageVersion(): string {
  for (const path of ['../../../package.json', '../../../../package.json']) {
    try {
      return JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8')).version;
    } catch {
      // Built code lies one folder deeper.
    }
  }
  return '0.0.0';
}
