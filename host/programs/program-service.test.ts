import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programHost } from '../../test/support/program-host.ts';
import { program } from '../../test/support/programs.ts';

describe('programs in the real plugin host', () => {
  let bench: Awaited<ReturnType<typeof programHost>>;
  beforeAll(async () => {
    bench = await programHost({ settings: { maxConcurrentRuns: 8 } });
  });
  afterAll(() => bench.stop());

  it('run, judge, emit and answer', async () => {
    expect(bench.states.map(({ id, state, reason }) => [id, state, reason])).toEqual([
      ['program-runner', 'serving', undefined],
      ['programs', 'serving', undefined],
    ]);
    const run = await bench.call('run', {
      program: program(
        `const { answers } = await jev.evaluate({ state: input, questions: { q: { type: 'noul', instructions: 'Is it?' } } });
         await program.emit({ noul: answers.q.noul });
         await program.sleep(0);
         console.log('done', new Date(0).toISOString());
         return answers.q.noul * 2;`,
        { requires: ['jev.evaluate'], outputSchema: { type: 'number' } },
      ),
      input: 'text',
    });
    expect(run).toMatchObject({
      state: 'completed',
      result: 1,
      evaluations: 1,
      toolCalls: 3,
      usage: { input_tokens: 4, output_tokens: 1 },
      logs: ['done 1970-01-01T00:00:00.000Z'],
    });
    expect(run.events).toMatchObject([{ sequence: 1, value: { noul: 0.5 } }]);
  });
});
