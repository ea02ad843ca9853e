/**
 * The decision trace: what was offered, what was chosen, what came of it. Codes, counts, ids and probabilities only; no
 * page text, label or value is ever put in.
 */
export const MAX_TRACE_EVENTS = 1024;

export type TracePhase = 'dispatch' | 'action' | 'decision' | 'field' | 'effect' | 'recovery' | 'terminal';
export type TraceDetail = Record<string, string | number | boolean | undefined | Record<string, number>>;

export interface Trace {
  add(phase: TracePhase, detail: TraceDetail): void;
  result(): { version: 1; events: Record<string, unknown>[]; truncated: boolean };
}

/** @param now milliseconds, for the `at` of each event. */
export function createTrace(now: () => number): Trace {
  const events: Record<string, unknown>[] = [];
  let sequence = 0;
  let truncated = false;
  return {
    add(phase, detail) {
      sequence += 1;
      // The end of a run explains it better than its middle: the last place is kept for the terminal event.
      if (events.length >= MAX_TRACE_EVENTS - 1 && phase !== 'terminal') {
        truncated = true;
        return;
      }
      events.push({ version: 1, sequence, at: now(), phase, ...detail });
    },
    result: () => ({ version: 1, events, truncated }),
  };
}
