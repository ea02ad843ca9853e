/**
 * `npm test`: every check that needs no paid service, with its own set-up. Ends with the line
 * `N passed, N failed, N skipped`, which counts Vitest's tests and one for each other check.
 *
 * Arguments are passed to Vitest, so `npm test -- core/jev` runs the checks and that room's tests.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkNode, ensureBuild, ensureChromium, ensureDependencies, orExplain, root, run } from './setup.mjs';

await orExplain(() => {
  checkNode();
  ensureDependencies(console.error);
  process.env.JEV_HOST_CHROMIUM = ensureChromium(console.error);
});

const node = process.execPath;
const bin = (file) => join(root, 'node_modules', file);
const checks = [
  ['lint and format', node, [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']],
  ['types', node, [bin('typescript-native/bin/tsc'), '-p', '.']],
  [
    'dependency rule',
    node,
    [
      bin('dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      '.dependency-cruiser.mjs',
      'core',
      'sdk',
      'host',
      'plugins',
    ],
  ],
];

let passed = 0;
let failed = 0;
let skipped = 0;
for (const [name, command, args] of checks) {
  const ok = run(command, args).status === 0;
  console.log(`${ok ? 'ok' : 'FAILED'}: ${name}`);
  if (ok) passed++;
  else failed++;
}

await orExplain(() => ensureBuild(console.error));
const folder = mkdtempSync(join(tmpdir(), 'jev-host-test-'));
const report = join(folder, 'report.json');
const vitest = run(
  node,
  [
    bin('vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  {
    env: { ...process.env, JEV_HOST_BUILT: '1' },
  },
);
try {
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  passed += counts.numPassedTests;
  failed += counts.numFailedTests;
  skipped += counts.numPendingTests + counts.numTodoTests;
  // A file that could not even be loaded has no tests to count.
  failed += counts.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
} catch {
  console.error('Vitest wrote no report.');
  failed++;
}
rmSync(folder, { recursive: true, force: true });
if (vitest.status !== 0 && failed === 0) failed++;

console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 ? 0 : 1);
