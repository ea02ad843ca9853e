/** Tests of workers, processes and the command line run what `npm run build` made, so it is made once before all. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export function setup(): void {
  if (process.env.JEV_HOST_BUILT === '1') return;
  const root = join(import.meta.dirname, '..');
  const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit', cwd: root });
  if (built.status !== 0) throw new Error('The build failed; see above.');
}
