/** docs/configuration.md, made from the schema that checks the file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** @returns {Promise<string>} */
export async function configurationDoc() {
  const { configReference } = await import(join(root, 'dist/host/config/reference.js'));
  const intro = readFileSync(join(root, 'docs/configuration.intro.md'), 'utf8').trimEnd();
  return `${intro}\n\n## Every key\n\n${configReference()}\n`;
}
