/** Builds dist/: TypeScript to JavaScript with declarations, then the bundles that run inside workers. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, sourcesDigest } from './setup.mjs';

// Built aside and moved into place at the end: a failed or interrupted build leaves the last one as it was.
const dist = join(root, '.dist-building');
rmSync(dist, { recursive: true, force: true });
const sources = sourcesDigest();

const tsc = join(root, 'node_modules/typescript-native/bin/tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', dist], {
  stdio: 'inherit',
  cwd: root,
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

// Files that are not TypeScript but belong beside the compiled code (manifests, pages, data).
for (const room of ['core', 'sdk', 'host', 'plugins']) copyAssets(join(root, room), join(dist, room));

// Each room may bring one bundling step of its own: `<room>/build.mjs` exports build({ root, dist }).
for (const step of ['host/plugins/build.mjs', 'host/devices/browser/build.mjs', 'host/api/build.mjs']) {
  const file = join(root, step);
  if (existsSync(file)) await (await import(file)).build({ root, dist });
}

writeFileSync(join(dist, '.sources'), sources);
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(dist, join(root, 'dist'));

function copyAssets(from, to) {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory()) copyAssets(source, join(to, entry.name));
    else if (/\.(json|html|css|wasm|txt|md|jsgf)$/.test(entry.name)) {
      mkdirSync(to, { recursive: true });
      cpSync(source, join(to, entry.name));
    }
  }
}
