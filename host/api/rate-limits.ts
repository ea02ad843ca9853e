/**
 * What one key may ask: requests over time, and requests that are open at once.
 *
 * Threat: one key, by mistake or on purpose, takes the host from all others. Counting is per key, in constant memory; the
 * refusal says when to come back.
 */
import { refuse } from '../../sdk/contract/errors.ts';

export interface RateLimits {
  /** Takes one request. @throws TOO_MANY_REQUESTS with `retryAfter` in seconds. */
  take(keyId: string): void;
  /** Opens one call. @returns what closes it, once. @throws TOO_MANY_OPEN. */
  open(keyId: string, kind: 'request' | 'stream'): () => void;
}

export interface LimitNumbers {
  requestsPerMinute: number;
  concurrentRequests: number;
  streams: number;
}

/** Part of a minute's requests that may come at once. */
const BURST_SHARE = 0.25;

interface Bucket {
  tokens: number;
  at: number;
}

/** @param limits read at every call, so that a changed configuration holds at once. */
export function createRateLimits(limits: () => LimitNumbers, now: () => number): RateLimits {
  const buckets = new Map<string, Bucket>();
  const opened = new Map<string, number>();

  return {
    take(keyId) {
      const { requestsPerMinute } = limits();
      const perMs = requestsPerMinute / 60_000;
      const size = Math.max(1, Math.ceil(requestsPerMinute * BURST_SHARE));
      const at = now();
      const bucket = buckets.get(keyId) ?? { tokens: size, at };
      bucket.tokens = Math.min(size, bucket.tokens + Math.max(0, at - bucket.at) * perMs);
      bucket.at = at;
      buckets.set(keyId, bucket);
      if (bucket.tokens < 1)
        refuse('TOO_MANY_REQUESTS', { retryAfter: Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)) });
      bucket.tokens -= 1;
    },

    open(keyId, kind) {
      const numbers = limits();
      const limit = kind === 'stream' ? numbers.streams : numbers.concurrentRequests;
      const name = `${kind}:${keyId}`;
      const count = opened.get(name) ?? 0;
      if (count >= limit) refuse('TOO_MANY_OPEN', { limit });
      opened.set(name, count + 1);
      let closed = false;
      return () => {
        if (closed) return;
        closed = true;
        const left = (opened.get(name) ?? 1) - 1;
        if (left > 0) opened.set(name, left);
        else opened.delete(name);
      };
    },
  };
}
