/** What one program may use, and what the operator's settings may allow at most. Every number is a whole one, rounded down. */
import type { ProgramLimits } from '../../sdk/index.ts';

/** The operator's settings after clamping. */
export interface ProgramSettings {
  enabled: boolean;
  requestTimeoutMs: number;
  maxRequestBytes: number;
  maxConcurrentRuns: number;
  maxRetainedRuns: number;
  maxDurationMs: number;
  maxEvaluations: number;
  maxToolCalls: number;
  maxTokens: number;
}

/** Lowest, highest, default. */
export const settingRanges = {
  requestTimeoutMs: [100, 120_000, 15_000],
  maxRequestBytes: [1_024, 1_048_576, 131_072],
  maxConcurrentRuns: [1, 16, 4],
  maxRetainedRuns: [1, 256, 64],
  maxDurationMs: [100, 86_400_000, 900_000],
  maxEvaluations: [1, 100_000, 1_000],
  maxToolCalls: [1, 1_000_000, 10_000],
  maxTokens: [1, 100_000_000, 1_000_000],
} as const satisfies Record<string, readonly [number, number, number]>;

export const defaultLimits: ProgramLimits = {
  timeoutMs: 60_000,
  maxEvaluations: 100,
  maxToolCalls: 1_000,
  maxTokens: 100_000,
};

/** Settings as written: what is no finite number gets the default, the rest is rounded down and clamped. */
export function settingsFrom(written: Readonly<Record<string, unknown>>): ProgramSettings {
  const number = (key: keyof typeof settingRanges): number => {
    const [lowest, highest, fallback] = settingRanges[key];
    const value = written[key];
    if (typeof value !== 'number' || !Number.isFinite(value)) return fallback;
    return Math.min(highest, Math.max(lowest, Math.floor(value)));
  };
  return {
    enabled: written.enabled !== false,
    requestTimeoutMs: number('requestTimeoutMs'),
    maxRequestBytes: number('maxRequestBytes'),
    maxConcurrentRuns: number('maxConcurrentRuns'),
    maxRetainedRuns: number('maxRetainedRuns'),
    maxDurationMs: number('maxDurationMs'),
    maxEvaluations: number('maxEvaluations'),
    maxToolCalls: number('maxToolCalls'),
    maxTokens: number('maxTokens'),
  };
}

/** What a run gets: what it asked for, or the default, and never more than the operator's ceiling. */
export function limitsFor(requested: Partial<ProgramLimits> | undefined, settings: ProgramSettings): ProgramLimits {
  const capped = (asked: number | undefined, fallback: number, ceiling: number) => Math.min(asked ?? fallback, ceiling);
  return {
    timeoutMs: capped(requested?.timeoutMs, defaultLimits.timeoutMs, settings.maxDurationMs),
    maxEvaluations: capped(requested?.maxEvaluations, defaultLimits.maxEvaluations, settings.maxEvaluations),
    maxToolCalls: capped(requested?.maxToolCalls, defaultLimits.maxToolCalls, settings.maxToolCalls),
    maxTokens: capped(requested?.maxTokens, defaultLimits.maxTokens, settings.maxTokens),
  };
}
