/** The browser itself: started or joined, its tabs found and opened, started anew after it was lost. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { refuse } from '../../../sdk/contract/errors.ts';
import { attachChromium } from './chromium/attach.ts';
import { checkVersion, findChromium } from './chromium/executable.ts';
import { type Chromium, launchChromium } from './chromium/launch.ts';
import { watchChromium } from './chromium/watch.ts';
import type { BrowserDeviceConfig } from './config.ts';
import { followDownloads } from './downloads.ts';
import { LOOKUP_MS, namesWithin, type Resolve } from './navigation/names.ts';
import { Navigation, type Whose } from './navigation/navigation.ts';
import { type Denial, Rules } from './navigation/rules.ts';
import { pageScript } from './page-script.ts';
import type { TabSummary } from './records/grants.ts';
import { Refusal } from './refusal.ts';
import { Tab } from './tab/tab.ts';

export interface BrowserOptions {
  config: BrowserDeviceConfig;
  /** A private directory for profiles and the record of the process. */
  directory: string;
  env: NodeJS.ProcessEnv;
  asRoot: boolean;
  now(): number;
  /** How names are looked up; as this machine does it otherwise. */
  resolve?: Resolve;
  /** A tab went away, with everything that was granted on it. */
  onTabGone(tabId: string): void;
}

/** Why a tab is not there any more. */
export type TabFate = 'TAB_CLOSED' | 'DEVICE_BROWSER_LOST';
/** Tabs that are gone and still known, so that who worked on one is told what became of it. */
const KEPT_FATES = 100;

/** Milliseconds for the first answer to an address that the owner opens; then it goes on loading. */
const OPEN_MS = 20_000;

interface Target {
  tabId: string;
  title: string;
  url: string;
  opened: boolean;
  /** The target whose page opened it. */
  openerId: string | undefined;
  tab?: Promise<Tab>;
}

export class Browser {
  readonly #options: BrowserOptions;
  readonly #targets = new Map<string, Target>();
  readonly #open = new Set<Tab>();
  readonly #fates = new Map<string, TabFate>();
  readonly navigation: Navigation;
  #chromium: Chromium | undefined;
  #starting: Promise<void> | undefined;
  readonly #ending = new AbortController();
  product = '';
  /** Starts after the first: Chromium was lost. */
  restarts = 0;

  constructor(options: BrowserOptions) {
    this.#options = options;
    const { navigation, proxy, attach } = options.config;
    const direct = proxy === undefined || proxy === 'direct';
    const rules = new Rules(navigation, { resolve: options.resolve ?? namesWithin(LOOKUP_MS), direct });
    this.navigation = new Navigation(rules, { everyTab: attach === undefined });
  }

  get pid(): number | undefined {
    return this.#chromium?.pid;
  }

  get running(): boolean {
    return this.#chromium !== undefined && !this.#chromium.protocol.gone;
  }

  /** Starts Chromium if it is not running. Safe to call at any time. */
  start(): Promise<void> {
    if (this.#ending.signal.aborted) return Promise.resolve();
    if (this.running) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { config, directory, env, asRoot } = this.#options;
    await this.#chromium?.close();
    if (this.#chromium) this.restarts++;
    const chromium = config.attach
      ? await attachChromium(config.attach, this.#ending.signal)
      : await launchChromium({
          executable: findChromium(config.executable, env.PATH),
          directory,
          headless: config.headless,
          env,
          asRoot,
          signal: this.#ending.signal,
          ...(config.profileDir === undefined ? {} : { profileDir: config.profileDir }),
          ...(config.proxy === undefined ? {} : { proxy: config.proxy }),
        });
    try {
      checkVersion(chromium.product);
    } catch (error) {
      await chromium.close();
      throw error;
    }
    this.#chromium = chromium;
    this.product = chromium.product;
    const { protocol } = chromium;
    protocol.onGone(() => {
      if (this.#chromium === chromium) this.#lost();
    });
    protocol.on('Target.targetCreated', ({ targetInfo }) => this.#appeared(targetInfo));
    protocol.on('Target.targetInfoChanged', ({ targetInfo }) => this.#appeared(targetInfo));
    protocol.on('Target.targetDestroyed', ({ targetId }) => this.#gone(targetId));
    await this.navigation.hold(protocol, (frameId) => this.#whose(frameId));
    await protocol.send('Target.setDiscoverTargets', {
      discover: true,
      filter: [{ type: 'page', exclude: false }, { exclude: true }],
    });
    if (!config.attach) {
      await followDownloads(protocol, join(directory, 'downloads'), (frameId) => this.#tabOfFrame(frameId));
    }
    watchChromium(chromium, config.memoryMb * 1024 * 1024, () => {
      this.#lost();
      void chromium.close();
    });
    if (this.#targets.size === 0) await protocol.send('Target.createTarget', { url: 'about:blank' });
  }

  #appeared(info: {
    targetId: string;
    type: string;
    title: string;
    url: string;
    openerId?: string;
    openerFrameId?: string;
  }): void {
    if (info.type !== 'page' || info.url.startsWith('devtools://')) return;
    const known = this.#targets.get(info.targetId);
    if (known) {
      known.title = info.title;
      known.url = info.url;
      return;
    }
    const opener = info.openerId === undefined ? undefined : this.#targets.get(info.openerId);
    this.#targets.set(info.targetId, {
      tabId: `tab-${randomUUID().slice(0, 13)}`,
      title: info.title,
      url: info.url,
      opened: info.openerId !== undefined || info.openerFrameId !== undefined,
      openerId: info.openerId,
    });
    void opener?.tab?.then((tab) =>
      tab.notices.add('NEW_WINDOW', 'The page opened another window; it is outside of this task.'),
    );
  }

  #tabOfFrame(frameId: string): Tab | undefined {
    return [...this.#open].find((tab) => tab.frames.get(frameId) !== undefined);
  }

  /** A frame is of a tab that is worked on, or of a window that such a tab opened, itself or through another window. */
  #whose(frameId: string): Whose | undefined {
    const own = this.#tabOfFrame(frameId);
    if (own) return { tab: own, place: frameId === own.frames.mainId ? 'page' : 'frame' };
    const seen = new Set<string>();
    let id = this.#targets.get(frameId)?.openerId;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      for (const tab of this.#open) if (tab.info.targetId === id) return { tab, place: 'window' };
      id = this.#targets.get(id)?.openerId;
    }
    return undefined;
  }

  /** The owner took a permission back: what is under way on the tab ends as soon as it can. */
  halt(tabId: string): void {
    for (const tab of this.#open) if (tab.info.tabId === tabId) tab.halt();
  }

  #gone(targetId: string): void {
    const target = this.#targets.get(targetId);
    if (!target) return;
    this.#targets.delete(targetId);
    this.navigation.begin(targetId);
    for (const tab of this.#open) if (tab.info.targetId === targetId) this.#open.delete(tab);
    this.#ended(target.tabId, 'TAB_CLOSED');
  }

  /** All tabs at once, before the browser closes them one by one: none of them was closed for its own sake. */
  #lost(): void {
    for (const { tabId } of this.#targets.values()) this.#ended(tabId, 'DEVICE_BROWSER_LOST');
    this.#targets.clear();
    this.#open.clear();
  }

  #ended(tabId: string, fate: TabFate): void {
    const [oldest] = this.#fates.keys();
    if (this.#fates.size >= KEPT_FATES && oldest !== undefined) this.#fates.delete(oldest);
    this.#fates.set(tabId, fate);
    this.#options.onTabGone(tabId);
  }

  /** What became of a tab that is gone. */
  fate(tabId: string): TabFate | undefined {
    return this.#fates.get(tabId);
  }

  tabs(): TabSummary[] {
    return [...this.#targets.values()].map(({ tabId, title, url, opened }) => ({
      id: tabId,
      title: title || url,
      url,
      opened,
    }));
  }

  /** The tab, ready to be worked. @throws Refusal TAB_CLOSED. */
  async tab(tabId: string): Promise<Tab> {
    for (const [targetId, target] of this.#targets) {
      if (target.tabId !== tabId) continue;
      target.tab ??= this.#attach(targetId, tabId).catch((error) => {
        delete target.tab;
        throw error;
      });
      const tab = await target.tab;
      if (!tab.closed) return tab;
      delete target.tab;
    }
    throw new Refusal(this.#fates.get(tabId) ?? 'TAB_CLOSED');
  }

  async #attach(targetId: string, tabId: string): Promise<Tab> {
    const { protocol } = this.#chromium ?? refuse('DEVICE_CHROMIUM_FAILED', { problem: 'it is not running' });
    const { sessionId } = await protocol.send('Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(
      protocol,
      { targetId, tabId, session: sessionId },
      await pageScript(),
      this.#options.now,
      this.navigation,
    );
    await tab.open();
    this.#open.add(tab);
    return tab;
  }

  /** @returns the new tab's id, or why its address may not be visited; then no tab stays. */
  async openTab(url = 'about:blank'): Promise<string | Denial> {
    const denial = await this.navigation.refusal(url);
    if (denial) return denial;
    const { protocol } = this.#chromium ?? refuse('DEVICE_CHROMIUM_FAILED', { problem: 'it is not running' });
    const { targetId } = await protocol.send('Target.createTarget', { url: 'about:blank' });
    const tabId = this.#targets.get(targetId)?.tabId ?? '';
    if (url === 'about:blank') return tabId;
    // A redirect may lead where the address itself does not: the first answer is waited for.
    const tab = await this.tab(tabId);
    await tab.activity.orUntil(tab.send('Page.navigate', { url }), () => tab.interrupted, OPEN_MS);
    const blocked = this.navigation.blocked(targetId);
    if (!blocked) return tabId;
    await protocol.send('Target.closeTarget', { targetId });
    this.#gone(targetId);
    return blocked;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#starting?.catch(() => {});
    await this.#chromium?.close();
    this.#targets.clear();
  }
}
