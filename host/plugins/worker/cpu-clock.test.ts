import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { cpuClock } from './cpu-clock.ts';

/** Milliseconds of processor time that the neighbour uses. */
const BURNT = 300;

describe('the processor time of a thread', () => {
  it('does not count what a neighbour uses while this one waits', () => {
    const clock = cpuClock();
    const done = new Int32Array(new SharedArrayBuffer(4));
    const code = `const { workerData } = require('node:worker_threads');
      const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
      const from = used(); while (used() - from < ${BURNT}) for (let n = 0; n < 1e5; n++);
      Atomics.store(workerData, 0, 1); Atomics.notify(workerData, 0);`;
    const neighbour = new Worker(code, { eval: true, workerData: done, env: {} });
    const before = clock();
    const whole = process.cpuUsage();
    Atomics.wait(done, 0, 0);
    const { user, system } = process.cpuUsage(whole);
    expect((user + system) / 1000).toBeGreaterThan(BURNT / 2);
    expect(clock() - before).toBeLessThan(BURNT / 2);
    return neighbour.terminate();
  });

  it('counts what this one uses', () => {
    const clock = cpuClock();
    const before = clock();
    const whole = process.cpuUsage();
    const used = () => {
      const { user, system } = process.cpuUsage(whole);
      return (user + system) / 1000;
    };
    while (used() < 200) for (let n = 0; n < 1e5; n++);
    expect(clock() - before).toBeGreaterThan(50);
  });
});
