/**
 * Programs that want out, or want everything. Each ends with the right state, within its limits, and while it works others
 * go on. They run against the engine as it is; host/programs/hostile.test.ts sends the worst ones through the real workers.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { endedAsItMust, hostilePrograms } from '../../test/support/hostile-programs.ts';
import { plainEngine } from '../../test/support/program-engine.ts';
import { runProgram } from './run-program.ts';

const engine = plainEngine();

function run(code: string, more: { timeoutMs?: number } = {}) {
  return runProgram(
    {
      name: 'hostile',
      javascript: `(async () => {\n${code}\n})`,
      input: '{"a":[1,2,3]}',
      requires: ['a.b', 'jev.evaluate'],
      limits: { timeoutMs: more.timeoutMs ?? 5000, maxEvaluations: 10, maxToolCalls: 1000, maxTokens: 1000 },
      maxRequestBytes: 131_072,
      requestTimeoutMs: 5000,
    },
    {
      engine,
      now: Date.now,
      random: Math.random,
      evaluate: async () => ({ model: 'm', answers: {}, usage: { input_tokens: 0, output_tokens: 0 } }),
      call: async (ref, args) => ({ ref, args }),
      report: () => undefined,
      observe: () => new Promise(() => undefined),
      advise: async () => ({ delivered: false }),
      signal: new AbortController().signal,
      heapBytes: 24 * 1024 * 1024,
    },
  );
}

describe('a hostile program', () => {
  // A cold engine is still being compiled, as it never is in the real worker.
  beforeAll(async () => {
    for (let round = 0; round < 3; round++) await run('await program.emit(1); return [1].map((n) => n);');
  });

  it('is one of sixty or more', () => {
    expect(hostilePrograms.length).toBeGreaterThanOrEqual(60);
  });

  const inside = hostilePrograms.filter((one) => !one.needsWorker);
  it.each(inside.map((one) => [one.what, one] as const))('%s', async (_what, one) => {
    const end = await run(one.code);
    expect(endedAsItMust(one, end), `${end.state} ${end.error ?? end.result}`).toBe(true);
    if (one.result !== undefined) expect(JSON.parse(end.result ?? 'null')).toEqual(one.result);
    expect(engine.live).toBe(0);
  });

  it('leaves an ordinary one beside it alone', async () => {
    const neighbour = run('let n = 0; while (n < 20) { n++; await program.sleep(1); } return n;');
    await Promise.all([run('for (;;) {}'), run('const a = []; for (;;) a.push(new Uint8Array(1e6));'), neighbour]);
    expect(await neighbour).toMatchObject({ state: 'completed', result: '20' });
  });
});
