/**
 * The states of a task, as one table: what each event makes of each state. An event that is not listed for a state is
 * refused with STATE_CONFLICT, so nothing can happen to a task that somebody did not write down here.
 *
 * Two rules stand above all others. `uncertain` wins over everything, cancellation included. And a state in which
 * something may have been done unseen (`needs_reconciliation` after an uncertain end) is left only by reading.
 */
import type { TaskState } from '../../sdk/contract/task.ts';

export type TaskEventName =
  /** The receipt is on disk; the run is being connected. */
  | 'dispatch'
  /** The controller was called. */
  | 'launch'
  /** The run is to stop for a newer instruction or a pause. */
  | 'interrupt'
  /** The task is to end. Where nothing runs, it ends at once. */
  | 'cancel'
  /** The same for a task with an uncertain outcome: it stays on record as it is. */
  | 'cancelUncertain'
  /** The run ended, and nothing of it is in doubt: */
  | 'settleVerified'
  | 'settleCandidate'
  | 'settleFailed'
  | 'settleWaiting'
  | 'settleCancelled'
  | 'settleSuperseded'
  /** The run ended in doubt. */
  | 'settleUncertain'
  /** It was refused before anything was dispatched. */
  | 'refuseDispatch'
  /** A new instruction for a task on which nothing runs. */
  | 'revise'
  /** Fresh evidence shows the goal reached. */
  | 'verify'
  /** Fresh evidence settled what was in doubt; the next revision begins. */
  | 'reconcile'
  /** The process that ran it is gone. */
  | 'interruptedByRestart'
  /** A pause for a task that is waiting for its turn. */
  | 'pauseQueued';

const running = {
  interrupt: 'interrupting',
  cancel: 'cancel_requested',
  settleVerified: 'completed',
  settleCandidate: 'needs_reconciliation',
  settleFailed: 'failed',
  settleWaiting: 'waiting_input',
  settleCancelled: 'cancelled',
  settleSuperseded: 'queued',
  settleUncertain: 'needs_reconciliation',
  interruptedByRestart: 'needs_reconciliation',
} as const satisfies Partial<Record<TaskEventName, TaskState>>;

export const transitions: Readonly<Record<TaskState, Readonly<Partial<Record<TaskEventName, TaskState>>>>> = {
  queued: {
    dispatch: 'starting',
    refuseDispatch: 'failed',
    cancel: 'cancelled',
    revise: 'queued',
    pauseQueued: 'waiting_input',
  },
  starting: { ...running, launch: 'running' },
  running,
  interrupting: { ...running, launch: 'interrupting' },
  cancel_requested: {
    launch: 'cancel_requested',
    cancel: 'cancel_requested',
    settleVerified: 'cancelled',
    settleCandidate: 'cancelled',
    settleFailed: 'cancelled',
    settleWaiting: 'cancelled',
    settleCancelled: 'cancelled',
    settleSuperseded: 'cancelled',
    settleUncertain: 'needs_reconciliation',
    interruptedByRestart: 'needs_reconciliation',
  },
  recovering: { settleUncertain: 'needs_reconciliation', settleCancelled: 'cancelled' },
  waiting_input: { revise: 'queued', cancel: 'cancelled' },
  needs_reconciliation: {
    revise: 'queued',
    verify: 'completed',
    reconcile: 'queued',
    cancel: 'cancelled',
    cancelUncertain: 'needs_reconciliation',
  },
  completed: { revise: 'queued', cancel: 'completed' },
  failed: { revise: 'queued', verify: 'completed', cancel: 'failed' },
  cancelled: { cancel: 'cancelled' },
};

export type Transition = { state: TaskState } | { code: 'STATE_CONFLICT' };

export function transition(state: TaskState, event: TaskEventName): Transition {
  const next = transitions[state][event];
  return next === undefined ? { code: 'STATE_CONFLICT' } : { state: next };
}

/** A run of this host may be at work. */
export const isActive = (state: TaskState): boolean =>
  state === 'starting' || state === 'running' || state === 'interrupting' || state === 'cancel_requested';

/** Waits for a run or has one: what a starting host has to look at. */
export const isPending = (state: TaskState): boolean => state === 'queued' || state === 'recovering' || isActive(state);

/** Nothing more happens unless the owner asks for it. */
export const isFinished = (state: TaskState): boolean =>
  state === 'completed' || state === 'failed' || state === 'cancelled';
