import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('./', import.meta.url));

/** A file of the worker's runtime as `npm run build` made it, whether this module runs compiled or from source. */
export function runtimeFile(name: string): string {
  const compiled = join(here, 'runtime', name);
  return existsSync(compiled) ? compiled : join(here, '../../dist/host/plugins/runtime', name);
}
