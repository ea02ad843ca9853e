/** Holds every document request of a granted tab to the rules: first addresses, redirects and frames alike. */
import type { Tab } from '../tab/tab.ts';
import type { Denial, Rules } from './rules.ts';

export class Navigation {
  readonly #rules: Rules;
  /** Whether the answering address tells anything: behind a proxy it is the proxy's. */
  readonly #direct: boolean;
  readonly #blocked = new WeakMap<Tab, Denial>();

  constructor(rules: Rules, options: { direct: boolean }) {
    this.#rules = rules;
    this.#direct = options.direct;
  }

  refusal(url: string): Promise<Denial | undefined> {
    return this.#rules.denial(url);
  }

  begin(tab: Tab): void {
    this.#blocked.delete(tab);
  }

  /** What of the tab's main document was refused since `begin`. */
  blocked(tab: Tab): Denial | undefined {
    return this.#blocked.get(tab);
  }

  /** @param session the tab's own, or that of a frame in another process. */
  async guard(tab: Tab, session: string): Promise<void> {
    const { protocol } = tab;
    protocol.on('Fetch.requestPaused', (params) => void this.#decide(tab, session, params), session);
    protocol.on(
      'Network.responseReceived',
      ({ type, response, frameId }) => {
        if (type !== 'Document' || !this.#direct) return;
        if (this.#rules.answeredFromInside(response.url, response.remoteIPAddress ?? ''))
          void this.#leave(tab, session, frameId);
      },
      session,
    );
    await protocol.send('Fetch.enable', { patterns: [{ resourceType: 'Document', requestStage: 'Request' }] }, session);
  }

  async #decide(
    tab: Tab,
    session: string,
    params: { requestId: string; request: { url: string }; frameId: string },
  ): Promise<void> {
    const { requestId, request, frameId } = params;
    const denial = await this.#rules.denial(request.url);
    const answer = denial
      ? tab.protocol.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }, session)
      : tab.protocol.send('Fetch.continueRequest', { requestId }, session);
    if (denial) this.#note(tab, frameId, denial);
    // The page may have given the request up by itself.
    await answer.catch(() => {});
  }

  async #leave(tab: Tab, session: string, frameId: string): Promise<void> {
    this.#note(tab, frameId, { code: 'NAVIGATION_DENIED', cause: 'PRIVATE_ADDRESS' });
    await tab.protocol.send('Page.stopLoading', {}, session).catch(() => {});
    await tab.protocol.send('Page.navigate', { url: 'about:blank', frameId }, session).catch(() => {});
  }

  #note(tab: Tab, frameId: string, denial: Denial): void {
    const isMain = frameId === tab.frames.mainId;
    if (isMain) this.#blocked.set(tab, denial);
    tab.notices.add(denial.code, `${isMain ? 'An address' : 'A frame'} was not opened: ${denial.cause}.`);
  }
}
