import { describe, expect, it } from 'vitest';
import { jevCodes } from '../../sdk/contract/codes/jev.ts';
import { type Code, codes, describeCode } from '../../sdk/contract/codes.ts';
import { jevStatusOf } from './http-status.ts';

describe('a failed evaluation over HTTP', () => {
  it.each([
    ['JEV_ACCESS_DENIED', 403],
    ['JEV_AUTHENTICATION_FAILED', 502],
    ['JEV_INVALID_REQUEST', 400],
    ['JEV_REQUEST_CONFLICT', 409],
    ['JEV_QUOTA_EXCEEDED', 402],
    ['JEV_RATE_LIMITED', 429],
    ['JEV_QUEUE_FULL', 429],
    ['JEV_DEADLINE_EXCEEDED', 504],
    ['JEV_DISABLED', 503],
    ['JEV_INVALID_CONFIG', 503],
    ['JEV_CANCELLED', 503],
    ['JEV_MODEL_UNAVAILABLE', 503],
    ['JEV_PROVIDER_UNAVAILABLE', 503],
    ['JEV_INVALID_RESPONSE', 503],
    ['JEV_OUTCOME_UNKNOWN', 503],
  ] as const)('%s answers %s', (code, status) => {
    expect(jevStatusOf(code)).toBe(status);
  });

  it('has a status for every code of the service', () => {
    for (const code of Object.keys(jevCodes) as Code[]) {
      expect(codes[code].next).not.toBe('');
      expect(describeCode(code)).not.toMatch(/undefined/);
      expect(jevStatusOf(code)).toBeGreaterThanOrEqual(400);
    }
  });

  it('is not said of other codes', () => {
    expect(jevStatusOf('INVALID_INPUT')).toBeUndefined();
  });
});
