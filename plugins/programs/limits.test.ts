import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, limitsFor, settingRanges, settingsFrom } from './limits.ts';

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(settingsFrom({})).toEqual({
      enabled: true,
      requestTimeoutMs: 15_000,
      maxRequestBytes: 131_072,
      maxConcurrentRuns: 4,
      maxRetainedRuns: 64,
      maxDurationMs: 900_000,
      maxEvaluations: 1_000,
      maxToolCalls: 10_000,
      maxTokens: 1_000_000,
    });
  });

  it('that are no finite number are the default, others are rounded down and clamped', () => {
    const set = settingsFrom({
      maxDurationMs: Number.POSITIVE_INFINITY,
      maxConcurrentRuns: 1000,
      maxRetainedRuns: 2.9,
      maxTokens: -4,
    });
    expect(set).toMatchObject({ maxDurationMs: 900_000, maxConcurrentRuns: 16, maxRetainedRuns: 2, maxTokens: 1 });
  });

  it('stay within their ranges, whatever is written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(settingRanges)), fc.anything()), (written) => {
        const set = settingsFrom(written) as unknown as Record<string, number>;
        for (const [key, [lowest, highest]] of Object.entries(settingRanges)) {
          expect(Number.isInteger(set[key])).toBe(true);
          expect(set[key]).toBeGreaterThanOrEqual(lowest);
          expect(set[key]).toBeLessThanOrEqual(highest);
        }
      }),
    );
  });
});

describe('limits of a run', () => {
  it('are the defaults, or what it asks for, and never above the ceilings', () => {
    const settings = settingsFrom({ maxDurationMs: 30_000, maxTokens: 500 });
    expect(limitsFor(undefined, settings)).toEqual({ ...defaultLimits, timeoutMs: 30_000, maxTokens: 500 });
    expect(limitsFor({ timeoutMs: 10, maxEvaluations: 5_000, maxToolCalls: 2 }, settings)).toEqual({
      timeoutMs: 10,
      maxEvaluations: 1_000,
      maxToolCalls: 2,
      maxTokens: 500,
    });
  });
});
