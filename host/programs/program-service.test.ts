/** The two program plugins in the real plugin host, in their real workers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HostError } from '../../sdk/contract/errors.ts';
import { endedAsItMust, hostilePrograms } from '../../test/support/hostile-programs.ts';
import { programHost, someone } from '../../test/support/program-host.ts';
import { instantAnswer, program } from '../../test/support/programs.ts';
import type { RunAuthority } from '../plugins/ports.ts';
import type { ProgramServiceDeps } from './program-service.ts';
import type { Reference } from './references.ts';

const stranger: RunAuthority = { ...someone, conversationId: 'conversation:2' };
const endless = program('while (true) await program.sleep(2);');
const never = new AbortController().signal;

describe('programs in the real plugin host', () => {
  let bench: Awaited<ReturnType<typeof programHost>>;
  let tool: Reference;
  let called: unknown[];
  let mayEvaluate = true;
  let answer: ProgramServiceDeps['evaluate'];

  beforeAll(async () => {
    bench = await programHost({
      settings: { maxConcurrentRuns: 16, requestTimeoutMs: 3000 },
      evaluate: (...asked) => answer(...asked),
      mayEvaluate: () => mayEvaluate,
      sources: () => [{ find: (ref) => (ref === tool.ref ? tool : undefined) }],
    });
  });
  afterAll(() => bench.stop());

  const reset = () => {
    called = [];
    mayEvaluate = true;
    answer = async (request) =>
      ({ requestId: 'r', requestedModel: 'm', ...(instantAnswer(request as never) as object) }) as never;
    tool = {
      ref: 'shop.find',
      allowed: true,
      inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
      call: async (args) => {
        called.push(args);
        return { found: 1 };
      },
    };
  };
  reset();

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

  it('are checked against the arguments that a tool takes', async () => {
    reset();
    const misspelt = program(`return await shop.find({ query: 'tea' });`, { requires: ['shop.find'] });
    await expect(bench.call('run', { program: misspelt })).rejects.toMatchObject({
      code: 'PROGRAM_TYPECHECK_FAILED',
      message: expect.stringMatching(/^Jev program typecheck failed: 1:\d+ /),
    });
    const right = program(`return await shop.find({ q: 'tea' });`, { requires: ['shop.find'] });
    expect(await bench.call('run', { program: right })).toMatchObject({ state: 'completed', result: { found: 1 } });
    expect(called).toEqual([{ q: 'tea' }]);
  });

  it('lose a tool that their caller lost while they ran', async () => {
    reset();
    const task = await bench.call('spawn', {
      program: program(
        `await program.emit('ready'); while (true) { await shop.find({ q: 'x' }); await program.sleep(2); }`,
        {
          requires: ['shop.find'],
        },
      ),
    });
    await untilEvents(task.id, 1);
    tool = { ...tool, allowed: false };
    const end = await bench.call('wait', { id: task.id });
    expect(end).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/^shop.find was denied: the caller may not use it any more \(line 1, /),
    });
  });

  it('do not call a tool that became another one since they were checked', async () => {
    reset();
    const task = await bench.call('spawn', {
      program: program(
        `await program.emit('ready'); while (true) { await shop.find({ q: 'x' }); await program.sleep(2); }`,
        {
          requires: ['shop.find'],
        },
      ),
    });
    await untilEvents(task.id, 1);
    tool = { ...tool, inputSchema: { type: 'object' } };
    const end = await bench.call('wait', { id: task.id });
    expect(end.error).toMatch(
      /^Caller capability generation changed; relaunch with a fresh commitment \(line 1, column \d+\)$/,
    );
  });

  it('get no more than their caller has', async () => {
    reset();
    mayEvaluate = false;
    await expect(
      bench.call('run', { program: program('return null', { requires: ['jev.evaluate'] }) }),
    ).rejects.toThrow("Jev program cannot widen its caller's capabilities: jev.evaluate");
    reset();
  });

  it('wait for an evaluation as long as the operator allows, and are told when its time is up', async () => {
    reset();
    answer = (_request, _caller, _id, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new HostError('JEV_CANCELLED')), { once: true });
      });
    const run = await bench.call('run', {
      program: program(
        `try { await jev.evaluate({ state: 's', questions: { q: { type: 'noul', instructions: 'x' } } }); }
         catch (error) { return (error as Error).message; }
         return 'answered';`,
        { requires: ['jev.evaluate'] },
      ),
    });
    expect(run).toMatchObject({ state: 'completed', result: 'Jev request cancelled or timed out', evaluations: 1 });
    reset();
  });

  it('end when their caller’s key is withdrawn', async () => {
    const task = await bench.call('spawn', { program: endless });
    bench.fences.withdraw('key:api:k');
    expect(await bench.call('wait', { id: task.id })).toMatchObject({ state: 'cancelled' });
  });

  it('are nobody else’s to see or stop', async () => {
    const task = await bench.call('spawn', { program: endless });
    for (const action of ['status', 'wait', 'stop'])
      await expect(bench.call(action, { id: task.id }, never, stranger)).rejects.toMatchObject({
        code: 'PROGRAM_UNKNOWN_RUN',
        message: 'Unknown or expired Jev run ID',
      });
    expect(await bench.call('status', { id: task.id })).toMatchObject({ state: 'running' });
    await bench.call('stop', { id: task.id });
  });

  it('that run in the foreground end with their caller', async () => {
    const caller = new AbortController();
    const running = bench.call(
      'run',
      { program: program('await program.emit(1); for (;;) await program.sleep(1);') },
      caller.signal,
    );
    const id = await runningId();
    await untilEvents(id, 1);
    caller.abort();
    expect(await running).toMatchObject({ id, state: 'cancelled', error: 'Foreground caller cancelled' });
  });

  it('of the worst kind end as they must while an ordinary one goes on', async () => {
    const worst = hostilePrograms.filter(({ what }) =>
      [
        'loops for ever',
        'loops for ever over nothing but microtasks',
        'keeps typed arrays',
        'nests source code',
        'calls 100,000 tools at once',
        'replaces every character by the whole string',
      ].includes(what),
    );
    expect(worst).toHaveLength(6);
    const neighbour = bench.call('run', {
      program: program('let n = 0; while (n < 50) { n++; await program.sleep(5); } return n;'),
    });
    const ends = await Promise.all(
      worst.map(async (one) => {
        // Written in plain JavaScript: the types of hostile programs are nobody's concern here.
        const run = await bench.call('run', {
          program: program(
            `const run = eval(${JSON.stringify(`(async () => {${one.code}\n})`)}) as () => Promise<null>; return await run();`,
          ),
        });
        return [one.what, endedAsItMust(one, run) || (one.needsWorker && run.state === 'timed_out')] as const;
      }),
    );
    expect(ends.filter(([, right]) => !right)).toEqual([]);
    expect(await neighbour).toMatchObject({ state: 'completed', result: 50 });
  });

  async function runningId(): Promise<string> {
    for (;;) {
      const { runs } = (await bench.call('status')) as unknown as { runs: { id: string; state: string }[] };
      const found = runs.find(({ state }) => state === 'running');
      if (found) return found.id;
    }
  }

  async function untilEvents(id: string, count: number): Promise<void> {
    while ((await bench.call('status', { id })).nextSequence <= count);
  }
});
