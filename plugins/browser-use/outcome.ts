/** Turns the end of a run into its result. What is not known outranks every other reason. */

import * as v from 'valibot';
import { type BrowserRunResult, BrowserRunResult as Result } from '../../sdk/contract/browser-run.ts';
import { cut } from './describe.ts';
import type { Observation } from './observation.ts';
import type { Session } from './session.ts';
import { Stop } from './stop.ts';
import { wallBehindStop } from './walls.ts';

/** Characters of JSON that a result may take, the host's limit less some room. */
const MAX_RESULT_CHARS = 1024 * 1024 - 4096;

/** Stops that only say that nothing on the page helped: a wall in view is the better explanation. */
const helpless = new Set([
  'NO_SUPPORTED_ACTION',
  'NO_PROGRESS',
  'LOW_OPERATION_CONFIDENCE',
  'LOW_TARGET_CONFIDENCE',
  'WAIT_BUDGET',
  'TARGET_OBSCURED',
  // A page with nothing but a password to give.
  'PAGE_CONTENT_UNAVAILABLE',
]);

export function resultOf(session: Session, end: Stop): BrowserRunResult {
  const stop = explained(session, end);
  const { lastAction, lastConfirmedAction, lastEvaluation, counts, page, trace } = session;
  trace.add('terminal', { status: stop.status, reason: stop.reason, ...counts });
  const result: BrowserRunResult = {
    contractVersion: 1,
    status: stop.status,
    reason: stop.reason,
    ...counts,
    ...(lastAction && { lastAction }),
    ...(lastConfirmedAction && { lastConfirmedAction }),
    ...(lastEvaluation && { lastEvaluation }),
    ...stop.extras,
    trace: trace.result(),
  };
  return page ? withObservation(result, page) : result;
}

function explained(session: Session, end: Stop): Stop {
  if (session.lastAction?.outcome === 'unknown') {
    const { commandOutcome, stepRun } = end.extras;
    return new Stop('OUTCOME_UNKNOWN', { ...(commandOutcome && { commandOutcome }), ...(stepRun && { stepRun }) });
  }
  const wall = session.page && helpless.has(end.reason) ? wallBehindStop(session.page) : undefined;
  if (!wall) return end;
  session.trace.add('recovery', { code: wall, instead_of: end.reason });
  return new Stop(wall);
}

/** Adds the last page, without the largest of its parts when the result would be too large. */
function withObservation(result: BrowserRunResult, page: Observation): BrowserRunResult {
  const room = MAX_RESULT_CHARS - JSON.stringify(result).length;
  const whole = { ...page };
  if (JSON.stringify(whole).length <= room) return { ...result, observation: whole };
  const { elements: _elements, ...rest } = page;
  const small = { ...rest, text: cut(page.text, 6000), elements_omitted: page.elements.length };
  return JSON.stringify(small).length <= room ? { ...result, observation: small } : result;
}

/** The result as the contract has it; a fault of this plugin's own is told apart from a stop. */
export function checked(result: BrowserRunResult): BrowserRunResult {
  return v.parse(Result, result);
}
