/** The HTTP status of a failed evaluation, by code (wire-contracts 5.3). */
import type { Code } from '../../sdk/contract/codes.ts';

const STATUS: Readonly<Partial<Record<Code, number>>> = {
  JEV_INVALID_REQUEST: 400,
  JEV_QUOTA_EXCEEDED: 402,
  JEV_ACCESS_DENIED: 403,
  JEV_REQUEST_CONFLICT: 409,
  JEV_RATE_LIMITED: 429,
  JEV_QUEUE_FULL: 429,
  JEV_AUTHENTICATION_FAILED: 502,
  JEV_DEADLINE_EXCEEDED: 504,
};

/** @returns undefined for codes that are no evaluation's. */
export function jevStatusOf(code: string): number | undefined {
  if (!code.startsWith('JEV_')) return undefined;
  return STATUS[code as Code] ?? 503;
}
