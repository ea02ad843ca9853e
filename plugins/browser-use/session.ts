/**
 * One run on one tab: reading with its budgets, acting with its outcomes, asking Jev, and the counters of all three.
 *
 * Everything that could repeat an effect is decided here once: each dispatch has a fresh operation id, an outcome that is
 * not known ends the run, and a decision is used for at most one dispatch.
 */
import type { BrowserProgress, BrowserRunInput, BrowserRunResult, LastAction } from '../../sdk/contract/browser-run.ts';
import type { JevRequest, JevResult } from '../../sdk/contract/jev.ts';
import {
  CALL_TIMEOUT_MS,
  type Dispatched,
  RELEASE_TIMEOUT_MS,
  type Read,
  type RemoteBrowser,
} from '../../sdk/devices/remote-browser.ts';
import type { Context } from './context.ts';
import type { Observation } from './observation.ts';
import { codeOf, providerStop, Stop } from './stop.ts';
import { timeLimit } from './time-limit.ts';
import { createTrace, type Trace } from './trace.ts';

/** Milliseconds that one evaluation or verification may take. */
export const EVALUATION_TIMEOUT_MS = 15_000;
/** Waits for a navigation that is under way, each `n * NAVIGATION_WAIT_MS` long. */
const NAVIGATION_WAITS = 6;
const NAVIGATION_WAIT_MS = 250;
/** Milliseconds within which a call in flight may still answer after a cancellation; the host gives the run five seconds. */
const CANCEL_GRACE_MS = 3000;
/** Milliseconds between other stale reads. */
const STALE_WAIT_MS = 100;

export type Acted =
  | { outcome: 'confirmed'; operation: string; page: Observation }
  /** Certain that nothing happened; the decision is used up. */
  | { outcome: 'not_executed'; code: string; cause?: string };

export interface Session {
  readonly input: BrowserRunInput;
  readonly ctx: Context;
  readonly browser: RemoteBrowser;
  readonly trace: Trace;
  readonly counts: { steps: number; evaluations: number; staleRetries: number; textCalls: number };
  /** The newest page that was read. */
  readonly page: Observation | undefined;
  readonly lastAction: LastAction | undefined;
  readonly lastConfirmedAction: LastAction | undefined;
  readonly lastEvaluation: BrowserRunResult['lastEvaluation'];
  acquire(): Promise<void>;
  release(): Promise<void>;
  renew(): Promise<void>;
  /** A fresh page, within the budgets for stale reads. */
  read(): Promise<Observation>;
  /**
   * Sends one mutation under a new operation id. `send` gets the id and calls exactly one method of the browser.
   * @throws Stop OUTCOME_UNKNOWN when it cannot be known what happened.
   */
  act(operation: string, label: string | undefined, send: (operationId: string) => Promise<Dispatched>): Promise<Acted>;
  /** A refusal that leaves the decision worthless: counts against the budget, or ends the run. */
  discard(refusal: { code: string; cause?: string }): void;
  /** One paid question. */
  evaluate(request: JevRequest): Promise<JevResult>;
  pause(ms: number): Promise<void>;
  /** Ends with TASK_DEADLINE or TASK_CANCELLED before something new begins. */
  check(): void;
  /** Settles with the work, the deadline, the cancellation or, after `ms`, with a stop of that reason. */
  within<T>(work: Promise<T>, ms: number, late: string): Promise<T>;
  tell(event: Omit<BrowserProgress, 'contractVersion' | 'steps' | 'evaluations'>): void;
}

export function createSession(input: BrowserRunInput, ctx: Context, browser: RemoteBrowser): Session {
  const started = ctx.clock.now();
  const deadline = started + input.timeoutMs;
  const trace = createTrace(() => ctx.clock.now());
  const counts = { steps: 0, evaluations: 0, staleRetries: 0, textCalls: 0 };
  const cancelled = new Promise<never>((_, reject) => {
    const stop = () => reject(cancellation(ctx.signal));
    if (ctx.signal.aborted) stop();
    else ctx.signal.addEventListener('abort', stop);
  });
  cancelled.catch(() => {});

  let page: Observation | undefined;
  let lastAction: LastAction | undefined;
  let lastConfirmedAction: LastAction | undefined;
  let lastEvaluation: BrowserRunResult['lastEvaluation'];
  let staleInRow = 0;
  // What the decision behind the next action measured; told again with the action, so that one event says it all.
  let measured: Partial<BrowserProgress> = {};

  const check = () => {
    if (ctx.signal.aborted) throw cancellation(ctx.signal);
    if (ctx.clock.now() >= deadline) throw new Stop('TASK_DEADLINE');
  };

  const session: Session = {
    input,
    ctx,
    browser,
    trace,
    counts,
    get page() {
      return page;
    },
    get lastAction() {
      return lastAction;
    },
    get lastConfirmedAction() {
      return lastConfirmedAction;
    },
    get lastEvaluation() {
      return lastEvaluation;
    },
    check,

    async acquire() {
      check();
      ok(await session.within(browser.acquire(), CALL_TIMEOUT_MS, 'ADAPTER_TIMEOUT'));
    },
    async release() {
      const limit = timeLimit(RELEASE_TIMEOUT_MS);
      await Promise.race([browser.release(), limit.passed]).catch(() => undefined);
      limit.clear();
    },
    async renew() {
      ok(await session.within(browser.renew(), CALL_TIMEOUT_MS, 'ADAPTER_TIMEOUT'));
    },

    async read() {
      const from = ctx.clock.now();
      session.tell({ phase: 'observing' });
      let stale = 0;
      for (let pending = 1; ; ) {
        check();
        const reading = await session.within(browser.observe(), CALL_TIMEOUT_MS, 'ADAPTER_TIMEOUT');
        if (reading.ok) {
          page = reading.value;
          session.tell({ phase: 'observing', observe_ms: ctx.clock.now() - from });
          return page;
        }
        if (reading.code !== 'STALE_OBSERVATION') throw new Stop(reading.code);
        trace.add('recovery', { code: reading.code, cause: reading.cause, during: 'read' });
        if (reading.cause === 'NAVIGATION_PENDING') {
          if (pending > NAVIGATION_WAITS) throw new Stop('STALE_RETRY_BUDGET');
          await session.pause(NAVIGATION_WAIT_MS * pending);
          pending += 1;
        } else {
          stale += 1;
          counts.staleRetries += 1;
          if (stale > input.maxStaleRetries) throw new Stop('STALE_RETRY_BUDGET');
          await session.pause(STALE_WAIT_MS);
        }
      }
    },

    async act(operation, label, send) {
      check();
      const operationId = ctx.random.uuid();
      const from = ctx.clock.now();
      session.tell({ phase: 'acting', operationId, operation, ...(label === undefined ? {} : { label }) });
      trace.add('dispatch', { operationId, operation });
      // Until the reply is here, this is what is known. A cancellation in between must find it.
      lastAction = { operationId, operation, outcome: 'unknown' };
      const reply = await answerOf(send(operationId), ctx.signal);
      const done = reply.outcome === 'confirmed' ? (reply.completedAction ?? operation) : operation;
      lastAction = { operationId, operation: done, outcome: reply.outcome };
      if (reply.outcome !== 'not_executed') counts.steps += 1;
      const action_ms = ctx.clock.now() - from;
      session.tell({
        ...measured,
        phase: 'acted',
        operationId,
        operation: done,
        outcome: reply.outcome,
        action_ms,
        ...(label === undefined ? {} : { label }),
      });
      trace.add('action', {
        operationId,
        operation: done,
        outcome: reply.outcome,
        ms: action_ms,
        ...(reply.outcome === 'confirmed' ? {} : { code: reply.code, cause: reply.cause }),
      });
      measured = {};
      if (reply.outcome === 'unknown') throw new Stop('OUTCOME_UNKNOWN');
      if (reply.outcome === 'not_executed') return reply;
      staleInRow = 0;
      lastConfirmedAction = lastAction;
      if (reply.observation) page = reply.observation;
      return { outcome: 'confirmed', operation: done, page: reply.observation ?? (await session.read()) };
    },

    discard({ code, cause }) {
      trace.add('recovery', { code, cause, during: 'action' });
      if (code !== 'STALE_OBSERVATION') throw new Stop(code);
      staleInRow += 1;
      counts.staleRetries += 1;
      if (staleInRow > input.maxStaleRetries) {
        throw new Stop(cause === 'TARGET_OBSCURED' ? 'TARGET_OBSCURED' : 'STALE_RETRY_BUDGET');
      }
    },

    async evaluate(request) {
      check();
      if (counts.evaluations >= input.maxEvaluations) throw new Stop('EVALUATION_BUDGET');
      counts.evaluations += 1;
      session.tell({ phase: 'evaluating' });
      try {
        const result = await session.within(ctx.jev.evaluate(request), EVALUATION_TIMEOUT_MS, 'ADAPTER_TIMEOUT');
        lastEvaluation = { requestId: result.requestId, model: result.model };
        return result;
      } catch (error) {
        if (error instanceof Stop) throw error;
        throw codeOf(error) === 'JEV_CANCELLED' ? cancellation(ctx.signal) : providerStop(error);
      }
    },

    async pause(ms) {
      check();
      await Promise.race([ctx.clock.sleep(ms).catch(() => {}), cancelled]);
      check();
    },

    async within(work, ms, late) {
      const left = Math.max(0, deadline - ctx.clock.now());
      const reason = left < ms ? 'TASK_DEADLINE' : late;
      const limit = timeLimit(Math.min(ms, left));
      try {
        return await Promise.race([work, cancelled, limit.passed.then(() => Promise.reject(new Stop(reason)))]);
      } finally {
        limit.clear();
      }
    },

    tell(event) {
      const { steps, evaluations } = counts;
      if (event.phase === 'decided') {
        const { phase: _phase, label: _label, operation: _operation, ...rest } = event;
        measured = rest;
      }
      ctx.task.progress({ contractVersion: 1, steps, evaluations, ...event }).catch(() => {});
    },
  };
  return session;
}

/**
 * What is known of a mutation that was sent. A cancellation does not end the wait at once: the answer on its way tells
 * what happened on the page.
 */
async function answerOf(reply: Promise<Dispatched>, signal: AbortSignal): Promise<Dispatched> {
  const limit = timeLimit(CALL_TIMEOUT_MS);
  const hurry = () => limit.shorten(CANCEL_GRACE_MS);
  signal.addEventListener('abort', hurry);
  const unknown = (code: string): Dispatched => ({ outcome: 'unknown', code });
  try {
    return await Promise.race([
      reply.catch((error: unknown) => unknown(codeOf(error) ?? 'ADAPTER_FAILURE')),
      limit.passed.then(() => unknown('ADAPTER_TIMEOUT')),
    ]);
  } finally {
    limit.clear();
    signal.removeEventListener('abort', hurry);
  }
}

function ok(reading: Read<null>): void {
  if (!reading.ok) throw new Stop(reading.code);
}

function cancellation(signal: AbortSignal): Stop {
  const code = codeOf(signal.reason);
  return new Stop(code === 'REVISION_SUPERSEDED' || code === 'TASK_DEADLINE' ? code : 'TASK_CANCELLED');
}
