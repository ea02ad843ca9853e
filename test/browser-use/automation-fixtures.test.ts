import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { conditions, scenarios, scriptedEvaluator, scriptedParent } from '../../scripts/fixtures/scenarios.mjs';

const require = createRequire(import.meta.url);
const { runAutomationFixtures } = require('../../scripts/jev-automation-fixtures.cjs');

describe('the regression scenarios', () => {
  it.each(scenarios.map(({ name }) => name))(
    '%s ends as it should under every condition',
    async (scenario) => {
      const report = await runAutomationFixtures({ scenario });
      expect(report.decisions).toBe('scripted');
      expect(report.results).toHaveLength(conditions.length);
      for (const result of report.results) {
        // One task throughout, nothing asked of the user that is known, nothing sent twice.
        expect(result).toMatchObject({ passed: true, tasks: 1, userQuestions: 0, repeated: 0 });
        expect(result.submits).toBeLessThanOrEqual(1);
      }
    },
    120_000,
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
