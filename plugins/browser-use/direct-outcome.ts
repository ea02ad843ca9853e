/**
 * What became of one direct command, told so that the session goes on: done, or not done with a reason and nothing sent.
 *
 * Only a stop at which nothing of the command ran, or whose action is confirmed, is told this way. An action that may
 * have run stays unknown, and a stop of access, credentials or quota ends the task as it would for any run.
 */
import type { CommandOutcome } from '../../sdk/contract/browser-run.ts';
import type { Session } from './session.ts';
import { Stop, type StopExtras } from './stop.ts';

export type CommandAction = NonNullable<CommandOutcome['action']>;

/** The end of a command that its own rules brought about. What was thrown instead is for `settled` to judge. */
export interface Settled {
  done: boolean;
  action?: CommandAction;
  reason?: string;
  /** Jev itself did not know what to do. */
  gaveUp?: true;
}

/** Reasons at which nothing was sent and the next command may follow (wire-contracts 3.3). */
const NOT_DONE = new Set([
  'ADAPTER_TIMEOUT',
  'DEADLINE_EXCEEDED',
  'INVALID_RESPONSE',
  'INVALID_REQUEST',
  'PROVIDER_UNAVAILABLE',
  'RATE_LIMITED',
  'MODEL_UNAVAILABLE',
  'QUEUE_FULL',
  'REQUEST_CONFLICT',
  'INVALID_DECISION',
  'STALE_OBSERVATION',
  'STALE_RETRY_BUDGET',
  'NO_SUPPORTED_ACTION',
  'LOW_OPERATION_CONFIDENCE',
  'LOW_TARGET_CONFIDENCE',
  'NO_PROGRESS',
  'PAGE_CONTENT_UNAVAILABLE',
  'WAIT_BUDGET',
  'ACTION_SPACE_TOO_LARGE',
  'EVALUATION_INPUT_TOO_LARGE',
  'HISTORY_UNAVAILABLE',
  'SCROLL_LIMIT',
  'NEW_TAB_OUT_OF_SCOPE',
  'KEY_UNSUPPORTED',
  'ACTION_BUDGET',
  'EVALUATION_BUDGET',
  'TEXT_BUDGET',
  'TARGET_OBSCURED',
  'FIELD_TEXT_REQUIRED',
  'NAVIGATION_UNRESOLVED',
  'NAVIGATION_DENIED',
  'URL_NOT_ALLOWED',
  'START_URL_REQUIRED',
]);

/** The provider's codes carry the service's name on this host. JEV_OUTCOME_UNKNOWN is about an answer, not about the page. */
const isNotDone = (reason: string) =>
  reason === 'JEV_OUTCOME_UNKNOWN' || NOT_DONE.has(reason.replace(/^(?:JEV|THINKING)_/, ''));

/** @param attempted what the command was about to do when it stopped, for the words of the outcome. */
export function settled(session: Session, stop: Stop, attempted: CommandAction | undefined): Settled | Stop {
  const { lastAction } = session;
  const action = attempted === undefined ? {} : { action: attempted };
  if (lastAction?.outcome === 'unknown') {
    return new Stop('OUTCOME_UNKNOWN', {
      ...stop.extras,
      commandOutcome: { done: false, ...action, reason: 'OUTCOME_UNKNOWN' },
    });
  }
  if (stop.status === 'cancelled') return stop;
  if (lastAction?.outcome === 'confirmed') {
    // It ran. That the page after it could not be read does not undo it.
    const told = { done: true, ...action, reason: 'PAGE_STILL_LOADING' };
    return isNotDone(stop.reason) ? told : new Stop(stop.reason, { ...stop.extras, commandOutcome: told }, stop.status);
  }
  return isNotDone(stop.reason) ? { done: false, ...action, reason: stop.reason } : stop;
}

/**
 * The end of the run, for a command that left the session open. A text that is missing is no question to the owner here:
 * the next command may follow at once.
 */
export function waiting(commandOutcome: Settled, { providerFailure }: StopExtras = {}): Stop {
  return new Stop('COMMAND_WAITING_INPUT', { commandOutcome, ...(providerFailure && { providerFailure }) });
}
