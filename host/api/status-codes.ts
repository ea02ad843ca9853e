/** Which HTTP status says which code (wire-contracts 4.5 and 5.3). */
import { jevStatusOf } from '../../core/jev/http-status.ts';
import { type CodeDetails, codes, describeCode } from '../../sdk/contract/codes.ts';
import type { HostError } from '../../sdk/contract/errors.ts';

const STATUS: Readonly<Record<string, number>> = {
  INVALID_INPUT: 400,
  INVALID_PAGE: 400,
  INVALID_REFRESH: 400,
  AGENT_NOT_NAMED: 400,
  UNAUTHORIZED: 401,
  ACCESS_DENIED: 403,
  EXECUTION_DENIED: 403,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  TASK_NOT_FOUND: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REVISION_CONFLICT: 409,
  STATE_CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 409,
  NOTHING_TO_RESUME: 409,
  ORCHESTRATION_DISABLED: 409,
  AUTOMATION_SESSION_EXISTS: 409,
  AGENT_HANDOFF_USED: 409,
  AGENT_HANDOFF_ONE_COMMAND: 409,
  CAPABILITY_CATALOG_CHANGED: 409,
  SESSION_LIMIT: 409,
  AUTOMATION_SESSION_CLOSED: 410,
  BODY_TOO_LARGE: 413,
  COMMAND_QUEUE_FULL: 429,
  TOO_MANY_REQUESTS: 429,
  TOO_MANY_OPEN: 429,
  INTERNAL: 500,
  NOT_READY: 503,
};

export function statusOf(code: string): number {
  const known = STATUS[code] ?? jevStatusOf(code);
  if (known !== undefined) return known;
  const entry = Object.hasOwn(codes, code) ? codes[code as keyof typeof codes] : undefined;
  // A refusal that repeating cannot change conflicts with how things are; anything else may work later.
  return entry?.retry === 'useless' ? 409 : 503;
}

/** Seconds after which a client may try again, where the code says so. */
export function retryAfterOf(error: HostError): string | undefined {
  const after = error.details.retryAfter;
  if (after !== undefined) return String(after);
  return error.code === 'JEV_QUEUE_FULL' || error.code === 'TOO_MANY_OPEN' ? '1' : undefined;
}

/** What another caller may not even know to exist looks like what does not exist. */
function shown(code: string): string {
  return code === 'TASK_NOT_FOUND' ? 'ACCESS_DENIED' : code;
}

/** The body over HTTP: the code as a string, or for Jev an object with what the provider said. */
export function httpBody(error: HostError): Record<string, unknown> {
  if (error.code.startsWith('JEV_'))
    return { error: { code: error.code, message: error.message, ...jevFacts(error.details) } };
  return { error: shown(error.code), message: describe(error), next: error.next };
}

/** The body of a refused tool call. */
export function toolBody(error: HostError): Record<string, unknown> {
  return { error: shown(error.code), message: `${describe(error)} ${error.next}`, ...jevFacts(error.details) };
}

function describe(error: HostError): string {
  return shown(error.code) === error.code ? error.message : describeCode('ACCESS_DENIED');
}

function jevFacts(details: CodeDetails): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  for (const name of ['status', 'retryAfter', 'resetAt', 'validationReason', 'path'])
    if (details[name] !== undefined) facts[name] = details[name];
  return facts;
}
