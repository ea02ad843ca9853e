/** How a failed evaluation looks over HTTP (wire-contracts 5.3): the status by code, and a body without provider text. */
import type { Code } from '../../sdk/contract/codes.ts';
import type { HostError } from '../../sdk/contract/errors.ts';

/** Codes that are not listed answer 503. */
const jevHttpStatus: Readonly<Partial<Record<Code, number>>> = {
  JEV_ACCESS_DENIED: 403,
  JEV_AUTHENTICATION_FAILED: 502,
  JEV_INVALID_REQUEST: 400,
  JEV_REQUEST_CONFLICT: 409,
  JEV_QUOTA_EXCEEDED: 402,
  JEV_RATE_LIMITED: 429,
  JEV_QUEUE_FULL: 429,
  JEV_DEADLINE_EXCEEDED: 504,
};

export function jevStatusOf(code: string): number {
  return (jevHttpStatus as Readonly<Record<string, number>>)[code] ?? 503;
}

export interface JevErrorBody {
  error: {
    code: string;
    message: string;
    /** The provider's HTTP status. */
    status?: number;
    retryAfter?: string;
    resetAt?: string;
    validationReason?: string;
  };
}

export function jevErrorResponse(error: HostError): { status: number; body: JevErrorBody } {
  const { status, retryAfter, resetAt, validationReason } = error.details;
  const body: JevErrorBody['error'] = { code: error.code, message: error.message };
  if (typeof status === 'number') body.status = status;
  if (typeof retryAfter === 'string') body.retryAfter = retryAfter;
  if (typeof resetAt === 'string') body.resetAt = resetAt;
  if (typeof validationReason === 'string') body.validationReason = validationReason;
  return { status: jevStatusOf(error.code), body: { error: body } };
}
