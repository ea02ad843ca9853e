/** Runs a plugin's own tests with Node's test runner: TypeScript is bundled first, so that every supported Node can run it. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

const home = fileURLToPath(new URL('../../../', import.meta.url));
/** From source, the compiled package lies in dist. */
const compiled = existsSync(join(home, 'sdk/index.js')) ? home : join(home, 'dist');

/** @returns the exit code of the test run; 1 when there are no tests. */
export async function runAuthorTests(
  directory: string,
  io: { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream; signal: AbortSignal },
): Promise<number> {
  const tests = readdirSync(directory).filter((name) => /\.test\.(?:ts|js|mjs)$/.test(name));
  if (tests.length === 0) {
    io.stderr.write('There is no test here. Name it something.test.ts.\n');
    return 1;
  }
  // Inside the folder, so that the plugin's own packages are found.
  const out = join(directory, '.jev-host-tests');
  mkdirSync(out, { recursive: true });
  try {
    await esbuild.build({
      absWorkingDir: directory,
      entryPoints: tests.map((name) => join(directory, name)),
      outdir: out,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      sourcemap: 'inline',
      logLevel: 'silent',
      // The tests name the plugin's folder by their own place, which must stay what it was.
      banner: { js: '' },
      define: { 'import.meta.dirname': JSON.stringify(directory) },
      plugins: [ownSdk],
    });
    const files = readdirSync(out).map((name) => join(out, name));
    const child = spawn(process.execPath, ['--enable-source-maps', '--test', ...files], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: io.signal,
    });
    child.stdout.pipe(io.stdout, { end: false });
    child.stderr.pipe(io.stderr, { end: false });
    return await new Promise((resolve) => {
      child.once('error', () => resolve(1));
      child.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The SDK of the host that runs the tests, whether or not it is installed beside the plugin. */
const ownSdk: esbuild.Plugin = {
  name: 'own-sdk',
  setup(build) {
    build.onResolve({ filter: /^jev-host\/sdk(?:\/testing)?$/ }, ({ path }) => {
      const file = path.endsWith('testing') ? 'sdk/testing/index.js' : 'sdk/index.js';
      return { path: pathToFileURL(join(compiled, file)).href, external: true };
    });
  },
};
