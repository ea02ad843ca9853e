/** Puts the script that runs inside pages into one text beside the device's compiled code. */
import { join } from 'node:path';
import { build as bundle } from 'esbuild';

export async function build({ root, dist }) {
  await bundle({
    entryPoints: [join(root, 'host/devices/browser/page/main.ts')],
    outfile: join(dist, 'host/devices/browser/page-script.bundle.txt'),
    bundle: true,
    format: 'iife',
    target: 'chrome120',
    minify: true,
    legalComments: 'none',
  });
}
