import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codes } from '../sdk/contract/codes.ts';
import { generatedPages } from './generate-docs.mjs';

const root = join(import.meta.dirname, '..');

describe('pages that follow from data', () => {
  for (const [page, make] of Object.entries(generatedPages)) {
    it(`${page} is what its data says; \`node scripts/generate-docs.mjs\` writes it`, async () => {
      expect(existsSync(join(root, page))).toBe(true);
      expect(readFileSync(join(root, page), 'utf8')).toBe(await make());
    });
  }

  it('lists every code with a sentence, a next action and a word about trying again', () => {
    const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');
    for (const [code, entry] of Object.entries(codes)) {
      expect(page).toContain(`| \`${code}\` |`);
      expect(entry.next.length).toBeGreaterThan(5);
    }
  });
});
