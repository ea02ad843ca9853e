/**
 * `npm run bench [-- NAME ...]`: measures. Each `bench/NAME.bench.mjs` prints tables of medians and of ratios within its own
 * run; absolute times depend on the machine.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkNode, ensureBuild, ensureChromium, ensureDependencies, orExplain, root, run } from './setup.mjs';

await orExplain(() => {
  checkNode();
  ensureDependencies(console.error);
  process.env.JEV_HOST_CHROMIUM = ensureChromium(console.error);
  ensureBuild(console.error);
});

const known = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.bench.mjs'))
  .map((file) => file.slice(0, -'.bench.mjs'.length));
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !known.includes(name));
if (unknown) {
  console.error(`There is no benchmark "${unknown}"; there are: ${known.join(', ')}.`);
  process.exit(2);
}
let failed = false;
for (const name of wanted.length ? wanted : known) {
  console.log(`\n## ${name}\n`);
  if (run(process.execPath, ['--expose-gc', join(root, 'bench', `${name}.bench.mjs`)]).status !== 0) failed = true;
}
process.exit(failed ? 1 : 0);
