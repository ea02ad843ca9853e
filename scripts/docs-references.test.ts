/** What the documentation points at is there: files of this checkout, pages, scripts of npm, commands of the program. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandNames } from '../host/cli/commands.ts';

const root = join(import.meta.dirname, '..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const benches = readdirSync(join(root, 'bench')).flatMap((name) => /^(.+)\.bench\.mjs$/.exec(name)?.[1] ?? []);

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found]) => found ?? '');
/** Those that are not there. */
const missing = (found: string[], known: (name: string) => boolean) =>
  [...new Set(found)].filter((name) => !known(name));

describe.each(pages)('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8');

  it('names files and folders that exist', () => {
    const named = all(text, /`((?:core|sdk|host|plugins|test|scripts|docs|bench)\/[A-Za-z0-9_./-]+)`/g);
    expect(missing(named, (path) => existsSync(join(root, path)))).toEqual([]);
  });

  it('links to pages that exist', () => {
    const links = all(text, /\]\(([^)#:\s]+)(?:#[^)]*)?\)/g);
    expect(missing(links, (link) => existsSync(join(root, dirname(page), link)))).toEqual([]);
  });

  it('tells commands that exist', () => {
    expect(missing(all(text, /npm run ([a-z:-]+)/g), (name) => name in scripts)).toEqual([]);
    expect(missing(all(text, /npm run bench -- ([a-z-]+)/g), (name) => benches.includes(name))).toEqual([]);
    // What the program prints when it answers is shown as well.
    const known = [...commandNames(), 'ready'];
    expect(missing(all(text, /(?:^|`)(?:npx )?jev-host ([a-z]+)/gm), (name) => known.includes(name))).toEqual([]);
  });
});
