/** What it costs to read one command. The limit is 50 µs for the dearest phrase of the golden table. */
import { performance } from 'node:perf_hooks';
import { parseCommand } from '../dist/sdk/commands/command.js';
import { goldenKeys, goldenPlaces, goldenTexts } from '../dist/sdk/commands/golden/commands.js';
import { goldenNumbers } from '../dist/sdk/commands/golden/numbers.js';
import { goldenSteps } from '../dist/sdk/commands/golden/steps.js';
import { calculatorPresses } from '../dist/sdk/commands/numbers.js';
import { splitSteps } from '../dist/sdk/commands/steps.js';

const LIMIT_US = 50;
const ROUNDS = 100;

/** Time for one call in µs: the best of several rounds, so that other work on the machine does not count. */
function cost(call) {
  for (let round = 0; round < ROUNDS; round++) call();
  const times = Array.from({ length: 25 }, () => {
    const start = performance.now();
    for (let round = 0; round < ROUNDS; round++) call();
    return ((performance.now() - start) / ROUNDS) * 1000;
  });
  return Math.min(...times);
}

function row(name, inputs, read) {
  const costs = inputs.map((input) => [cost(() => read(input)), input]).sort(([a], [b]) => a - b);
  const [median] = costs[Math.floor(costs.length / 2)];
  const [most, dearest] = costs.at(-1);
  console.log(
    `| ${name} | ${inputs.length} | ${median.toFixed(1)} | ${most.toFixed(1)} | ${JSON.stringify(dearest.slice(0, 40))} |`,
  );
  return most;
}

console.log('| reads | inputs | median µs | dearest µs | dearest |\n| --- | --- | --- | --- | --- |');
const phrases = (groups) => groups.flatMap((group) => group.phrases);
const parse = (phrase) => parseCommand(phrase, 'browser');
const most = Math.max(
  row('keys, scrolling', phrases(goldenKeys), parse),
  row('history, tabs, sites', phrases(goldenPlaces), parse),
  row('searching, typing, other', phrases(goldenTexts), parse),
  row(
    'numbers',
    goldenNumbers.flatMap(([, list]) => list),
    calculatorPresses,
  ),
);
row('step lists (no limit)', goldenSteps.map(({ message }) => message).filter(Boolean), splitSteps);
console.log(`\nThe dearest command takes ${(most / LIMIT_US).toFixed(2)} of its limit of ${LIMIT_US} µs.`);
if (most > LIMIT_US) process.exit(1);
