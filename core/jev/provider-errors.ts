/**
 * What a provider's refusal means here. A fixed table: nothing of the provider's text is passed on, because an error body
 * can repeat the submitted state or a credential.
 */
import type { Code, CodeDetails } from '../../sdk/contract/codes.ts';
import { HostError } from '../../sdk/contract/errors.ts';

/** Bytes of an error body that are read. */
export const MAX_ERROR_BYTES = 16_384;

const BY_STATUS: Readonly<Record<number, Code>> = {
  400: 'JEV_INVALID_REQUEST',
  401: 'JEV_AUTHENTICATION_FAILED',
  402: 'JEV_QUOTA_EXCEEDED',
  403: 'JEV_ACCESS_DENIED',
  404: 'JEV_MODEL_UNAVAILABLE',
  409: 'JEV_REQUEST_CONFLICT',
  413: 'JEV_INVALID_REQUEST',
  422: 'JEV_INVALID_REQUEST',
  429: 'JEV_RATE_LIMITED',
  504: 'JEV_DEADLINE_EXCEEDED',
};

const BY_UPSTREAM_CODE: Readonly<Record<string, Code>> = {
  QUOTA_EXHAUSTED: 'JEV_QUOTA_EXCEEDED',
  QUOTA_EXCEEDED: 'JEV_QUOTA_EXCEEDED',
  MODEL_DISABLED: 'JEV_MODEL_UNAVAILABLE',
  UNKNOWN_MODEL: 'JEV_MODEL_UNAVAILABLE',
  UPSTREAM_AUTH_ERROR: 'JEV_AUTHENTICATION_FAILED',
  UPSTREAM_RATE_LIMITED: 'JEV_RATE_LIMITED',
  REQUEST_CONFLICT: 'JEV_REQUEST_CONFLICT',
  UPSTREAM_TIMEOUT: 'JEV_OUTCOME_UNKNOWN',
  UPSTREAM_OUTCOME_UNKNOWN: 'JEV_OUTCOME_UNKNOWN',
  CANCELLED_OUTCOME_UNKNOWN: 'JEV_OUTCOME_UNKNOWN',
  RESERVATION_UNKNOWN: 'JEV_OUTCOME_UNKNOWN',
  SETTLEMENT_UNKNOWN: 'JEV_OUTCOME_UNKNOWN',
};

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** @param body the parsed error body of an upstream, when it was JSON and small enough. */
export function providerFailure(status: number, headers: ResponseHeaders, body: unknown): HostError {
  const error = upstreamError(body);
  const code =
    (typeof error?.code === 'string' && Object.hasOwn(BY_UPSTREAM_CODE, error.code)
      ? BY_UPSTREAM_CODE[error.code]
      : undefined) ??
    BY_STATUS[status] ??
    'JEV_PROVIDER_UNAVAILABLE';
  const details: Record<string, string | number> = { status };
  const retryAfter = safeHint(headers['retry-after']);
  const resetAt = safeHint(headers['x-ratelimit-reset']) ?? safeHint(error?.resets_at) ?? safeHint(error?.resetAt);
  if (retryAfter !== undefined) details.retryAfter = retryAfter;
  if (resetAt !== undefined) details.resetAt = resetAt;
  return new HostError(code, details satisfies CodeDetails);
}

function upstreamError(body: unknown): Record<string, unknown> | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const error = (body as { error?: unknown }).error;
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined;
}

/** Seconds or a date; anything longer or stranger is not passed on. */
function safeHint(value: unknown): string | undefined {
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value;
  return typeof text === 'string' && text.length < 128 && /^[\w\s,:.+-]+$/.test(text) ? text : undefined;
}
