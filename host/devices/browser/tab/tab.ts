/**
 * One tab of the browser, as the device holds it: its session, its frames, what it is doing, and what stands in the way.
 *
 * Calls into the page never hang: a native dialog, a crash or a page that does not answer ends them with a name.
 */
import type { Observation } from '../../../../sdk/devices/remote-browser-contract.ts';
import type { EventListener, Protocol } from '../chromium/protocol.ts';
import { Leaving } from '../navigation/leaving.ts';
import type { Navigation } from '../navigation/navigation.ts';
import { Refusal, stale } from '../refusal.ts';
import { Activity } from './activity.ts';
import { type Frame, Frames, SCRIPT_WORLD } from './frames.ts';
import { Notices } from './notices.ts';
import { Serial } from './serial.ts';

/** Milliseconds within which a page must answer a look; beyond it, it is frozen. */
const ANSWER_MS = 8000;
/** Milliseconds for a page that hangs to be ended. */
const REVIVE_MS = 2000;

export interface Dialog {
  kind: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  message: string;
  defaultText: string;
  url: string;
  /** What has been entered into a prompt. */
  text: string;
}

export interface TabInfo {
  targetId: string;
  tabId: string;
  session: string;
}

/**
 * A tab behind another one draws no frames: what a page does frame by frame stands still, and Chromium holds its timers
 * back for 50 ms after each input. A tab that is being watched draws. Nobody takes the pictures, so after the first ones
 * none are made.
 */
const KEEP_DRAWING = { format: 'jpeg', quality: 1, maxWidth: 16, maxHeight: 16, everyNthFrame: 1000 };

export class Tab {
  readonly protocol: Protocol;
  readonly info: TabInfo;
  readonly frames: Frames;
  readonly activity: Activity;
  readonly notices = new Notices();
  readonly leaving = new Leaving();
  /** One call at a time; a tab has one pointer and one focus. */
  readonly serial = new Serial();
  readonly now: () => number;
  readonly #script: string;
  readonly #navigation: Navigation;
  url = '';
  title = '';
  dialog: Dialog | undefined;
  crashed = false;
  closed = false;
  /** The owner took the permission back while something was under way. */
  halted = false;
  /** Frozen: it did not answer the last look in time. */
  unresponsive = false;
  /** Ids of observations that are still known, newest last. */
  readonly generations = new Map<string, ObservedFrames>();
  /** The last observations, for callers that ask only for what changed. */
  readonly remembered = new Map<string, Observation>();
  #generation = 0;

  constructor(protocol: Protocol, info: TabInfo, script: string, now: () => number, navigation: Navigation) {
    this.#navigation = navigation;
    this.protocol = protocol;
    this.info = info;
    this.now = now;
    this.#script = script;
    this.activity = new Activity(now);
    this.frames = new Frames(protocol, script, {
      navigated: (url) => {
        this.url = url;
        this.crashed = false;
        this.generations.clear();
      },
    });
  }

  get interrupted(): boolean {
    return this.dialog !== undefined || this.halted || this.crashed || this.closed || this.protocol.gone;
  }

  send(method: string, params: Record<string, unknown> = {}) {
    return this.protocol.send(method, params, this.info.session);
  }

  on(event: string, listener: EventListener): () => void {
    return this.protocol.on(event, listener, this.info.session);
  }

  async open(): Promise<void> {
    const { session } = this.info;
    const main = () => this.frames.mainId;
    this.activity.followNavigation(this.protocol, session, main);
    this.#followDialogs();
    this.#followEnds();
    await this.#prepare(session);
    await Promise.all([
      this.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
      this.send('Page.startScreencast', KEEP_DRAWING),
    ]);
    await this.frames.follow(session);
    this.url = this.frames.main.url;
    this.on('Page.windowOpen', ({ url }) =>
      this.notices.add('NEW_WINDOW', `The page opened another window: ${String(url).slice(0, 300)}`),
    );
  }

  /** What every session of this tab needs, its own and those of frames in other processes. */
  async #prepare(session: string): Promise<void> {
    const send = (method: string, params: Record<string, unknown> = {}) => this.protocol.send(method, params, session);
    this.activity.follow(this.protocol, session, () => this.frames.mainId);
    this.protocol.on('Target.attachedToTarget', (params) => void this.#frameAttached(params), session);
    this.protocol.on('Page.fileChooserOpened', ({ mode }) => this.#filesAsked(mode), session);
    await Promise.all([
      send('Page.enable'),
      // The page hears that its chooser was left without a choice, as from a user who cancels it.
      send('Page.setInterceptFileChooserDialog', { enabled: true, cancel: true }),
      this.#navigation.holdTab(this, session),
      send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 }),
      send('Page.addScriptToEvaluateOnNewDocument', { source: this.#script, worldName: SCRIPT_WORLD }),
      send('Target.setAutoAttach', {
        autoAttach: true,
        waitForDebuggerOnStart: true,
        flatten: true,
        filter: [{ type: 'iframe', exclude: false }],
      }),
    ]);
  }

  #filesAsked(mode: string): void {
    const what = mode === 'selectMultiple' ? 'files' : 'a file';
    this.notices.add('FILE_CHOOSER', `The page asks for ${what}. The device gives none; the owner can.`);
  }

  async #frameAttached({ sessionId, targetInfo, waitingForDebugger }: Attached): Promise<void> {
    // The page is not at rest while a part of it cannot be seen yet.
    this.activity.begin(sessionId);
    try {
      await this.#prepare(sessionId);
      await this.frames.follow(sessionId, targetInfo.parentFrameId);
    } catch {
      // The frame went away while it was being prepared.
    }
    if (waitingForDebugger) await this.protocol.send('Runtime.runIfWaitingForDebugger', {}, sessionId).catch(() => {});
    this.activity.end(sessionId);
  }

  #followDialogs(): void {
    this.on('Page.javascriptDialogOpening', (params) => {
      const { type, message, defaultPrompt, url } = params;
      this.dialog = {
        kind: type,
        message: message.slice(0, 8000),
        defaultText: defaultPrompt ?? '',
        url,
        text: defaultPrompt ?? '',
      };
      this.activity.tell();
    });
    // The state follows the close event alone, whoever closed it.
    this.on('Page.javascriptDialogClosed', () => {
      this.dialog = undefined;
      this.activity.tell();
    });
  }

  #followEnds(): void {
    this.on('Inspector.targetCrashed', () => {
      this.crashed = true;
      this.generations.clear();
      this.activity.tell();
    });
    this.on('Inspector.detached', () => {
      this.closed = true;
      this.activity.tell();
    });
    this.protocol.onGone(() => {
      this.closed = true;
      this.activity.tell();
    });
  }

  /** Runs an expression in a frame's world. @throws Refusal when a dialog, a crash or silence is in the way. */
  async look<T>(frame: Frame, expression: string, ms = ANSWER_MS): Promise<T> {
    this.assertAlive();
    if (this.leaving.any) await this.activity.orUntil(this.leaving.gone(), () => this.interrupted, ms);
    const before = this.dialog;
    const value = await this.activity.orUntil(
      this.frames.run<T>(frame, expression).then((answer) => ({ answer })),
      () => this.interrupted,
      ms,
    );
    // What was read meanwhile may be of the document that must not be shown.
    if (this.leaving.any) throw stale('NAVIGATION_PENDING');
    if (value) {
      this.unresponsive = false;
      return value.answer;
    }
    this.assertAlive();
    if (this.dialog && this.dialog !== before) throw new Refusal('STALE_OBSERVATION', { cause: 'DIALOG_OPENED' });
    this.unresponsive = true;
    throw new Refusal('PAGE_UNRESPONSIVE');
  }

  halt(): void {
    this.halted = true;
    this.activity.tell();
  }

  /**
   * Brings a page back that crashed or hangs, before it is sent elsewhere. A page that hangs is ended by the browser; it
   * could not end itself.
   */
  async revive(): Promise<void> {
    if (this.unresponsive && !this.crashed) {
      await this.activity.orUntil(
        this.send('Page.crash').catch(() => {}),
        () => this.crashed,
        REVIVE_MS,
      );
      await this.activity.until(() => this.crashed, REVIVE_MS);
    }
    this.unresponsive = false;
    this.crashed = false;
  }

  assertAlive(): void {
    if (this.protocol.gone) throw new Refusal('DEVICE_BROWSER_LOST');
    if (this.halted) throw new Refusal('CONSENT_REQUIRED');
    if (this.closed) throw new Refusal('TAB_CLOSED');
    if (this.crashed) throw new Refusal('PAGE_CRASHED');
  }

  nextGeneration(frames: ObservedFrames): string {
    const id = `${this.info.tabId.slice(0, 8)}-${++this.#generation}`;
    this.generations.set(id, frames);
    if (this.generations.size > KEPT_GENERATIONS) {
      const oldest = this.generations.keys().next().value;
      if (oldest !== undefined) this.generations.delete(oldest);
    }
    return id;
  }
}

const KEPT_GENERATIONS = 24;

/** What one observation saw: each frame's document and the page's own number for it. */
export interface ObservedFrames {
  /** By document token, which every ref begins with. */
  byToken: Map<string, { frameId: string; generation: number }>;
  /** A dialog was what was seen. */
  dialog?: Dialog;
}

interface Attached {
  sessionId: string;
  targetInfo: { targetId: string; type: string; parentFrameId?: string };
  waitingForDebugger: boolean;
}
