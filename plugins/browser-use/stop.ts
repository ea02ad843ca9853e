/** How a run ends. A stop is thrown where it is known and turned into the result in one place. */
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';

export type Status = BrowserRunResult['status'];
export type StopExtras = Partial<
  Pick<BrowserRunResult, 'fieldRequest' | 'commandOutcome' | 'stepRun' | 'providerFailure'>
>;

export class Stop extends Error {
  readonly reason: string;
  readonly status: Status;
  readonly extras: StopExtras;

  constructor(reason: string, extras: StopExtras = {}, status: Status = statusOf(reason)) {
    super(reason);
    this.name = 'Stop';
    this.reason = reason;
    this.status = status;
    this.extras = extras;
  }
}

const byReason: Readonly<Record<string, Status>> = {
  VERIFIED: 'succeeded',
  COMPLETION_CANDIDATE: 'needs_verification',
  VERIFICATION_FAILED: 'needs_verification',
  OBSERVATION_TRUNCATED: 'needs_verification',
  OUTCOME_UNKNOWN: 'needs_verification',
  COMMAND_WAITING_INPUT: 'needs_verification',
  TASK_CANCELLED: 'cancelled',
  REVISION_SUPERSEDED: 'cancelled',
  INVALID_CONTRACT: 'failed',
  INVALID_INPUT: 'failed',
  INVALID_BROWSER_RESPONSE: 'failed',
  BROWSER_TOOL_FAILURE: 'failed',
  ADAPTER_FAILURE: 'failed',
};

/** Every reason that is not named above is a boundary that the run knew and kept to: blocked. */
export function statusOf(reason: string): Status {
  return Object.hasOwn(byReason, reason) ? (byReason[reason] as Status) : 'blocked';
}

/** The code that an error of the host or of the device carries, if it is one of theirs. */
export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,100}$/.test(code) ? code : undefined;
}

/** A failed evaluation or Thinking call: reported as the provider's failure, never as a missing value. */
export function providerStop(error: unknown): Stop {
  const code = codeOf(error) ?? 'ADAPTER_FAILURE';
  const details = (error as { details?: Record<string, unknown> }).details ?? {};
  const text = (key: string, limit: number) =>
    typeof details[key] === 'string' ? { [key]: details[key].slice(0, limit) } : {};
  const status = details.status;
  return new Stop(code, {
    providerFailure: {
      code,
      ...text('validationReason', 64),
      ...text('retryAfter', 128),
      ...text('resetAt', 128),
      ...(typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599 ? { status } : {}),
    },
  });
}
