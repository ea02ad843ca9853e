/**
 * The package as a third party meets it: packed, unpacked into an empty project, and used by plugins that know nothing of
 * this repository.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
let project: string;
const installed = (path: string): string => join(project, 'node_modules/jev-host', path);

function run(command: string, args: string[], cwd = project): string {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${done.status}:\n${done.stdout}\n${done.stderr}`);
  return done.stdout;
}
const jevHost = (...args: string[]): string => run(process.execPath, [installed('dist/host/main.js'), ...args]);
const typeCheck = (...args: string[]): string =>
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...args]);

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'third-party-'));
  const packed = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', project], root).trim();
  mkdirSync(join(project, 'node_modules'));
  run('tar', ['xzf', packed, '-C', join(project, 'node_modules')]);
  cpSync(join(project, 'node_modules/package'), installed(''), { recursive: true });
  rmSync(join(project, 'node_modules/package'), { recursive: true });
  // The packages that an install would bring are on this machine already. What plugins bundle must be a real copy: links
  // that lead out of a project are not followed.
  cpSync(join(root, 'node_modules/valibot'), join(project, 'node_modules/valibot'), {
    recursive: true,
    dereference: true,
  });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name.startsWith('.') || existsSync(join(project, 'node_modules', name))) continue;
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  }
  writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  for (const example of ['form-filler', 'word-count']) {
    cpSync(join(root, 'docs/examples', example), join(project, example), { recursive: true });
  }
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the packed package', () => {
  it('holds what its exports name, with declarations, and no sources or tests', () => {
    const { exports } = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
    for (const entry of Object.values(exports as Record<string, string | { types: string; default: string }>)) {
      for (const file of typeof entry === 'string' ? [entry] : [entry.types, entry.default]) {
        expect(existsSync(installed(file)), file).toBe(true);
      }
    }
    expect(existsSync(installed('host'))).toBe(false);
    expect(existsSync(installed('dist/host/plugins/runtime/worker.cjs'))).toBe(true);
  });

  it.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('type-checks under module %s with moduleResolution %s', (module, moduleResolution) => {
    const file = join(project, `uses-${moduleResolution}.ts`);
    writeFileSync(
      file,
      `import { defineController, type BrowserRunInput, type RunContext } from 'jev-host/sdk';
import { runPlugin, scriptedBrowser, stubEvaluator } from 'jev-host/sdk/testing';
const manifest = { id: 'x', kind: 'controller', capabilities: { log: {} } } as const;
export const plugin = defineController(manifest, {
  run(_input, ctx) {
    ctx.log.info('here');
    // @ts-expect-error not asked for
    return ctx.storage.get('key');
  },
});
export type Uses = [BrowserRunInput, RunContext<'log'>];
export const result: Promise<unknown> = runPlugin({ plugin: '.', ports: { evaluate: stubEvaluator() } });
export const tab: string = scriptedBrowser({ pages: {} }).scope.tab_id;
`,
    );
    typeCheck(
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--types',
      'node',
      '--target',
      'es2022',
      '--module',
      module,
      '--moduleResolution',
      moduleResolution,
      file,
    );
  });
});

describe.each(['form-filler', 'word-count'])('the example %s, as a package of its own', (example) => {
  it('type-checks against the declarations', () => {
    typeCheck('-p', join(project, example));
  });

  it('is ready for the sandbox', () => {
    expect(JSON.parse(jevHost('plugin', 'check', example, '--json'))).toMatchObject({ ok: true, findings: [] });
  });

  it('passes its tests', () => {
    expect(jevHost('plugin', 'test', example)).toMatch(/fail 0/);
  });

  it('is delivered as one archive that is ready as well', () => {
    const { file } = JSON.parse(jevHost('plugin', 'pack', example, '--json'));
    const delivered = join(project, `${example}-delivered`);
    mkdirSync(delivered);
    run('tar', ['xzf', file, '-C', delivered]);
    expect(JSON.parse(jevHost('plugin', 'check', join(delivered, example), '--json'))).toMatchObject({ ok: true });
  });
});

describe('a newcomer, who follows docs/plugins.md to the letter', () => {
  const page = readFileSync(join(root, 'docs/plugins.md'), 'utf8');
  const shown = page.slice(page.indexOf('## Run one'));
  const [, configText = ''] = /```json\n([\s\S]*?)```/.exec(shown) ?? [];

  it('comes from `plugin new` to an approved plugin that carries out a task', async () => {
    const home = mkdtempSync(join(tmpdir(), 'newcomer-'));
    const shop = await oneButtonShop();
    const started: ChildProcess[] = [];
    const start = async (...args: string[]) => {
      const child = spawn(process.execPath, [installed('dist/host/main.js'), ...args], {
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { PATH: process.env.PATH, HOME: home },
      });
      started.push(child);
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      return line;
    };
    const folder = join(project, 'form-filler-new');
    jevHost('plugin', 'new', 'form-filler', '--out', folder);
    jevHost('plugin', 'test', folder);
    expect(JSON.parse(jevHost('plugin', 'check', folder, '--json'))).toMatchObject({ ok: true, findings: [] });
    const { file } = JSON.parse(jevHost('plugin', 'pack', folder, '--json'));
    run('tar', ['xzf', file, '-C', home]);
    const config = JSON.parse(configText);
    config.plugins['form-filler'].path = join(home, 'form-filler');
    config.gateway.api.port = 0;
    // The rest of the configuration is the quick start's: a stand-in that judges, and a browser.
    const judge = /http:\S+/.exec(await start('evaluator', '--engine', 'lexical'))?.[0];
    writeFileSync(join(home, 'jev.key'), 'stand-in', { mode: 0o600 });
    config.gateway.jev = {
      enabled: true,
      baseUrl: judge,
      model: 'jev-1.13.0',
      apiKeyFile: join(home, 'jev.key'),
      features: { browserTasks: { enabled: true } },
      browser: { bindings: [] },
    };
    config.devices = { browser: { enabled: true, approve: 'always', navigation: { allow: [shop.url] } } };
    const configFile = join(home, 'host.json');
    writeFileSync(configFile, JSON.stringify(config));
    const which = ['--config', configFile];
    jevHost('config', 'check', ...which);
    jevHost('doctor', ...which, '--data-dir', join(home, 'data'));
    try {
      expect(await start('serve', ...which, '--data-dir', join(home, 'data'))).toMatch(/^jev-host ready http:/);
      const here = ['--data-dir', join(home, 'data'), ...which];
      const states = () => JSON.parse(jevHost('plugin', 'list', ...here, '--json')).plugins;
      const mine = () => states().find(({ id }: { id: string }) => id === 'form-filler');
      expect(mine()).toMatchObject({ state: 'held', tier: 'process' });
      expect(mine().warnings).toBe(undefined);
      expect(mine().held.difference).toContain('It carries out tasks on targets of the kind "browser".');
      jevHost('plugin', 'approve', 'form-filler', ...here);
      expect(mine()).toMatchObject({ state: 'serving', adapter: 'browser' });
      // Everything it asks for is granted, so nothing of it is refused in the middle of a task.
      expect(mine().grants.sort()).toEqual(
        Object.keys(JSON.parse(readFileSync(join(folder, 'plugin.json'), 'utf8')).capabilities).sort(),
      );
      const { targets } = JSON.parse(jevHost('task', 'targets', ...here, '--json'));
      const target = ['--target', targets[0].session_id, '--start-url', shop.url];
      const [, task = ''] = /^task +(\S+)/m.exec(jevHost('task', 'spawn', 'Buy the jacket', ...target, ...here)) ?? [];
      const receipts = () => jevHost('receipts', 'show', task, ...here);
      await expect.poll(receipts, { timeout: 60_000, interval: 500 }).toMatch(/, ended, /);
      expect(receipts()).toMatch(/tab_navigate +\S+ +confirmed[\s\S]*page_click +\S+ +confirmed/);
      expect(shop.orders()).toBe(1);
    } finally {
      for (const child of started) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      shop.close();
      rmSync(home, { recursive: true, force: true });
    }
  }, 120_000);
});

async function oneButtonShop(): Promise<{ url: string; orders(): number; close(): void }> {
  let orders = 0;
  const server = createServer(({ method }, response) => {
    if (method === 'POST') orders += 1;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      method === 'POST'
        ? '<title>Shop</title><h1>Thank you</h1>'
        : '<title>Shop</title><a href="/help">Help</a><form method="post"><button>Buy the jacket</button></form>',
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders: () => orders,
    close: () => void server.close(),
  };
}
