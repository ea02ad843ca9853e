/**
 * Writes the pages that follow from data: docs/errors.md from the catalogue of codes. With `--check` it writes nothing and
 * fails when a page is not what it should be.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsDoc } from './commands-doc.mjs';
import { configurationDoc } from './configuration-doc.mjs';
import { ensureBuild, orExplain, root } from './setup.mjs';

const areas = [
  ['authorization', 'Access'],
  ['api', 'HTTP and MCP'],
  ['task', 'Tasks'],
  ['browser', 'Browser targets'],
  ['browser-run', 'Runs in a browser'],
  ['command', 'Direct commands and step lists'],
  ['thinking', 'Thinking'],
  ['jev', 'Evaluations'],
  ['plugin', 'Plugins'],
  ['program', 'Programs'],
  ['credentials', 'Credentials'],
  ['config', 'Configuration and input'],
  ['device', 'Devices'],
  ['store', 'The store'],
  ['cli', 'The command line'],
];

const retryWords = {
  safe: 'yes',
  useless: 'no, it will be refused again',
  unsafe: 'not before reading what happened',
};

/** @returns {Promise<string>} */
export async function errorsPage() {
  const lines = [
    '# Codes',
    '',
    'Every stop, refusal and failure carries one of these codes. "Again" says whether the same call may be made again.',
    'Numbers and names in angle brackets are filled in.',
    '',
  ];
  const listed = new Set();
  const { codes } = await import(join(root, 'dist/sdk/contract/codes.js'));
  for (const [area, title] of areas) {
    const file = join(root, `dist/sdk/contract/codes/${area}.js`);
    if (!existsSync(file)) continue;
    const entries = Object.entries(Object.values(await import(file))[0]).sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) continue;
    lines.push(`## ${title}`, '', '| code | what happened | what to do | again |', '| --- | --- | --- | --- |');
    for (const [code, entry] of entries) {
      listed.add(code);
      lines.push(`| \`${code}\` | ${cell(sentence(entry.says))} | ${cell(entry.next)} | ${retryWords[entry.retry]} |`);
    }
    lines.push('');
  }
  const missing = Object.keys(codes).filter((code) => !listed.has(code));
  if (missing.length > 0) throw new Error(`No area of docs/errors.md lists ${missing.join(', ')}.`);
  return `${lines.join('\n').trimEnd()}\n`;
}

/** A sentence that needs details shows their names. */
function sentence(says) {
  if (typeof says === 'string') return says;
  const named = new Proxy({}, { get: (_target, name) => (typeof name === 'string' ? `<${name}>` : undefined) });
  return says(named);
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

/** Pages by path, each made from data. */
export const generatedPages = {
  'docs/errors.md': errorsPage,
  'docs/commands.md': commandsDoc,
  'docs/configuration.md': configurationDoc,
};

if (process.argv[1]?.endsWith('generate-docs.mjs')) {
  await orExplain(() => ensureBuild(console.error));
  const check = process.argv.includes('--check');
  let stale = 0;
  for (const [page, make] of Object.entries(generatedPages)) {
    const wanted = await make();
    const file = join(root, page);
    if (existsSync(file) && readFileSync(file, 'utf8') === wanted) continue;
    if (check) {
      console.error(`${page} is not up to date: run \`node scripts/generate-docs.mjs\`.`);
      stale++;
    } else {
      writeFileSync(file, wanted);
      console.error(`Wrote ${page}.`);
    }
  }
  process.exit(stale === 0 ? 0 : 1);
}
