import { describe, expect, it } from 'vitest';
import { killRounds } from './kill-rounds.ts';

/** A long run: JEV_HOST_KILLS=1000 JEV_HOST_SEED=7 npx vitest run test/crash/kill-anywhere.test.ts */
const kills = Number(process.env.JEV_HOST_KILLS ?? 50);
const seed = Number(process.env.JEV_HOST_SEED ?? 20_261_201);

describe(`a host that is killed ${kills} times at random moments`, () => {
  it('repeats nothing, forgets nothing, and knows where every task stands', {
    timeout: 60_000 + kills * 3000,
  }, async () => {
    const report = await killRounds(seed, kills);
    expect(report.broken).toEqual([]);
    expect(report.kills).toBe(kills);
    expect(report.confirmed).toBeGreaterThan(0);
    if (process.env.JEV_HOST_KILLS) console.log(report);
  });
});
