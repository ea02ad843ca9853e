/**
 * `npm run test:nodes [-- VERSION ...]`: repeats what depends on the Node version, on Node 22 and 24. The newer versions come
 * from npm as the package `node`, into a folder of this checkout.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import {
  checkNode,
  ensureBuild,
  ensureChromium,
  ensureDependencies,
  orExplain,
  root,
  run,
  SetupProblem,
} from './setup.mjs';

await orExplain(() => {
  checkNode();
  ensureDependencies(console.error);
  process.env.JEV_HOST_CHROMIUM = ensureChromium(console.error);
  ensureBuild(console.error);
});

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24'];
/** The sandbox, the processes, the store and the whole path of a task. */
const whatMatters = ['test', 'host/plugins', 'core/store', 'sdk'];
let failures = 0;
for (const version of versions) {
  const executable = await orExplain(() => nodeOfVersion(version));
  const env = { ...process.env, JEV_HOST_BUILT: '1', PATH: `${join(executable, '..')}${delimiter}${process.env.PATH}` };
  const tests = run(executable, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...whatMatters], { env });
  const demo = run(executable, [join(root, 'scripts/start.mjs'), '--once'], { env });
  const ok = tests.status === 0 && demo.status === 0;
  console.log(
    `Node ${version}: tests ${tests.status === 0 ? 'passed' : 'FAILED'}, demo ${demo.status === 0 ? 'passed' : 'FAILED'}`,
  );
  if (!ok) failures++;
}
process.exit(failures === 0 ? 0 : 1);

function nodeOfVersion(version) {
  if (!/^\d{2}(\.\d+){0,2}$/.test(version)) throw new SetupProblem(`"${version}" is not a Node version such as 22.`);
  const folder = join(root, '.cache', `node-${version}`);
  const executable = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (existsSync(executable)) return executable;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const installed = run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `node@${version}`], {
    cwd: folder,
  });
  if (installed.status !== 0 || !existsSync(executable))
    throw new SetupProblem(`Node ${version} could not be installed.`);
  return executable;
}
