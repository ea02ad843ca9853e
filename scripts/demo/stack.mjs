/**
 * The processes of the demo: the shop (in this process, so that its counts can be read), the rehearsal evaluator and the
 * host, each of the last two a process of its own. End-to-end tests and benchmarks start the same stack.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { root } from '../setup.mjs';
import { startShop } from './shop.mjs';

const main = join(root, 'dist', 'host', 'main.js');
/** Milliseconds within which a process must say that it is ready. */
const READY_MS = 60_000;
/** Milliseconds that a process gets to end by itself. */
const STOP_MS = 15_000;

/**
 * Starts `jev-host <args>` and waits for its line `<words> ready <address>`.
 * @returns {Promise<{ url: string, process: import('node:child_process').ChildProcess, output: () => string, stop(): Promise<number | null> }>}
 */
export async function startJevHost(args, { env = {}, node = process.execPath } = {}) {
  const child = spawn(node, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  });
  const output = [];
  const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`jev-host ${args[0]} was not ready in time:\n${output.join('')}`)),
      READY_MS,
    );
    const read = (chunk) => {
      output.push(chunk.toString());
      const ready = /^jev-host .*ready (\S+)$/m.exec(output.join(''));
      if (!ready) return;
      clearTimeout(timer);
      resolve(ready[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', (chunk) => output.push(chunk.toString()));
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`jev-host ${args[0]} ended with ${code}:\n${output.join('')}`));
    });
  });
  return {
    url,
    process: child,
    output: () => output.join(''),
    exited,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
  };
}

/**
 * Everything that the demo needs, running.
 * @param {{ folder: string, chromium: string, onShopRequest?: (seen: { method: string, path: string }) => void | Promise<void>, configure?: (config: any) => object, hostEnvironment?: Record<string, string>, evaluatorArgs?: string[] }} options
 */
export async function startStack({
  folder,
  chromium,
  onShopRequest,
  configure = (config) => config,
  hostEnvironment = {},
  runHost = (configFile) => startJevHost(['serve', '--config', configFile], { env: hostEnvironment }),
  evaluatorArgs = ['--engine', 'lexical'],
}) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stops = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const shop = await startShop({ onRequest: onShopRequest });
    stops.push(() => shop.close());
    const evaluator = await startJevHost(['evaluator', ...evaluatorArgs, '--port', '0']);
    stops.push(() => evaluator.stop());

    const key = `jh_${randomBytes(24).toString('base64url')}`;
    const evaluatorKey = join(folder, 'evaluator.key');
    writeFileSync(evaluatorKey, randomBytes(24).toString('base64url'), { mode: 0o600 });
    const config = configure({
      dataDir: join(folder, 'data'),
      gateway: {
        api: {
          host: '127.0.0.1',
          port: 0,
          keys: [
            {
              id: 'demo',
              sha256: createHash('sha256').update(key).digest('hex'),
              agents: ['assistant'],
              access: 'write',
            },
          ],
        },
        jev: {
          enabled: true,
          provider: 'typesafe',
          baseUrl: evaluator.url,
          model: 'jev-1.13.0',
          apiKeyFile: evaluatorKey,
          features: { browserTasks: { enabled: true } },
          browser: { bindings: [] },
        },
      },
      agents: [{ id: 'assistant' }],
      devices: {
        browser: {
          enabled: true,
          headless: true,
          executable: chromium,
          approve: 'always',
          navigation: { allow: [shop.url], deny: [] },
        },
      },
    });
    const configFile = join(folder, 'config.json');
    writeFileSync(configFile, JSON.stringify(config, null, 2), { mode: 0o600 });
    const startHost = () => runHost(configFile);
    const host = await startHost();
    const stack = { shop, evaluator, host, key, config, configFile, folder, startHost, stop };
    stops.push(() => stack.host.stop());
    return stack;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** An agent: a real MCP client with the given key. `call` returns the tool's structured result or throws its refusal. */
export async function connectAgent(url, key) {
  const client = new Client({ name: 'demo-agent', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  return {
    client,
    async call(name, args = {}) {
      const result = await client.callTool({ name, arguments: args }, { timeout: 120_000 });
      if (result.isError) {
        const refusal = JSON.parse(result.content[0].text);
        throw Object.assign(new Error(`${name}: ${refusal.message} (${refusal.error})`), { code: refusal.error });
      }
      return result.structuredContent;
    },
    close: () => client.close(),
  };
}

/** A GET or POST of the HTTP interface, parsed. */
export async function api(url, key, path, body) {
  const response = await fetch(new URL(`/api/v1${path}`, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

/** Follows the conversation's events until the signal aborts; calls `onEvent` with each. */
export async function followEvents(url, key, agentId, onEvent, signal) {
  const response = await fetch(new URL(`/api/v1/agents/${agentId}/sessions/default/events`, url), {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    signal,
  });
  if (!response.ok || !response.body) throw new Error(`The event stream answered ${response.status}.`);
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n');
      if (data) onEvent(JSON.parse(data));
    }
  }
}
