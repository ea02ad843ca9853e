/** A guard that lets the pointer's events through only if they reach what was meant. */
import * as changes from './changes.ts';
import { elementAt } from './geometry.ts';
import { coverName, works } from './hit.ts';
import { hidesRoot } from './tree.ts';

interface Armed {
  target: Element;
  drawn: Element;
  /** Events that reached what was meant, and whether one did not and was held back. */
  landed: boolean;
  held: Element | null;
}

let armed: Armed | undefined;

export function arm(target: Element, drawn: Element): void {
  armed = { target, drawn, landed: false, held: null };
  listenOn(target.ownerDocument.defaultView);
}

const listening = new WeakSet<Window>();
const POINTER_EVENTS = [
  'pointerdown',
  'mousedown',
  'pointerup',
  'mouseup',
  'click',
  'auxclick',
  'contextmenu',
] as const;

/** This world's listeners come before any of the page's, because its script runs first in every document. */
export function listenOn(view: Window | null): void {
  if (!view || listening.has(view)) return;
  listening.add(view);
  for (const type of POINTER_EVENTS) view.addEventListener(type, check, { capture: true });
}

/**
 * The hit test at the moment of input. Between the last look and the event the page may have moved; an event that would
 * reach something else is held back before the page hears of it.
 */
function check(event: Event): void {
  changes.passes(event);
  if (!armed || !event.isTrusted) return;
  const first = event.composedPath()[0] as Element | undefined;
  const { clientX, clientY } = event as MouseEvent;
  const hit = first?.nodeType === 1 && hidesRoot(first) ? elementAt(clientX, clientY) : first;
  if (armed.held) {
    hold(event);
    return;
  }
  if (event.type === 'pointerdown' || event.type === 'mousedown') {
    const touched = hit?.nodeType === 1 ? hit : null;
    if (works(touched, armed.target, armed.drawn)) {
      armed.landed = true;
      return;
    }
    if (armed.landed) return;
    armed.held = touched ?? document.documentElement;
    hold(event);
  }
}

function hold(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @returns whether the touch reached its target, was held back, or was not seen at all. */
export function landed(): { landed: boolean; by?: string } | null {
  const current = armed;
  armed = undefined;
  if (!current) return null;
  if (current.held) return { landed: false, by: coverName(current.held) };
  return { landed: current.landed };
}
