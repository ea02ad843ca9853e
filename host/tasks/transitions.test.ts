import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskState } from '../../sdk/contract/task.ts';
import { isActive, isFinished, type TaskEventName, transition, transitions } from './transitions.ts';

const states = Object.keys(transitions) as TaskState[];
const events: TaskEventName[] = [
  ...['dispatch', 'launch', 'interrupt', 'cancel', 'cancelUncertain', 'settleVerified', 'settleCandidate'],
  ...['settleFailed', 'settleWaiting', 'settleCancelled', 'settleSuperseded', 'settleUncertain', 'refuseDispatch'],
  ...['revise', 'verify', 'reconcile', 'interruptedByRestart', 'pauseQueued'],
] as TaskEventName[];

/** The states on the way of a task that meets these events; refused events change nothing. */
function walk(given: readonly TaskEventName[]): { state: TaskState; event: TaskEventName; applied: boolean }[] {
  let state: TaskState = 'queued';
  return given.map((event) => {
    const next = transition(state, event);
    if ('state' in next) state = next.state;
    return { state, event, applied: 'state' in next };
  });
}

const orders = fc.array(fc.constantFrom(...events), { maxLength: 60 });

describe('the states of a task', () => {
  it('answer every event with a state of the table or a refusal', () => {
    for (const state of states) {
      for (const event of events) {
        const next = transition(state, event);
        if ('state' in next) expect(states).toContain(next.state);
        else expect(next.code).toBe('STATE_CONFLICT');
      }
    }
  });

  it('reach a run only through a receipt on disk', () => {
    fc.assert(
      fc.property(orders, (given) => {
        let dispatched = false;
        for (const { state, event, applied } of walk(given)) {
          if (applied && event === 'dispatch') dispatched = true;
          if (applied && (event.startsWith('settle') || event === 'interruptedByRestart')) dispatched = false;
          if (isActive(state)) expect(dispatched).toBe(true);
        }
      }),
    );
  });

  it('let nothing win over doubt, cancellation included', () => {
    fc.assert(
      fc.property(orders, (given) => {
        for (const step of walk([...given, 'settleUncertain'])) {
          if (step.event === 'settleUncertain' && step.applied) expect(step.state).toBe('needs_reconciliation');
        }
      }),
    );
    for (const state of states.filter(isActive)) {
      expect(transition(state, 'settleUncertain')).toEqual({ state: 'needs_reconciliation' });
    }
  });

  it('never leave a cancelled task, and end a cancelled run only as cancelled or in doubt', () => {
    fc.assert(
      fc.property(orders, (given) => {
        let cancelled = false;
        for (const { state } of walk(given)) {
          if (cancelled) expect(state).toBe('cancelled');
          cancelled = state === 'cancelled';
        }
      }),
    );
    const ends = Object.values(transitions.cancel_requested);
    expect(new Set(ends)).toEqual(new Set(['cancel_requested', 'cancelled', 'needs_reconciliation']));
  });

  it('complete a task only by a verified end or by evidence', () => {
    for (const state of states) {
      for (const event of events) {
        const next = transition(state, event);
        if ('state' in next && next.state === 'completed' && state !== 'completed') {
          expect(['settleVerified', 'verify']).toContain(event);
        }
      }
    }
  });

  it('can always be brought to an end by a cancellation and the end of its run', () => {
    fc.assert(
      fc.property(orders, (given) => {
        const last = walk([...given, 'cancel', 'settleCancelled', 'cancel']).at(-1);
        expect(last && isFinished(last.state)).toBe(true);
      }),
    );
  });
});
