/**
 * Holds every document that the browser asks for to the rules, before the request leaves: first addresses, redirects,
 * frames, windows that pages open, downloads.
 *
 * Threat: a page opens what it may not reach in a place where nobody looks. So the requests are held in the browser as a
 * whole and not tab by tab: there is no moment at which a new window or frame is not held yet. In a Chrome that its owner
 * uses as well, only what is worked on is held: the tabs by their own sessions, and the windows that they open.
 */
import type { Protocol } from '../chromium/protocol.ts';
import type { Tab } from '../tab/tab.ts';
import type { Denial, Rules } from './rules.ts';

/** Whose a document is that a frame asks for. */
export interface Whose {
  /** The tab that is told of a refusal. */
  tab: Tab;
  place: 'page' | 'frame' | 'window';
}

/** @returns nothing for a frame of a tab that nobody works on and that no such tab opened. */
export type FindWhose = (frameId: string) => Whose | undefined;

interface Paused {
  requestId: string;
  request: { url: string };
  frameId: string;
}

/** What a page makes itself, or the browser: no request leaves for it. A page cannot open the browser's own. */
const FROM_WITHIN = /^(?:about|data|blob|chrome|chrome-extension|chrome-untrusted|devtools):/;
/** Only what loads a document. */
const DOCUMENTS = { patterns: [{ resourceType: 'Document', requestStage: 'Request' }] };
const NAMES = { page: 'An address', frame: 'A frame', window: 'A window that the page opened' };

export class Navigation {
  readonly #rules: Rules;
  /** By main frame. */
  readonly #blocked = new Map<string, Denial>();

  readonly #everyTab: boolean;

  /** @param options.everyTab the browser is this device's own: tabs that nobody works on are held too. */
  constructor(rules: Rules, options: { everyTab: boolean }) {
    this.#rules = rules;
    this.#everyTab = options.everyTab;
  }

  refusal(url: string): Promise<Denial | undefined> {
    return this.#rules.denial(url);
  }

  /** @param mainId the tab's main frame. */
  begin(mainId: string): void {
    this.#blocked.delete(mainId);
  }

  /** What of the tab's main document was refused since `begin`. */
  blocked(mainId: string): Denial | undefined {
    return this.#blocked.get(mainId);
  }

  /** Holds the whole browser. To be called before anything is opened in it. */
  async hold(protocol: Protocol, whose: FindWhose): Promise<void> {
    this.#blocked.clear();
    protocol.on('Fetch.requestPaused', (paused: Paused) => {
      const found = whose(paused.frameId);
      const isHeld = this.#everyTab || found?.place === 'window';
      void this.#answer(protocol, undefined, paused, isHeld ? this.#decide(paused, found) : undefined);
    });
    await protocol.send('Fetch.enable', DOCUMENTS);
  }

  /** @param session the tab's own, or that of a frame in another process. */
  async holdTab(tab: Tab, session: string): Promise<void> {
    const { protocol } = tab;
    this.#followAnswers(tab, session);
    if (this.#everyTab) return;
    protocol.on(
      'Fetch.requestPaused',
      (paused: Paused) => {
        const place = paused.frameId === tab.frames.mainId ? 'page' : 'frame';
        void this.#answer(protocol, session, paused, this.#decide(paused, { tab, place }));
      },
      session,
    );
    await protocol.send('Fetch.enable', DOCUMENTS, session);
  }

  async #decide({ request, frameId }: Paused, whose: Whose | undefined): Promise<Denial | undefined> {
    if (FROM_WITHIN.test(request.url)) return undefined;
    const denial = await this.#rules.denial(request.url);
    if (denial) this.#note(whose, frameId, denial);
    return denial;
  }

  async #answer(
    protocol: Protocol,
    session: string | undefined,
    { requestId }: Paused,
    decision: Promise<Denial | undefined> | undefined,
  ): Promise<void> {
    const answer = (await decision)
      ? protocol.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }, session)
      : protocol.send('Fetch.continueRequest', { requestId }, session);
    // The page may have given the request up by itself.
    await answer.catch(() => {});
  }

  /**
   * A name can lead elsewhere at the browser's own lookup. By then the request was sent; its answer is dropped. Where the
   * browser shows it before it can be stopped, nobody looks at the tab until it is gone.
   */
  #followAnswers(tab: Tab, session: string): void {
    const { protocol } = tab;
    const leaving = tab.leaving;
    const away = (frameId: string) =>
      protocol.send('Page.navigate', { url: 'about:blank', frameId }, session).catch(() => {
        // It is not shown yet, and is tried again when it is; or it went away with its session.
      });
    protocol.on(
      'Network.responseReceived',
      ({ type, response, frameId, loaderId }) => {
        if (type !== 'Document') return;
        if (!this.#rules.answeredFromInside(response.url, response.remoteIPAddress ?? '')) return;
        const place = frameId === tab.frames.mainId ? 'page' : 'frame';
        this.#note({ tab, place }, frameId, { code: 'NAVIGATION_DENIED', cause: 'PRIVATE_ADDRESS' });
        leaving.begin(frameId, loaderId);
        void protocol
          .send('Page.stopLoading', {}, session)
          .catch(() => {})
          .then(() => away(frameId));
      },
      session,
    );
    protocol.on(
      'Page.frameNavigated',
      ({ frame }) => {
        if (leaving.shows(frame.id, frame.loaderId)) void away(frame.id);
        else if (frame.parentId === undefined && frame.id === tab.frames.mainId) leaving.endAll();
        else leaving.end(frame.id);
      },
      session,
    );
    protocol.on(
      'Page.frameDetached',
      ({ frameId, reason }) => {
        if (reason !== 'swap') leaving.end(frameId);
      },
      session,
    );
  }

  #note(whose: Whose | undefined, frameId: string, denial: Denial): void {
    if (whose?.place !== 'frame') this.#blocked.set(frameId, denial);
    whose?.tab.notices.add(denial.code, `${NAMES[whose.place]} was not opened: ${denial.cause}.`);
  }
}
