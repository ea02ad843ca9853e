import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { conditions, scenarios, scriptedEvaluator, scriptedParent } from '../../scripts/fixtures/scenarios.mjs';
import { jevHost } from '../cli.ts';

const require = createRequire(import.meta.url);
const { runAutomationFixtures } = require('../../scripts/jev-automation-fixtures.cjs');

const recordings = mkdtempSync(join(tmpdir(), 'recorded-fixtures-'));
afterAll(() => rmSync(recordings, { recursive: true, force: true }));

/** Replays every run of one scenario under one condition, without a network. */
async function replayed(scenario: string, condition: string) {
  const runs = join(recordings, `${scenario}, ${condition}`);
  const connect = vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(() => {
    throw new Error('the network was used');
  });
  try {
    const found = [];
    for (const name of readdirSync(runs)) {
      const file = join(runs, name);
      const { code, stdout, stderr } = await jevHost(['replay', file, '--json']);
      const recorded = readFileSync(file, 'utf8').match(/"name":"jev.evaluate"/g)?.length ?? 0;
      found.push({ scenario, condition, name, code, stderr, recorded, ...JSON.parse(stdout || '{}') });
    }
    expect(connect).not.toHaveBeenCalled();
    return found;
  } finally {
    connect.mockRestore();
  }
}

describe('the regression scenarios', () => {
  it.each(scenarios.map(({ name }) => name))(
    '%s ends as it should under every condition, and its recorded runs decide the same offline',
    async (scenario) => {
      const report = await runAutomationFixtures({ scenario, recordings });
      expect(report.decisions).toBe('scripted');
      expect(report.results).toHaveLength(conditions.length);
      for (const result of report.results) {
        // One task throughout, nothing asked of the user that is known, nothing sent twice.
        expect(result).toMatchObject({ passed: true, tasks: 1, userQuestions: 0, repeated: 0 });
        expect(result.submits).toBeLessThanOrEqual(1);
        const runs = await replayed(scenario, result.condition);
        expect(runs.length).toBeGreaterThan(0);
        for (const run of runs) expect(run).toMatchObject({ code: 0, same: true, decisions: run.recorded });
      }
    },
    240_000,
  );

  it('says that decisions are live when a module makes them, and fails a parent that asks the user what it knows', async () => {
    const [flights] = scenarios;
    if (!flights) throw new Error('no scenario');
    const asking = { ...flights, facts: {} };
    const inference = {
      evaluate: scriptedEvaluator(flights, { name: 'normal', ends: 'verified' }),
      parent: scriptedParent(asking),
    };
    const report = await runAutomationFixtures({ scenario: flights.name, condition: 'normal', inference });
    expect(report).toMatchObject({ decisions: 'live', passed: false, results: [{ userQuestions: 1 }] });
  });
});
