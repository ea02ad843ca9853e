/**
 * The script that runs inside pages, as text. The build leaves it beside this file; without a build it is put together
 * from its sources once per process.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

let script: string | undefined;

export async function pageScript(): Promise<string> {
  script ??= built() ?? (await bundled());
  return script;
}

function built(): string | undefined {
  if (import.meta.filename.endsWith('.ts')) return undefined;
  try {
    return readFileSync(join(import.meta.dirname, 'page-script.bundle.txt'), 'utf8');
  } catch {
    return undefined;
  }
}

async function bundled(): Promise<string> {
  const { buildSync } = await import('esbuild');
  const result = buildSync({
    entryPoints: [join(import.meta.dirname, 'page', 'main.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'chrome120',
    minify: true,
    legalComments: 'none',
  });
  return result.outputFiles[0]?.text ?? '';
}
