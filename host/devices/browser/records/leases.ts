/** Who works a tab: one holder at a time, for a minute at a time. */
import { timingSafeEqual } from 'node:crypto';
import { LEASE_TTL_MS } from '../../../../sdk/devices/remote-browser-contract.ts';
import { Refusal } from '../refusal.ts';

interface Lease {
  token: string;
  grantId: string;
  expiresAt: number;
}

export class Leases {
  readonly #byTab = new Map<string, Lease>();
  readonly #now: () => number;
  readonly #uuid: () => string;
  readonly #isGranted: (grantId: string) => boolean;

  /** @param options.isGranted whether a grant still holds; a lease does not outlive its grant. */
  constructor(options: { now(): number; uuid(): string; isGranted?(grantId: string): boolean }) {
    this.#isGranted = (id) => options.isGranted?.(id) ?? true;
    this.#now = options.now;
    this.#uuid = options.uuid;
  }

  /** @throws Refusal BROWSER_BUSY while another holder's lease lives. */
  acquire(tabId: string, grantId: string): string {
    const held = this.#live(tabId);
    if (held) throw new Refusal('BROWSER_BUSY', { facts: { retry_after_ms: held.expiresAt - this.#now() } });
    const token = this.#uuid();
    this.#byTab.set(tabId, { token, grantId, expiresAt: this.#now() + LEASE_TTL_MS });
    return token;
  }

  /** @throws Refusal LEASE_REQUIRED or LEASE_EXPIRED. */
  renew(tabId: string, token: string | undefined): number {
    const lease = this.check(tabId, token);
    lease.expiresAt = this.#now() + LEASE_TTL_MS;
    return lease.expiresAt;
  }

  release(tabId: string, token: string | undefined): void {
    const lease = this.#byTab.get(tabId);
    if (lease && token !== undefined && same(lease.token, token)) this.#byTab.delete(tabId);
  }

  check(tabId: string, token: string | undefined): Lease {
    if (token === undefined) throw new Refusal('LEASE_REQUIRED');
    const lease = this.#live(tabId);
    if (!lease || !same(lease.token, token)) throw new Refusal('LEASE_EXPIRED');
    return lease;
  }

  /** A read without a lease is fine as long as nobody holds the tab. */
  checkForReading(tabId: string, token: string | undefined): void {
    if (token !== undefined) this.check(tabId, token);
    else if (this.#live(tabId)) throw new Refusal('BROWSER_BUSY');
  }

  isHeld(tabId: string): boolean {
    return this.#live(tabId) !== undefined;
  }

  /** Ends leases at once: their grant was taken back, or their tab is gone. */
  revoke(which: { grantId?: string; tabId?: string }): void {
    for (const [tabId, lease] of this.#byTab)
      if (lease.grantId === which.grantId || tabId === which.tabId) this.#byTab.delete(tabId);
  }

  #live(tabId: string): Lease | undefined {
    const lease = this.#byTab.get(tabId);
    if (!lease) return undefined;
    if (lease.expiresAt > this.#now() && this.#isGranted(lease.grantId)) return lease;
    this.#byTab.delete(tabId);
    return undefined;
  }
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
