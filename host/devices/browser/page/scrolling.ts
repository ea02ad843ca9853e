/** What scrolls: the page or the container that a person would scroll, where to turn the wheel over it, and where it is. */
import type { Refused } from './aim.ts';
import * as changes from './changes.ts';
import { Clips, viewport } from './geometry.ts';
import { addressChanged } from './guard.ts';
import { type Point, placeOf } from './hit.ts';
import { tagOf } from './tree.ts';

export function scrollState(): { y: number; up: boolean; down: boolean } {
  const root = document.scrollingElement ?? document.documentElement;
  const own = { up: root.scrollTop > 2, down: root.scrollTop + innerHeight < root.scrollHeight - 2 };
  if (own.up || own.down) return { y: Math.round(root.scrollTop), ...own };
  const inner = mainScroller();
  if (!inner) return { y: Math.round(root.scrollTop), up: false, down: false };
  return {
    y: Math.round(inner.scrollTop),
    up: inner.scrollTop > 2,
    down: inner.scrollTop + inner.clientHeight < inner.scrollHeight - 2,
  };
}

/** The container that a person would scroll: what scrolls under the middle of the view, or the largest that does. */
export function mainScroller(): Element | null {
  for (
    let current = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    current;
    current = current.parentElement
  )
    if (canScroll(current)) return current;
  let best: Element | null = null;
  let size = 0;
  for (const candidate of document.querySelectorAll('div,main,section,ul,aside,article,nav,pre,table,tbody')) {
    if (candidate.scrollHeight <= candidate.clientHeight + 4 || candidate.clientHeight < 40) continue;
    const measured = candidate.clientWidth * candidate.clientHeight;
    if (measured > size && canScroll(candidate) && candidate.checkVisibility()) {
      best = candidate;
      size = measured;
    }
  }
  return best;
}

export function canScroll(element: Element): boolean {
  if (element.scrollHeight <= element.clientHeight + 4) return false;
  const overflow = getComputedStyle(element).overflowY;
  return overflow === 'auto' || overflow === 'scroll';
}

/** Where to turn the wheel: over what scrolls in that direction and matters most. */
export function scrollPlace(generation: number, down: boolean): { point: Point; before: number } | Refused {
  const stale = addressChanged(generation);
  if (stale) return { refused: stale };
  const moves = (element: Element) =>
    down ? element.scrollTop + element.clientHeight < element.scrollHeight - 2 : element.scrollTop > 2;
  const root = document.scrollingElement ?? document.documentElement;
  const modal = document.querySelector('dialog:modal, [role=dialog][aria-modal=true]');
  const inner = (modal && inside(modal, moves)) ?? focusedScroller(moves);
  const rootMoves = down ? root.scrollTop + innerHeight < root.scrollHeight - 2 : root.scrollTop > 2;
  const container = inner ?? (rootMoves ? root : mainScroller());
  if (!container || (container !== root && !moves(container))) return { refused: 'NOTHING_TO_SCROLL' };
  changes.begin(null);
  const before = container.scrollTop;
  scrolled = container;
  if (container === root) return { point: freePoint(root), before };
  const { seen } = placeOf(container, new Clips());
  return { point: { x: (seen.x + seen.right) / 2, y: (seen.y + seen.bottom) / 2 }, before };
}

let scrolled: Element | undefined;
/** Milliseconds in which a turned wheel must have moved something. */
const SCROLL_MS = 200;

/** Where it is once it has moved; a wheel is answered before the page has drawn its new place. */
export async function scrolledTo(before: number): Promise<number> {
  for (let waited = 0; waited < SCROLL_MS && scrolled?.scrollTop === before; waited += 10) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return scrolled?.scrollTop ?? 0;
}

/** The wheel may be held by a page that listens to it; the container is then moved as its bar would. */
export function scrollDirectly(pixels: number): void {
  scrolled?.scrollBy({ top: pixels, behavior: 'instant' });
}

function inside(container: Element, moves: (element: Element) => boolean): Element | null {
  if (canScroll(container) && moves(container)) return container;
  for (const candidate of container.querySelectorAll('*'))
    if (canScroll(candidate) && moves(candidate)) return candidate;
  return null;
}

function focusedScroller(moves: (element: Element) => boolean): Element | null {
  for (let current = document.activeElement; current && current !== document.body; current = current.parentElement)
    if (canScroll(current) && moves(current) && tagOf(current) !== 'TEXTAREA') return current;
  return null;
}

/** A point of the page that no inner scroller, frame or embedded document takes the wheel from. */
function freePoint(root: Element): Point {
  const view = viewport();
  for (const [a, b] of [
    [0.5, 0.5],
    [0.5, 0.2],
    [0.5, 0.8],
    [0.1, 0.5],
    [0.9, 0.5],
    [0.02, 0.5],
  ] as const) {
    const point = { x: view.right * a, y: view.bottom * b };
    let free = true;
    for (
      let current = document.elementFromPoint(point.x, point.y);
      current && current !== root && free;
      current = current.parentElement
    )
      if (canScroll(current) || tagOf(current) === 'IFRAME') free = false;
    if (free) return point;
  }
  return { x: 2, y: view.bottom / 2 };
}
