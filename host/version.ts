/** The version of this package, read from where it is installed. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

function find(directory: string): string {
  try {
    const text = readFileSync(join(directory, 'package.json'), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    const parent = dirname(directory);
    return parent === directory ? '0.0.0' : find(parent);
  }
}

export const VERSION = find(import.meta.dirname);
