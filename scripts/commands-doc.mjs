/**
 * `node scripts/commands-doc.mjs [--check]`: writes docs/commands.md from the golden table that the tests run, so that
 * the page can say nothing that does not hold. With `--check` it only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'docs', 'commands.md');

async function golden() {
  const bundle = await build({
    stdin: {
      contents: ['commands', 'numbers', 'steps']
        .map((name) => `export * from './sdk/commands/golden/${name}.ts';`)
        .join('\n'),
      resolveDir: root,
    },
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'error',
  });
  return import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].text).toString('base64')}`);
}

/** Text in a code span of a table cell: every character visible, none of Markdown's own. */
const shown = (text) => {
  const visible = text
    .replace(/[\u200b-\u200f\ufeff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
    .replaceAll('\r', '')
    .replaceAll('\n', '⏎')
    .replaceAll('|', '\\|');
  if (visible === '') return '(nothing)';
  if (/^\s|\s$/.test(visible)) return `\`"${visible}"\``;
  return `\`${visible}\``;
};
const list = (phrases) => phrases.map(shown).join(' · ');
const table = (heads, rows) =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const short = (text) => (text.length > 160 ? `${text.slice(0, 157)}...` : text);

/** @returns the page's text. */
export async function commandsDoc() {
  const { goldenCommands, goldenNumbers, goldenParts, goldenSteps } = await golden();
  const count = new Set(
    [...goldenCommands, ...goldenNumbers.map(([, phrases]) => ({ phrases }))].flatMap(({ phrases }) => phrases),
  ).size;
  const intro = readFileSync(join(root, 'docs', 'commands.intro.md'), 'utf8').trimEnd();
  const areas = [...new Set(goldenCommands.map(({ about }) => about))].map((about) => {
    const rows = goldenCommands.filter((entry) => entry.about === about);
    return `### ${about}\n\n${table(
      ['In a browser', 'On a computer', 'Phrases'],
      rows.map(({ browser, computer = browser, phrases }) => [browser, computer, list(phrases)]),
    )}`;
  });
  return `${[
    `<!-- Written by scripts/commands-doc.mjs from sdk/commands/golden. Change these, not this page. -->`,
    intro,
    `## The table\n\n${count} phrases, each of them a test. *decision* means that nothing is read: the command goes to the decision as it was said.`,
    ...areas,
    `## Numbers and calculator words\n\nEach is pressed digit by digit, only where a keypad is on screen.\n\n${table(
      ['Presses', 'Phrases'],
      goldenNumbers.map(([presses, phrases]) => [presses, list(phrases)]),
    )}`,
    `## Step lists\n\n${table(
      ['Example', 'Message (⏎ is a new line)', 'Steps'],
      goldenSteps.map(({ about, message, steps }) => [
        about,
        shown(short(message)),
        steps ? steps.map(shown).join(' → ') : 'one command',
      ]),
    )}`,
    `## Parts of one step\n\n${table(
      ['Step', 'Parts'],
      goldenParts.map(({ step, parts }) => [shown(step), parts.map(shown).join(' → ')]),
    )}`,
  ].join('\n\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await commandsDoc();
  if (!process.argv.includes('--check')) writeFileSync(target, text);
  else if (readFileSync(target, 'utf8') !== text) {
    console.error('docs/commands.md is not what the golden table says. Run: node scripts/commands-doc.mjs');
    process.exit(1);
  }
}
