import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandsDoc } from './commands-doc.mjs';

it('docs/commands.md says exactly what the golden table says', async () => {
  expect(readFileSync('docs/commands.md', 'utf8')).toBe(await commandsDoc());
});
