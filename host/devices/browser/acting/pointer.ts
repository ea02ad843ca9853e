/** The pointer, as a user's: it moves there, presses and lets go. Sent in one go; the answers come when the page has handled it. */
import type { Tab } from '../tab/tab.ts';

export interface Point {
  x: number;
  y: number;
}

/** Milliseconds within which the page must have handled a press. */
const HANDLED_MS = 10_000;

/** @returns false when the page did not answer in time, or a dialog or crash came between: it may have been handled. */
export async function press(tab: Tab, { x, y }: Point): Promise<boolean> {
  const event = (type: string, more: Record<string, unknown> = {}) =>
    tab.send('Input.dispatchMouseEvent', { type, x, y, ...more });
  const button = { button: 'left', clickCount: 1 };
  const handled = Promise.all([
    event('mouseMoved'),
    event('mousePressed', { ...button, buttons: 1 }),
    event('mouseReleased', { ...button, buttons: 0 }),
  ]);
  return (
    (await tab.activity.orUntil(
      handled.then(() => true),
      () => tab.interrupted,
      HANDLED_MS,
    )) ?? false
  );
}

export async function wheel(tab: Tab, { x, y }: Point, pixels: number): Promise<boolean> {
  const handled = tab.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: 0, deltaY: pixels });
  return (
    (await tab.activity.orUntil(
      handled.then(() => true),
      () => tab.interrupted,
      HANDLED_MS,
    )) ?? false
  );
}
