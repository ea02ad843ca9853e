/**
 * Other browser servers, each through its own MCP interface, installed into a scratch folder for this run only.
 * A peer that cannot be installed or started is left out, and the reason is printed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const textOf = (result) => (result.content ?? []).map((part) => part.text ?? '').join('\n');

function playwright(name, extra) {
  return {
    name,
    package: '@playwright/mcp',
    bin: 'playwright-mcp',
    args: (chromium) => ['--headless', '--isolated', '--no-sandbox', '--executable-path', chromium, ...extra],
    open: (call, url) => call('browser_navigate', { url }),
    observe: async (call) => textOf(await call('browser_snapshot', {})),
    find: (text, label) => new RegExp(`"${label}".*?\\[ref=(\\w+)\\]`).exec(text)?.[1],
    click: (call, target, element) => call('browser_click', { element, target }),
    // Its answer to a click names a file with the page as it is after it.
    after: async (_call, result, folder) => {
      const file = /\[Snapshot\]\(([^)]+)\)/.exec(textOf(result))?.[1];
      return file ? readFileSync(join(folder, file), 'utf8') : textOf(result);
    },
    controls: (text) =>
      (text.match(/^\s*- '?(?:button|link|checkbox|combobox|option) /gm) ?? []).filter(
        (line) => !line.includes('option'),
      ).length,
  };
}

export const peers = [
  playwright('Playwright MCP, defaults', []),
  playwright('Playwright MCP, tuned', ['--timeout-settle', '0', '--codegen', 'none']),
  {
    name: 'chrome-devtools-mcp',
    package: 'chrome-devtools-mcp',
    bin: 'chrome-devtools-mcp',
    args: (chromium) => [
      '--headless',
      '--isolated',
      '--executablePath',
      chromium,
      '--chromeArg=--no-sandbox',
      '--usageStatistics=false',
    ],
    open: (call, url) => call('navigate_page', { pageId: 1, url, type: 'url' }),
    observe: async (call) => textOf(await call('take_snapshot', { pageId: 1 })),
    find: (text, label) => new RegExp(`uid=(\\S+) \\w+ "${label}"`).exec(text)?.[1],
    click: async (call, uid) => call('click', { pageId: 1, uid, includeSnapshot: true }),
    after: async (_call, result) => textOf(result),
    controls: (text) => (text.match(/uid=\S+ (?:button|link|checkbox|combobox) /g) ?? []).length,
  },
];

/** Not measured, and why. */
export const notMeasured =
  'agent-browser: the version that the registry offers (0.27) has a command line and no MCP interface.';

export function installPeers() {
  const folder = mkdtempSync(join(tmpdir(), 'device-peers-'));
  writeFileSync(join(folder, 'package.json'), '{}');
  const packages = [...new Set(peers.map((peer) => peer.package))];
  const done = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: folder,
    encoding: 'utf8',
  });
  return {
    folder,
    problem: done.status === 0 ? undefined : (done.stderr || 'npm is not to be had').trim().split('\n')[0],
  };
}

export async function startPeer(peer, folder, chromium) {
  const client = new Client({ name: 'bench', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(folder, 'node_modules', '.bin', peer.bin), ...peer.args(chromium)],
    cwd: folder,
    stderr: 'ignore',
  });
  await client.connect(transport);
  const call = (name, args) => client.callTool({ name, arguments: args }, undefined, { timeout: 60_000 });
  return {
    name: peer.name,
    open: (url) => peer.open(call, url),
    observe: () => peer.observe(call),
    controls: peer.controls,
    async clickAndSee(label) {
      const before = await peer.observe(call);
      const ref = peer.find(before, label);
      if (!ref) throw new Error(`${peer.name} does not show "${label}"`);
      const start = performance.now();
      const result = await peer.click(call, ref, label);
      const page = await peer.after(call, result, folder);
      return { ms: performance.now() - start, page, refused: result.isError === true };
    },
    close: () => client.close(),
  };
}
