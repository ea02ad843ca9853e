/** Runs one program per worker, in an engine of its own (see README.md). */
import * as v from 'valibot';
import { defineController, type ProgramEngine, RunnerInput } from '../../sdk/index.ts';
import manifest from './plugin.json' with { type: 'json' };
import { type RunnerHost, runProgram } from './run-program.ts';

/** Endowed by the worker to plugins with the capability `program`. */
declare const programEngine: Pick<ProgramEngine, 'open' | 'now' | 'cpu' | 'soon'>;

function engine(): ProgramEngine {
  const { open, now, cpu, soon } = programEngine;
  return {
    open,
    now,
    cpu,
    soon,
    after: (ms, callback) => setTimeout(callback, ms) as unknown as number,
    cancel: (timer) => clearTimeout(timer),
  };
}

export default defineController(manifest, {
  /** The first program in a fresh engine takes ten times as long as the next: pay for it before anybody waits. */
  async activate() {
    const nothing = async () => null;
    const host: RunnerHost = {
      engine: engine(),
      now: () => 0,
      random: () => 0,
      evaluate: nothing,
      call: nothing,
      report: () => undefined,
      observe: nothing,
      advise: nothing,
      signal: new AbortController().signal,
    };
    await runProgram(
      {
        name: 'warm-up',
        javascript:
          '(async () => { console.log({ a: [1] }); await program.sleep(0); await program.emit(input); return [input]; })',
        input: '{}',
        requires: [],
        limits: { timeoutMs: 1000, maxEvaluations: 1, maxToolCalls: 10, maxTokens: 1 },
        maxRequestBytes: 1024,
        requestTimeoutMs: 1000,
      },
      host,
    );
  },

  async run(input, ctx) {
    return runProgram(v.parse(RunnerInput, input), {
      engine: engine(),
      now: ctx.clock.now,
      random: ctx.random.number,
      evaluate: (request) => ctx.jev.evaluate(request as never),
      call: ctx.program.call,
      // A report that does not arrive is followed by another, or by the end.
      report: (report) => void ctx.program.report(report).catch(() => undefined),
      observe: ctx.program.observe,
      advise: ctx.program.advise,
      signal: ctx.signal,
    });
  },
});
