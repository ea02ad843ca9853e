import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiFixture, type Fixture, KEYS } from '../api/fixture.ts';
import { conformanceServer } from './fixtures.ts';
import { keyProxy } from './key-proxy.ts';

const root = join(import.meta.dirname, '../..');
/** Milliseconds for one revision's scenarios. */
const BOUND_MS = 150_000;

let fixture: Fixture;
let proxy: Awaited<ReturnType<typeof keyProxy>>;
let results: string;

beforeAll(async () => {
  fixture = await apiFixture(
    { limits: { requestsPerMinute: 1_000_000, concurrentRequests: 1000 } },
    { mcpServer: () => conformanceServer(() => fixture.api.toolsChanged()) },
  );
  proxy = await keyProxy(fixture.url, KEYS.writer);
  results = mkdtempSync(join(tmpdir(), 'conformance-'));
});
afterAll(async () => {
  await proxy?.close();
  await fixture?.close();
  rmSync(results, { recursive: true, force: true });
});

/** Runs the suite in a process of its own, as its authors ship it. */
function suite(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(
    process.execPath,
    [
      '--import',
      join(import.meta.dirname, 'node20-shim.mjs'),
      join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'),
      'server',
      '--url',
      `${proxy.url}/mcp`,
      '--expected-failures',
      join(import.meta.dirname, 'baseline.yml'),
      '--output-dir',
      results,
      ...args,
    ],
    { cwd: results, env: { PATH: process.env.PATH ?? '', NO_COLOR: '1' }, timeout: BOUND_MS },
  );
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  child.stderr.on('data', (data) => {
    output += data;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

describe('the official conformance suite, on our transport and authentication', () => {
  it.each(['2026-07-28', '2025-11-25'])(
    'passes every scenario that revision %s requires, except those of the baseline',
    async (revision) => {
      const { code, output } = await suite(['--requirements', revision]);
      expect(code, output).toBe(0);
    },
    BOUND_MS + 10_000,
  );
});
