/**
 * Remembers the request ids that callers chose, so that a repeated paid request is refused instead of made.
 *
 * Only callers' own ids enter. An id lives until five minutes after its evaluation settled; when there are too many, the
 * oldest settled ones go first. It does not outlive the process: lasting deduplication is the provider's.
 */
import { refuse } from '../../sdk/contract/errors.ts';

export const MAX_IDS = 4096;
export const MAX_IDS_PER_PRINCIPAL = 1024;
/** Milliseconds that an id stays after its evaluation settled. */
export const RETENTION_MS = 300_000;

export interface RequestLedger {
  /**
   * @param scope the principal, and what else makes an id the caller's own.
   * @throws JEV_REQUEST_CONFLICT when the id is known; JEV_QUEUE_FULL when nothing settled can make room.
   */
  begin(scope: LedgerScope, requestId: string): LedgerEntry;
  readonly size: number;
}

export interface LedgerScope {
  principalId: string;
  agentId: string;
}

export interface LedgerEntry {
  /** The request was sent, or may have been: the id stays. */
  settle(): void;
  /** Nothing was sent: the id may be used again. */
  release(): void;
}

interface Entry {
  key: string;
  principalId: string;
  expiresAt: number;
}

/** @param now milliseconds that never go back. */
export function createRequestLedger(now: () => number): RequestLedger {
  const entries = new Map<string, Entry>();
  const perPrincipal = new Map<string, number>();
  // In the order in which they settled, which is also the order in which they expire.
  const settled = new Set<Entry>();

  const forget = (entry: Entry): void => {
    if (!entries.delete(entry.key)) return;
    settled.delete(entry);
    const left = (perPrincipal.get(entry.principalId) ?? 1) - 1;
    if (left === 0) perPrincipal.delete(entry.principalId);
    else perPrincipal.set(entry.principalId, left);
  };
  const prune = (): void => {
    const at = now();
    for (const entry of settled) {
      if (entry.expiresAt > at) return;
      forget(entry);
    }
  };
  const evict = (principalId?: string): void => {
    for (const entry of settled) {
      if (principalId !== undefined && entry.principalId !== principalId) continue;
      forget(entry);
      return;
    }
    refuse('JEV_QUEUE_FULL', { ids: entries.size });
  };

  return {
    get size() {
      return entries.size;
    },
    begin({ principalId, agentId }, requestId) {
      prune();
      const key = JSON.stringify([principalId, agentId, requestId]);
      if (entries.has(key)) refuse('JEV_REQUEST_CONFLICT');
      if ((perPrincipal.get(principalId) ?? 0) >= MAX_IDS_PER_PRINCIPAL) evict(principalId);
      if (entries.size >= MAX_IDS) evict();
      const entry: Entry = { key, principalId, expiresAt: Number.POSITIVE_INFINITY };
      entries.set(key, entry);
      perPrincipal.set(principalId, (perPrincipal.get(principalId) ?? 0) + 1);
      return {
        settle() {
          if (entries.get(key) !== entry || settled.has(entry)) return;
          entry.expiresAt = now() + RETENTION_MS;
          settled.add(entry);
        },
        release: () => forget(entry),
      };
    },
  };
}
