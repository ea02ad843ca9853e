/**
 * What the device's owner has allowed: which tab, to look or to act, until when. Nothing of it outlives the process, for
 * neither do the tabs.
 */
import type { GrantsReply } from '../../../../sdk/devices/remote-browser-contract.ts';
import { Refusal } from '../refusal.ts';

/** Milliseconds that one grant may last at most. */
export const MAX_GRANT_MS = 24 * 60 * 60 * 1000;
const MAX_GRANTS = 50;

export interface Grant {
  id: string;
  tabId: string;
  control: boolean;
  expiresAt: number;
}

export interface TabSummary {
  id: string;
  title: string;
  url: string;
  /** A page of an approved tab opened it; it is nobody's until the owner says so. */
  opened: boolean;
}

export interface GrantsOptions {
  deviceId: string;
  label: string;
  approve: 'owner' | 'always';
  now(): number;
  uuid(): string;
  tabs(): TabSummary[];
  /** What became of a tab that is gone: a code. */
  fate(tabId: string): string | undefined;
}

export class Grants {
  readonly #options: GrantsOptions;
  readonly #grants = new Map<string, Grant>();
  /** Stands for "everything" where the owner said so, or for "nothing yet" where each tab is approved. */
  readonly #standingId: string;
  /** When a connector last asked the owner for access. */
  askedAt: number | undefined;
  #waiting = new Set<() => void>();

  constructor(options: GrantsOptions) {
    this.#options = options;
    this.#standingId = options.uuid();
  }

  /** What `/v1/grants` answers to a connector. */
  list(): GrantsReply {
    const { deviceId, label, approve } = this.#options;
    const tabs = this.#options.tabs();
    const base = { deviceId, label, online: true };
    const named = (tab: TabSummary) => ({ id: tab.id, title: tab.title });
    if (approve === 'always') {
      return {
        grants: [
          {
            ...base,
            id: this.#standingId,
            ready: true,
            policy: { control: true, tabs: tabs.filter((tab) => !tab.opened).map(named) },
          },
        ],
      };
    }
    const live = this.live();
    if (live.length === 0)
      return { grants: [{ ...base, id: this.#standingId, ready: false, policy: { control: false, tabs: [] } }] };
    return {
      grants: live.map((grant) => ({
        ...base,
        id: grant.id,
        ready: true,
        expiresAt: grant.expiresAt,
        policy: { control: grant.control, tabs: tabs.filter((tab) => tab.id === grant.tabId).map(named) },
      })),
    };
  }

  live(): Grant[] {
    const now = this.#options.now();
    for (const [id, grant] of this.#grants) if (grant.expiresAt <= now) this.#grants.delete(id);
    return [...this.#grants.values()];
  }

  /** @throws Refusal TAB_CLOSED, TOO_MANY_GRANTS. */
  create(wish: { tabId: string; control: boolean; ttlMs: number }): Grant {
    if (!this.#options.tabs().some((tab) => tab.id === wish.tabId)) throw new Refusal('TAB_CLOSED');
    if (this.live().length >= MAX_GRANTS) throw new Refusal('TOO_MANY_GRANTS');
    const grant: Grant = {
      id: this.#options.uuid(),
      tabId: wish.tabId,
      control: wish.control,
      expiresAt: this.#options.now() + Math.min(wish.ttlMs, MAX_GRANT_MS),
    };
    this.#grants.set(grant.id, grant);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
    return grant;
  }

  isLive(id: string): boolean {
    return this.#options.approve === 'always' ? id === this.#standingId : this.live().some((grant) => grant.id === id);
  }

  revoke(id: string): Grant | undefined {
    const grant = this.#grants.get(id);
    this.#grants.delete(id);
    return grant;
  }

  /**
   * @throws Refusal CONSENT_REQUIRED when the scope is not granted now, CONTROL_DENIED when it is for reading only; where
   * the tab was granted and is gone, the code of its fate.
   */
  check(scope: { device_id: string; grant_id: string; tab_id: string }, toAct: boolean): void {
    const { tabs, fate, deviceId } = this.#options;
    const tab = tabs().find((candidate) => candidate.id === scope.tab_id);
    const grant = this.#find(scope.grant_id, scope.tab_id, tab?.opened ?? false);
    if (scope.device_id !== deviceId || !grant) throw new Refusal('CONSENT_REQUIRED');
    if (!tab) throw new Refusal(fate(scope.tab_id) ?? 'CONSENT_REQUIRED');
    if (toAct && !grant.control) throw new Refusal('CONTROL_DENIED');
  }

  #find(id: string, tabId: string, opened: boolean): { control: boolean } | undefined {
    if (this.#options.approve === 'always') return id === this.#standingId && !opened ? { control: true } : undefined;
    return this.live().find((grant) => grant.id === id && grant.tabId === tabId);
  }

  /** Tells the owner that somebody waits, and waits a while for the answer. */
  async request(waitMs: number): Promise<boolean> {
    if (this.#options.approve === 'always' || this.live().length > 0) return true;
    this.askedAt = this.#options.now();
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(wake);
        resolve();
      }, waitMs);
      this.#waiting.add(wake);
    });
    return this.live().length > 0;
  }
}
