/** What every action of the device has in common: it looks, says that it is about to send, sends, and tells what it knows. */

import { Refusal } from '../refusal.ts';
import type { Tab } from '../tab/tab.ts';

export interface ActionContext {
  tab: Tab;
  /**
   * Resolves when the record "dispatched" is on disk. Nothing may be sent before it, and whatever fails after it may have
   * been carried out.
   */
  dispatching(): Promise<void>;
}

export interface Acted {
  /** Facts for the reply's result. */
  result: Record<string, unknown>;
  /** Frames in which the effect may show. */
  frames: string[];
  /** What the control may bring by itself: suggestions, an answer to the choice, or, in a plain form, nothing. */
  expects?: 'suggestions' | 'nothing';
}

/** The page did not confirm that it handled the input. With a dialog open that is an effect; otherwise nobody knows. */
export function assertHandled(tab: Tab, handled: boolean): void {
  if (handled || tab.dialog) return;
  throw new Refusal('OUTCOME_UNKNOWN', {
    executed: true,
    cause: tab.halted
      ? 'STOPPED_BY_OWNER'
      : tab.crashed
        ? 'PAGE_CRASHED'
        : tab.closed
          ? 'TAB_CLOSED'
          : 'PAGE_UNRESPONSIVE',
  });
}

export function framesOf(tab: Tab, frameId: string): string[] {
  const main = tab.frames.mainId;
  return frameId === main ? [main] : [main, frameId];
}
