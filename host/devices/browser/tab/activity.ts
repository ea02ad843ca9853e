/**
 * What the tab is doing: documents on their way, and requests that the page made since the last input.
 *
 * A request of a kind that the page had been making by itself before the input (polling) is not counted as its effect.
 */
import type { EventListener, Protocol } from '../chromium/protocol.ts';

/** Kinds of requests that can change what a page shows. */
const COUNTED = new Set(['XHR', 'Fetch', 'Script', 'Stylesheet', 'Document']);
/** Milliseconds for which the page's own habits are remembered. */
const HABIT_MS = 30_000;
const MAX_HABITS = 500;
/** Milliseconds after the head of an answer in which its body counts as on its way; a page may never read it. */
const BODY_MS = 250;

interface Habit {
  at: number;
  times: number;
  /** Times before the last input. */
  before: number;
}

export class Activity {
  readonly #now: () => number;
  readonly #pending = new Map<string, string>();
  readonly #habits = new Map<string, Habit>();
  readonly #listeners = new Set<() => void>();
  #inputAt = 0;
  /** Failed requests since the last input, bounded. */
  failed: string[] = [];
  /** A new main document was asked for and has not arrived. */
  navigating = false;
  /** The main document's content has been parsed. */
  parsed = true;
  loaded = true;
  /** Grows with every main document that arrives. */
  documents = 0;
  #mainId = '';

  constructor(now: () => number) {
    this.#now = now;
  }

  follow(protocol: Protocol, session: string, mainId: () => string): void {
    const on = (event: string, listener: EventListener) => protocol.on(event, listener, session);
    on('Network.requestWillBeSent', ({ requestId, type, request, frameId }) => {
      if (!COUNTED.has(type)) return;
      if (type === 'Document' && frameId === mainId()) return;
      const kind = kindOf(request.method, request.url);
      if (this.#isHabit(kind)) return;
      this.#pending.set(requestId, kind);
    });
    const done = ({ requestId }: { requestId: string }) => {
      if (this.#pending.delete(requestId)) this.tell();
    };
    on('Network.loadingFinished', done);
    on('Network.loadingFailed', ({ requestId, canceled, errorText }) => {
      const kind = this.#pending.get(requestId);
      if (kind && !canceled && this.failed.length < 10) this.failed.push(`${kind} ${errorText}`.slice(0, 200));
      done({ requestId });
    });
    on('Network.responseReceived', ({ requestId, response }) => {
      // A stream never ends; it is not something to wait for.
      if (response.mimeType === 'text/event-stream') done({ requestId });
      else if (this.#pending.has(requestId)) setTimeout(() => done({ requestId }), BODY_MS).unref();
    });
  }

  /** Events of the tab's own session about its main document. */
  followNavigation(protocol: Protocol, session: string, mainId: () => string): void {
    const on = (event: string, listener: EventListener) => protocol.on(event, listener, session);
    const starts = ({ frameId }: { frameId: string }) => {
      if (frameId !== mainId()) return;
      this.navigating = true;
      this.tell();
    };
    on('Page.frameRequestedNavigation', ({ disposition, url, frameId }) => {
      if (disposition === 'currentTab' && !url.startsWith('javascript:')) starts({ frameId });
    });
    on('Page.frameStartedNavigating', ({ navigationType, frameId }) => {
      if (!/sameDocument/i.test(navigationType)) starts({ frameId });
    });
    on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId !== undefined) return;
      this.#mainId = frame.id;
      this.navigating = false;
      this.parsed = false;
      this.loaded = false;
      this.documents++;
      this.#pending.clear();
      this.#habits.clear();
      this.tell();
    });
    on('Page.navigatedWithinDocument', ({ frameId }) => {
      if (frameId === mainId()) this.navigating = false;
      this.tell();
    });
    on('Page.domContentEventFired', () => {
      this.parsed = true;
      this.tell();
    });
    on('Page.loadEventFired', () => {
      this.parsed = true;
      this.loaded = true;
      this.tell();
    });
    on('Page.frameStoppedLoading', ({ frameId }) => {
      if (frameId !== mainId() && frameId !== this.#mainId) return;
      // A download, an answer without content, or a refused navigation: no new document comes.
      this.navigating = false;
      this.parsed = true;
      this.loaded = true;
      this.tell();
    });
  }

  /** From here on, requests are taken for the effect of an input. */
  beginInput(): void {
    this.#inputAt = this.#now();
    this.#pending.clear();
    this.failed = [];
  }

  /** Something else that the page waits for, such as a download. */
  begin(what: string): void {
    this.#pending.set(what, what);
  }

  end(what: string): void {
    if (this.#pending.delete(what)) this.tell();
  }

  get requests(): number {
    return this.#pending.size;
  }

  get inputAt(): number {
    return this.#inputAt;
  }

  /** Called at every change of anything here. @returns what stops it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Something outside happened that ends every waiting: a dialog opened, the page crashed. */
  tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /**
   * Waits for the work, but no longer than until `stop` holds or the time is up.
   * @returns undefined when it was stopped; the work itself goes on.
   */
  orUntil<T>(work: Promise<T>, stop: () => boolean, ms: number): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      if (stop()) {
        work.catch(() => {});
        resolve(undefined);
        return;
      }
      const finish = (act: () => void) => {
        clearTimeout(timer);
        unwatch();
        act();
      };
      const timer = setTimeout(() => finish(() => resolve(undefined)), ms);
      const unwatch = this.watch(() => {
        if (stop()) finish(() => resolve(undefined));
      });
      work.then(
        (value) => finish(() => resolve(value)),
        (error) => finish(() => reject(error)),
      );
    });
  }

  /** @returns whether it holds, at the latest when the time is up. */
  async until(holds: () => boolean, ms: number): Promise<boolean> {
    if (!holds()) await this.orUntil(new Promise<never>(() => {}), holds, ms);
    return holds();
  }

  #isHabit(kind: string): boolean {
    const now = this.#now();
    const known = this.#habits.get(kind);
    if (!known || now - known.at > HABIT_MS) {
      if (this.#habits.size > MAX_HABITS) this.#habits.clear();
      this.#habits.set(kind, { at: now, times: 1, before: 0 });
      return false;
    }
    // How often it had been made when the input came decides, however often it is made after.
    if (known.at < this.#inputAt) known.before = known.times;
    known.at = now;
    known.times++;
    return known.before >= 2;
  }
}

function kindOf(method: string, url: string): string {
  const end = url.search(/[?#]/);
  return `${method} ${(end < 0 ? url : url.slice(0, end)).slice(0, 300)}`;
}
