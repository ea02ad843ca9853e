/** `npm start`: sets up what is missing, then does the main job. `npm start -- --once` ends after it. */
import { checkNode, ensureBuild, ensureChromium, ensureDependencies, orExplain } from './setup.mjs';

const usage = `npm start [-- --once]

Sets up what is missing (dependencies, build, Chromium), starts the host with a demo shop and a rehearsal evaluator,
and has a browser task done through it, as an agent would.

  --once   end after the task; exit 0 only if it was verified and the shop counted exactly one order
  --help   show this`;

const args = process.argv.slice(2);
const unknown = args.find((argument) => !['--once', '--help'].includes(argument));
if (unknown) {
  console.error(`Unknown option ${unknown}.\n\n${usage}`);
  process.exit(2);
}
if (args.includes('--help')) {
  console.log(usage);
  process.exit(0);
}

const chromium = await orExplain(() => {
  checkNode();
  ensureDependencies(console.error);
  const executable = ensureChromium(console.error);
  ensureBuild(console.error);
  return executable;
});
const { runDemo } = await import('./demo/run.mjs');
process.exit(await runDemo({ chromium, once: args.includes('--once') }));
