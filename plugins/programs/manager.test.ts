import { describe, expect, it } from 'vitest';
import { program, workbench } from '../../test/support/programs.ts';

const pick = `await jev.evaluate({ state: 's', questions: { pick: { type: 'choice', instructions: 'Which?', criteria: { a: 'A', b: null } } } })`;

describe('a program that runs in the foreground', () => {
  it('loops, emits, sleeps and returns what its schema promises', async () => {
    const bench = workbench();
    const run = await bench.run({
      program: program(
        `let total = input.start;
         for (let round = 1; round <= 3; round++) {
           total += 1;
           await program.emit({ round });
           await program.sleep(1);
         }
         return { total };`,
        {
          inputSchema: { type: 'object', properties: { start: { type: 'number' } }, required: ['start'] },
          outputSchema: { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] },
        },
      ),
      input: { start: 2 },
    });
    expect(run).toMatchObject({ state: 'completed', result: { total: 5 }, background: false, toolCalls: 6 });
    expect(run.events.map(({ sequence, value }) => [sequence, value])).toEqual([
      [1, { round: 1 }],
      [2, { round: 2 }],
      [3, { round: 3 }],
    ]);
    expect(run.nextSequence).toBe(4);
    expect((await bench.status(run.id, 2)).events).toHaveLength(1);
    expect(run.endedAt).toBeGreaterThanOrEqual(run.startedAt);
  });

  it('reads answers typed by its own questions', async () => {
    const bench = workbench();
    const run = await bench.run({
      program: program(
        `const result = ${pick};
         const choice: 'a' | 'b' = result.answers.pick.choice;
         return { choice, model: result.model, p: result.answers.pick.probabilities.b };`,
        { requires: ['jev.evaluate'] },
      ),
    });
    expect(run).toMatchObject({
      state: 'completed',
      result: { choice: 'a', model: 'jev-1.13.0', p: 0 },
      evaluations: 1,
      usage: { input_tokens: 4, output_tokens: 1 },
    });
  });

  it('is cancelled with its caller, who gets the cancelled run and no error', async () => {
    const bench = workbench();
    const caller = new AbortController();
    const running = bench.run({ program: program('while (true) await program.sleep(5);') }, caller.signal);
    const seen = await untilRunning(bench);
    caller.abort();
    const run = await running;
    expect(run).toMatchObject({ id: seen, state: 'cancelled', error: 'Foreground caller cancelled' });
    await bench.idle();
    expect(bench.engine.live).toBe(0);
  });

  it('may not observe', async () => {
    await expect(workbench().run({ program: program('return null'), observe: { events: ['input'] } })).rejects.toThrow(
      'Observation requires jev.spawn; foreground runs cannot wait for their own turn to end',
    );
  });
});

async function untilRunning(bench: ReturnType<typeof workbench>): Promise<string> {
  for (;;) {
    const [run] = (await bench.list()).runs;
    if (run) return run.id;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a program that runs in the background', () => {
  it('outlives the call that launched it, and every wait gets its end', async () => {
    const bench = workbench();
    const caller = new AbortController();
    const task = await bench.spawn(
      { program: program('await program.sleep(20); return input + 4;'), input: 3 },
      caller.signal,
    );
    caller.abort();
    expect(task).toMatchObject({ state: 'running', background: true });
    expect((await bench.status(task.id)).state).toBe('running');
    await expect(bench.wait(task.id, AbortSignal.abort())).rejects.toThrow('Wait cancelled');
    const [waited, joined] = await Promise.all([bench.wait(task.id), bench.join(task.id)]);
    expect(waited).toMatchObject({ state: 'completed', result: 7 });
    expect(joined).toEqual(waited);
  });

  it('is stopped once and stays stopped', async () => {
    const bench = workbench();
    const task = await bench.spawn({ program: program('while (true) await program.sleep(1);') });
    expect(await bench.stop(task.id)).toMatchObject({ state: 'cancelled', error: 'Jev run stopped' });
    expect(await bench.stop(task.id)).toMatchObject({ state: 'cancelled', error: 'Jev run stopped' });
    await bench.idle();
    expect(bench.engine.live).toBe(0);
  });

  it('is cancelled when the plugin goes, and nothing is launched after that', async () => {
    const bench = workbench();
    const task = await bench.spawn({ program: program('while (true) await program.sleep(1);') });
    const joined = bench.join(task.id);
    await bench.list();
    bench.manager.close(Date.now());
    expect(await joined).toMatchObject({ state: 'cancelled', error: 'Jev provider closed' });
    await expect(bench.spawn({ program: program('return null') })).rejects.toThrow('Jev program manager is closed');
    await bench.host().stop(task.id);
  });

  it('that a restart cancelled says so', async () => {
    const left = [{ id: 'old', owner: 'owner', name: 'watch', background: true, startedAt: 1 }];
    const bench = workbench({ left });
    expect(await bench.status('old')).toMatchObject({
      state: 'cancelled',
      error: 'Cancelled by a restart of the host; its effects stay as they are',
    });
    expect((await bench.list()).runs).toHaveLength(1);
  });

  it('is written down while it runs and struck out when it ends', async () => {
    const bench = workbench();
    const task = await bench.spawn({ program: program('await program.sleep(5); return null;') });
    expect(bench.remembered().map((run) => run.id)).toEqual([task.id]);
    await bench.wait(task.id);
    await bench.idle();
    expect(bench.remembered()).toEqual([]);
  });

  it('that could not be written down is stopped, and its caller gets the failure', async () => {
    const bench = workbench({ noting: () => Promise.reject(new Error('the disk is full')) });
    await expect(bench.spawn({ program: program('while (true) await program.sleep(1);') })).rejects.toThrow(
      'disk is full',
    );
    expect((await bench.list()).runs).toEqual([]);
    await bench.idle();
    expect(bench.engine.live).toBe(0);
  });

  it('is told of only once it is written down', async () => {
    let write: () => void = () => undefined;
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    let begun: () => void = () => undefined;
    const runs = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const bench = workbench({ noting: () => written, tools: [{ ref: 'a.b' }], call: async () => begun() });
    let told = false;
    const spawned = bench
      .spawn({ program: program(`await tools.call({ ref: 'a.b' }); return 1;`, { requires: ['a.b'] }) })
      .finally(() => {
        told = true;
      });
    await runs;
    expect(told).toBe(false);
    write();
    expect(await spawned).toMatchObject({ background: true });
  });

  it('does not exist for another caller', async () => {
    const bench = workbench();
    const task = await bench.spawn({ program: program('while (true) await program.sleep(1);') });
    const unknown = 'Unknown or expired Jev run ID';
    await expect(bench.status(task.id, 0, 'stranger')).rejects.toThrow(unknown);
    await expect(bench.stop(task.id, 'stranger')).rejects.toThrow(unknown);
    await expect(bench.wait(task.id, undefined, 'stranger')).rejects.toThrow(unknown);
    expect((await bench.list('stranger')).runs).toEqual([]);
    await bench.stop(task.id);
  });
});

describe('a launch is refused before anything runs', () => {
  const cases: [string, Record<string, unknown>, RegExp | string][] = [
    [
      'when the input does not fit its schema',
      { program: program('return null', { inputSchema: { type: 'string' } }), input: 4 },
      'Program input does not match its declared schema',
    ],
    [
      'when the input is too large',
      { program: program('return null'), input: 'x'.repeat(40_000) },
      'Program input exceeds 32768 bytes',
    ],
    [
      'when a type is wrong',
      { program: program(`const a: number = 'wrong'; return a;`) },
      /^Jev program typecheck failed: 1:7 .*TS2322/,
    ],
    [
      'when a schema has a reference',
      { program: program('return null', { outputSchema: { $ref: '#/x' } }) },
      /program schema/,
    ],
    [
      'when a schema is too large',
      { program: program('return null', { outputSchema: { description: 'x'.repeat(20_000) } }) },
      'Program schema exceeds 16384 bytes',
    ],
    [
      'when it would launch programs',
      { program: program('return null', { requires: ['jev.spawn'] }) },
      'Programs require exact action refs; recursive Jev lifecycle calls are not allowed',
    ],
    [
      'when a reference is a pattern',
      { program: program('return null', { requires: ['browser.*'] }) },
      'Programs require exact action refs; recursive Jev lifecycle calls are not allowed',
    ],
    [
      'when a reference is not there',
      { program: program('return null', { requires: ['pi.bash', 'pi.read'] }) },
      'Missing Jev program capabilities: pi.bash, pi.read',
    ],
    [
      'when an argument is not known',
      { program: program('return null', { limit: {} }) },
      /^Invalid jev\.run arguments: program\.limit/,
    ],
    [
      'when a limit is no whole number',
      { program: program('return null', { limits: { timeoutMs: 0.5 } }) },
      /^Invalid jev\.run arguments/,
    ],
    [
      'when a reference is named twice',
      { program: program('return null', { requires: ['a.b', 'a.b'] }) },
      /each reference once/,
    ],
    ['when there is no program', {}, /^Invalid jev\.run arguments: program/],
  ];
  it.each(cases)('%s', async (_when, args, message) => {
    const bench = workbench();
    await expect(bench.run(args)).rejects.toThrow(message);
    expect((await bench.list()).runs).toEqual([]);
    expect(bench.engine.live).toBe(0);
  });

  it('when it would widen what its caller may do', async () => {
    const bench = workbench({ denied: ['jev.evaluate'] });
    await expect(bench.run({ program: program('return null', { requires: ['jev.evaluate'] }) })).rejects.toThrow(
      "Jev program cannot widen its caller's capabilities: jev.evaluate",
    );
  });

  it('when as many run as may', async () => {
    const bench = workbench({ settings: { maxConcurrentRuns: 1 } });
    const first = await bench.spawn({ program: program('while (true) await program.sleep(1);') });
    await expect(bench.spawn({ program: program('return null') })).rejects.toThrow('Jev concurrent run limit reached');
    await bench.stop(first.id);
    expect((await bench.run({ program: program('return 1') })).result).toBe(1);
  });

  it('when many are launched at the same moment', async () => {
    const bench = workbench({ settings: { maxConcurrentRuns: 2 } });
    const launches = await Promise.allSettled(
      [1, 2, 3, 4].map(() => bench.spawn({ program: program('while (true) await program.sleep(1);') })),
    );
    expect(launches.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const run of (await bench.list()).runs) await bench.stop(run.id);
  });
});

describe('a run ends as failed', () => {
  it('when its output does not fit its schema', async () => {
    const run = await workbench().run({ program: program(`return 'x';`, { outputSchema: { type: 'number' } }) });
    expect(run).toMatchObject({ state: 'failed', error: 'Program output does not match its declared schema' });
    expect(run).not.toHaveProperty('result');
  });

  it('when it returns nothing: undefined is not JSON', async () => {
    const run = await workbench().run({ program: program('return;') });
    expect(run).toMatchObject({ state: 'failed', error: 'Program output must contain only finite JSON values' });
  });

  it('when it calls what it did not require', async () => {
    const bench = workbench({ tools: [{ ref: 'pi.bash' }] });
    const run = await bench.run({ program: program(`return await tools.call({ ref: 'pi.bash', args: {} });`) });
    expect(run).toMatchObject({
      state: 'failed',
      error: 'Capability not granted to Jev program: pi.bash (line 1, column 20)',
    });
    expect(bench.called).toEqual([]);
  });

  it('when a call that it required is denied', async () => {
    const bench = workbench({
      tools: [{ ref: 'files.read' }],
      call: async () => {
        throw new Error('files.read was denied by policy');
      },
    });
    const run = await bench.run({
      program: program('return await files.read({ path: "x" });', { requires: ['files.read'] }),
    });
    expect(run.state).toBe('failed');
    expect(run.error).toMatch(/denied/);
  });

  it('when its evaluations are used up, even if it catches the refusal', async () => {
    const bench = workbench();
    const run = await bench.run({
      program: program(`${pick}; try { ${pick}; } catch {} return 'went on';`, {
        requires: ['jev.evaluate'],
        limits: { maxEvaluations: 1 },
      }),
    });
    expect(run).toMatchObject({
      state: 'failed',
      error: 'Jev inference budget exhausted',
      evaluations: 1,
      usage: { input_tokens: 4, output_tokens: 1 },
    });
    expect(bench.evaluated).toHaveLength(1);
  });

  it('when an answer took more tokens than it may use, before it sees the answer', async () => {
    const run = await workbench().run({
      program: program(`const seen = ${pick}; await program.emit('saw it'); return null;`, {
        requires: ['jev.evaluate'],
        limits: { maxTokens: 4 },
      }),
    });
    expect(run).toMatchObject({ state: 'failed', error: 'Jev reported-token budget exhausted', events: [] });
    expect(run.usage).toEqual({ input_tokens: 4, output_tokens: 1 });
  });

  it('when its host calls are used up', async () => {
    const run = await workbench().run({
      program: program('while (true) await program.emit(1);', { limits: { maxToolCalls: 3 } }),
    });
    expect(run).toMatchObject({ state: 'failed', error: 'Jev tool-call budget exhausted', toolCalls: 3 });
    expect(run.events).toHaveLength(3);
  });

  it('when it waits for something that can never happen', async () => {
    const run = await workbench().run({ program: program('await new Promise(() => {}); return null;') });
    expect(run).toMatchObject({ state: 'failed', error: 'The program waits for something that can never happen' });
  });
});

describe('a run is timed out', () => {
  it('at its deadline', async () => {
    const run = await workbench().run({
      program: program('while (true) await program.sleep(2);', { limits: { timeoutMs: 40 } }),
    });
    expect(run).toMatchObject({ state: 'timed_out', error: 'Jev deadline exceeded' });
  });

  it('when it does not pause, long before its deadline', async () => {
    const run = await workbench({ sliceMs: 30 }).run({
      program: program('while (true) {}', { limits: { timeoutMs: 600_000 } }),
    });
    expect(run.state).toBe('timed_out');
    expect(run.error).toMatch(/uninterrupted CPU/);
  });
});

describe('evaluations', () => {
  it('go one at a time: the second of two is refused and the first is answered', async () => {
    const bench = workbench();
    const run = await bench.run({
      program: program(
        `const ask = async () => ${pick};
         return (await Promise.allSettled([ask(), ask()])).map((one) => one.status === 'fulfilled' ? one.status : one.reason.message);`,
        { requires: ['jev.evaluate'] },
      ),
    });
    expect(run.result).toEqual([
      'fulfilled',
      'One Jev evaluation may be in flight per program; batch independent questions in one request',
    ]);
    expect(bench.evaluated).toHaveLength(1);
  });

  it('that are not valid are refused without being sent or counted', async () => {
    const bench = workbench();
    const run = await bench.run({
      program: program(
        `try { await jev.evaluate({ state: 's', questions: {} }); return 'sent'; } catch (error) { return String(error); }`,
        { requires: ['jev.evaluate'] },
      ),
    });
    expect(run.result).toBe('Error: Invalid Jev request: provide state, 1–128 questions, and an optional model ID');
    expect(run.evaluations).toBe(0);
    expect(bench.evaluated).toEqual([]);
  });

  it('that fail take their slot', async () => {
    const bench = workbench({
      evaluate: async () => {
        throw Object.assign(new Error('secret body'), { code: 'JEV_RATE_LIMITED', details: { status: 429 } });
      },
    });
    const run = await bench.run({ program: program(`${pick}; return null;`, { requires: ['jev.evaluate'] }) });
    expect(run).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(
        /^TypeSafe HTTP 429: rate limited; back off before retrying \(line 1, column \d+\)$/,
      ),
      evaluations: 1,
    });
    expect(bench.evaluated).toHaveLength(1);
  });
});

describe('what a run keeps', () => {
  it('is the latest 64 events, with a gap that shows', async () => {
    const run = await workbench().run({
      program: program('for (let n = 1; n <= 80; n++) await program.emit(n); return null;'),
    });
    expect(run.events).toHaveLength(64);
    expect(run.events[0]).toMatchObject({ sequence: 17, value: 17 });
    expect(run.nextSequence).toBe(81);
  });

  it('is no event above 4096 bytes', async () => {
    const run = await workbench().run({
      program: program(
        `try { await program.emit('x'.repeat(4095)); } catch (error) { return String(error); } return null;`,
      ),
    });
    expect(run.result).toBe('Error: Program event exceeds 4096 bytes');
    expect(run.events).toEqual([]);
  });

  it('is 4096 characters of log, whatever it prints', async () => {
    const run = await workbench().run({
      program: program(`for (let n = 0; n < 500; n++) console.log('line', n, { n }); return null;`),
    });
    expect(run.logs[0]).toBe('line 0 {"n":0}');
    expect(run.logs.join('\n').length).toBeLessThanOrEqual(4096);
  });

  it('goes when newer runs need the room, but whoever waits still gets the end', async () => {
    const bench = workbench({ settings: { maxRetainedRuns: 1 } });
    const tasks = [];
    for (const input of [0, 1, 2])
      tasks.push(await bench.spawn({ program: program('await program.sleep(10); return input;'), input }));
    const ends = await Promise.all(tasks.map(({ id }) => bench.wait(id)));
    expect(ends.map(({ result }) => result)).toEqual([0, 1, 2]);
    expect((await bench.list()).runs).toHaveLength(1);
  });
});

describe('inside a program', () => {
  it('there is no process, no network and no module loader', async () => {
    const run = await workbench().run({
      program: program('return [typeof process, typeof fetch, typeof require, typeof globalThis];'),
    });
    expect(run.result).toEqual(['undefined', 'undefined', 'undefined', 'object']);
  });

  it('state survives every iteration and every await', async () => {
    const run = await workbench().run({
      program: program(
        'const seen = new Map<number, number>(); for (let n = 0; n < 3; n++) { seen.set(n, n * n); await program.sleep(0); } return [...seen];',
      ),
    });
    expect(run.result).toEqual([
      [0, 0],
      [1, 1],
      [2, 4],
    ]);
  });

  it('a large answer that comes late is read within a fresh slice', async () => {
    const bench = workbench({
      sliceMs: 50,
      tools: [{ ref: 'data.list' }],
      call: () =>
        new Promise((resolve) => setTimeout(() => resolve(Array.from({ length: 12_000 }, (_, id) => ({ id }))), 60)),
    });
    const run = await bench.run({
      program: program('const list = await data.list() as { id: number }[]; return list.length;', {
        requires: ['data.list'],
      }),
    });
    expect(run).toMatchObject({ state: 'completed', result: 12_000 });
  });

  it('sleep refuses what is no time, or longer than the run', async () => {
    const run = await workbench().run({
      program: program(
        `const said: string[] = [];
         for (const ms of [-1, NaN, Infinity, 60_001]) try { await program.sleep(ms); } catch (error) { said.push(String(error)); }
         return said;`,
      ),
    });
    expect(run.result).toEqual(Array(4).fill('Error: Invalid program.sleep duration'));
  });

  it('a tool is called by its exact reference, both ways', async () => {
    const bench = workbench({ tools: [{ ref: 'shop.find' }] });
    const run = await bench.run({
      program: program(
        `await tools.call({ ref: 'shop.find', args: { q: 'tea' } }); await shop.find({ q: 'tea' }); return null;`,
        {
          requires: ['shop.find'],
        },
      ),
    });
    expect(run.state).toBe('completed');
    expect(bench.called).toEqual(Array(2).fill({ ref: 'shop.find', args: { q: 'tea' } }));
  });

  it('a call that is no call is refused', async () => {
    const run = await workbench().run({
      program: program(
        `try { await (tools as any).call({ ref: 'a.b', extra: 1 }); } catch (error) { return String(error); } return null;`,
      ),
    });
    expect(run.result).toBe('Error: Invalid Jev program tool call');
  });
});
