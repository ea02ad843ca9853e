import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Runs the second half of the README's first command as a person would; the first half was done by the test's set-up. */
function start(args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'scripts/start.mjs'), ...args], { cwd: root });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('exit', (code) => resolve({ code, output }));
  });
}

it('orders exactly one jacket through a sandboxed plugin, and says what it did', { timeout: 180_000 }, async () => {
  const { code, output } = await start(['--once']);
  expect(output).toMatch(/TYPE_TEXT\s+"Search products"/);
  expect(output).toMatch(/SELECT\s+"Size/);
  expect(output).toMatch(/CLICK\s+"Place order"/);
  expect(output).toContain('Checked against a fresh look at the page: verified.');
  expect(output).toMatch(/page_click\s+[0-9a-f-]{36}\s+confirmed/);
  expect(output).toContain('1 order.');
  expect(output).toContain('Trail jacket, size Medium; to Ada Lindqvist, Harbour Street 12, Gothenburg, 411 17');
  expect(code).toBe(0);
});

it('refuses an option it does not know, before it starts anything', async () => {
  const { code, output } = await start(['--onse']);
  expect(output).toContain('Unknown option --onse');
  expect(code).toBe(2);
});
