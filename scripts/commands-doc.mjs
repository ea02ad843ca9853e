/** docs/commands.md, made from the golden table that the tests run, so that the page can say nothing that does not hold. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** @param {string} name */
const golden = (name) => import(join(root, `dist/sdk/commands/golden/${name}.js`));

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
  const { goldenCommands } = await golden('commands');
  const { goldenNumbers } = await golden('numbers');
  const { goldenParts, goldenSteps } = await golden('steps');
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
    `<!-- Written by scripts/generate-docs.mjs from sdk/commands/golden. Change these, not this page. -->`,
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
