/**
 * What `npm start` and `npm test` do before anything else, each step skipped when it is already done: the locked
 * dependencies, the build, a Chromium. Plain JavaScript without dependencies, because nothing may be installed yet.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The oldest Node that runs this; package.json `engines` says the same. */
const OLDEST_NODE = [20, 19];

/** A set-up step that cannot go on; its message is the one sentence that a person needs. */
export class SetupProblem extends Error {}

export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    throw new SetupProblem(`Node ${OLDEST_NODE.join('.')} or later is needed; this is ${process.versions.node}.`);
  }
}

/** Installs what package-lock.json names, unless exactly that is installed. */
export function ensureDependencies(say) {
  // A linked folder belongs to another checkout, which looks after it.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const wanted = digest([join(root, 'package-lock.json')]);
  const stamp = join(root, 'node_modules', '.jev-host-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  say('Installing the locked dependencies (once).');
  // The cache stays inside the checkout: a set-up leaves nothing in the home directory.
  const npm = run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--cache', join(root, '.cache', 'npm')]);
  if (npm.status !== 0) throw new SetupProblem('`npm ci` failed; its messages are above.');
  writeFileSync(stamp, wanted);
}

const buildStamp = join(root, 'dist', '.sources');

/** Builds dist/, unless it was built from exactly these sources. */
export function ensureBuild(say) {
  if (existsSync(buildStamp) && readFileSync(buildStamp, 'utf8') === sourcesDigest()) return;
  say('Building.');
  const built = run(process.execPath, [join(root, 'scripts', 'build.mjs')]);
  if (built.status !== 0) throw new SetupProblem('The build failed; its messages are above.');
}

/** What dist/ is made from; the build leaves it beside its result. */
export function sourcesDigest() {
  const rooms = ['core', 'sdk', 'host', 'plugins'].flatMap((room) => filesUnder(join(root, room)));
  const settings = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
  return digest([...rooms, ...settings.map((file) => join(root, file))]);
}

const chromiumNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** @returns {string} the path of a Chromium; installs Debian's package where that is possible. */
export function ensureChromium(say) {
  const found = process.env.JEV_HOST_CHROMIUM ?? onPath(chromiumNames);
  if (found) return found;
  const mayInstall = process.getuid?.() === 0 && onPath(['apt-get']);
  if (!mayInstall)
    throw new SetupProblem(
      'Chromium is missing: run `sudo apt-get install chromium`, or set JEV_HOST_CHROMIUM to its path.',
    );
  say("Installing Debian's Chromium (once).");
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = () =>
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'], quiet);
  if (install().status !== 0) {
    run('apt-get', ['update', '-qq'], quiet);
    if (install().status !== 0)
      throw new SetupProblem('Chromium could not be installed: run `apt-get install chromium` and read its message.');
  }
  const installed = onPath(chromiumNames);
  if (!installed)
    throw new SetupProblem('Chromium was installed but is not on the PATH; set JEV_HOST_CHROMIUM to its path.');
  return installed;
}

export function run(command, args, options = {}) {
  return spawnSync(command, args, { stdio: 'inherit', cwd: root, ...options });
}

function onPath(names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
      const file = join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // Not in this folder.
      }
    }
  }
  return undefined;
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

function digest(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/** A folder inside the checkout for what a run leaves behind. */
export function dataFolder(name) {
  const folder = join(root, '.data', name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Runs the steps and ends the process with one sentence when one of them cannot go on. */
export async function orExplain(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
