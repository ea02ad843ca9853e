/**
 * Builds what runs inside plugin workers: the worker's bootstrap and, for the process tier, the child with Piscina's own
 * worker file beside it; then the bundles of the plugins that ship with the host.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

export async function build({ root, dist }) {
  const out = join(dist, 'host/plugins/runtime');
  const common = {
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minify: true,
    // Class and function names are seen by plugin authors.
    keepNames: false,
    logLevel: 'error',
    external: ['@napi-rs/nice'],
    // Lockdown refuses a sloppy realm, and Piscina takes a module's export for its task.
    banner: { js: '"use strict";' },
  };
  const from = (file) => join(root, 'host/plugins', file);
  await esbuild.build({
    ...common,
    entryPoints: [from('worker/main.ts')],
    outfile: join(out, 'worker.cjs'),
    footer: { js: 'module.exports=module.exports.serve;' },
  });
  if (existsSync(from('child/main.ts'))) {
    await esbuild.build({ ...common, entryPoints: [from('child/main.ts')], outfile: join(out, 'child.cjs') });
    // Piscina looks for this file beside the code that holds it.
    const piscina = createRequire(join(root, 'package.json')).resolve('piscina');
    await esbuild.build({
      ...common,
      entryPoints: [join(piscina, '../worker.js')],
      outfile: join(out, 'worker.js'),
    });
  }
  await writeProgramEngine({ root, dist, out });
  // The package is ESM; these files are not.
  writeFileSync(join(out, 'package.json'), '{"type":"commonjs"}\n');

  const compiled = join(dist, 'host/plugins/bundle/bundle.js');
  const plugins = join(dist, 'plugins');
  if (!existsSync(compiled) || !existsSync(plugins)) return;
  const { writeBundle } = await import(pathToFileURL(compiled).href);
  for (const name of readdirSync(plugins)) {
    if (existsSync(join(plugins, name, 'plugin.json'))) await writeBundle(join(plugins, name));
  }
}

/** The engine that programs run in, with its memory ceiling written into the binary. */
async function writeProgramEngine({ root, dist, out }) {
  const compiled = join(dist, 'host/programs/engine-binary.js');
  if (!existsSync(compiled)) return;
  const { withMemoryCeiling, PROGRAM_ENGINE_PAGES } = await import(pathToFileURL(compiled).href);
  const source = createRequire(join(root, 'package.json')).resolve('quickjs-wasi/quickjs.wasm');
  writeFileSync(join(out, 'program-engine.wasm'), withMemoryCeiling(readFileSync(source), PROGRAM_ENGINE_PAGES));
}
