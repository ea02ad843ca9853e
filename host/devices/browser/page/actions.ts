/**
 * What happens inside the page when the device acts: the last checks, the place to touch, and a guard that lets the
 * pointer's events through only if they reach what was meant.
 */
import * as changes from './changes.ts';
import { Clips, elementAt, outOfFrame, viewport } from './geometry.ts';
import { addressChanged, type Staleness, staleness } from './guard.ts';
import { coverName, type Point, placeOf, touch, works } from './hit.ts';
import { accessibleName, tidy } from './names.ts';
import { canScroll, mainScroller, optionElements } from './observe.ts';
import { elementOf } from './refs.ts';
import { isDisabled, isReadOnly, roleOf, SET_TYPES, takesText } from './roles.ts';
import { isSensitive } from './secrets.ts';
import { editedText } from './states.ts';
import { activeElement, cut, hidesRoot, isInside, laidOutText, squeeze, tagOf } from './tree.ts';

export type Refused = {
  refused:
    | Staleness
    | 'TARGET_OBSCURED'
    | 'TARGET_DISABLED'
    | 'TARGET_OUT_OF_REACH'
    | 'OPTION_GONE'
    | 'NOTHING_TO_SCROLL'
    | 'FOCUS_CHANGED';
  by?: string;
};

export interface Aim {
  point: Point;
  /** How the text would be entered, for a field. */
  entry?: 'keys' | 'set' | 'edit' | 'slider' | 'none';
  multiline?: boolean;
  maxLength?: number;
  autocomplete?: boolean;
  /** One of several fields of a form that is sent by a button: typing rarely brings anything. */
  plain?: boolean;
  focused: boolean;
}

/** Makes ready to touch the target: nothing that the decision rested on has changed, it is in view, and it is on top. */
export function aim(generation: number, ref: string, forText: boolean): Aim | Refused {
  const stale = staleness(generation, ref);
  if (stale) return { refused: stale };
  const target = elementOf(ref);
  if (!target) return { refused: 'TARGET_GONE' };
  if (isDisabled(target)) return { refused: 'TARGET_DISABLED' };
  const drawn = drawnOf(target);
  if (!drawn) return { refused: 'TARGET_OUT_OF_REACH' };
  let place = placeOf(drawn, new Clips());
  let touched = place.inView ? touch(target, drawn, place.seen) : undefined;
  if (!touched || 'cover' in touched) {
    // Out of view, or under a sticky bar: bring it to the middle, then look again.
    drawn.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    place = placeOf(drawn, new Clips());
    if (!place.inView) return { refused: 'TARGET_OUT_OF_REACH' };
    touched = touch(target, drawn, place.seen);
  }
  if ('cover' in touched) return { refused: 'TARGET_OBSCURED', by: coverName(touched.cover) };
  arm(target, drawn);
  changes.begin(target);
  return {
    point: touched.point,
    focused: isInside(activeElement(document), target),
    ...(forText ? { ...entryOf(target), plain: isPlainField(target) } : {}),
  };
}

function drawnOf(target: Element): Element | undefined {
  const clips = new Clips();
  if (
    placeOf(target, clips).reachable &&
    !(tagOf(target) === 'INPUT' && !target.checkVisibility({ opacityProperty: true }))
  )
    return target;
  const labels = (target as HTMLInputElement).labels;
  for (const label of labels ?? []) if (placeOf(label, clips).reachable) return label;
  return placeOf(target, clips).reachable ? target : undefined;
}

function isPlainField(target: Element): boolean {
  const form = (target as HTMLInputElement).form;
  if (!form) return false;
  const fields = form.querySelectorAll(
    'input:not([type=hidden]):not([type=submit]):not([type=button]), textarea, select',
  );
  return (
    fields.length > 1 &&
    form.querySelector('button:not([type=button]):not([type=reset]), input[type=submit], input[type=image]') !== null
  );
}

function entryOf(target: Element): Pick<Aim, 'entry' | 'multiline' | 'maxLength' | 'autocomplete'> {
  const role = roleOf(target);
  const input = target as HTMLInputElement;
  const autocomplete =
    role === 'combobox' ||
    role === 'searchbox' ||
    target.hasAttribute('aria-autocomplete') ||
    target.hasAttribute('aria-controls') ||
    input.type === 'search' ||
    target.hasAttribute('list');
  if (!takesText(target, role) || isReadOnly(target)) return { entry: 'none', autocomplete };
  if (tagOf(target) === 'INPUT' && SET_TYPES.has(input.type)) return { entry: 'set', autocomplete };
  if (tagOf(target) === 'INPUT' || tagOf(target) === 'TEXTAREA') {
    return {
      entry: 'keys',
      autocomplete,
      multiline: tagOf(target) === 'TEXTAREA',
      ...(input.maxLength >= 0 ? { maxLength: input.maxLength } : {}),
    };
  }
  if (input.isContentEditable)
    return { entry: 'edit', multiline: target.getAttribute('aria-multiline') !== 'false', autocomplete };
  return { entry: 'slider', autocomplete };
}

interface Armed {
  target: Element;
  drawn: Element;
  /** Events that reached what was meant, and whether one did not and was held back. */
  landed: boolean;
  held: Element | null;
}

let armed: Armed | undefined;

function arm(target: Element, drawn: Element): void {
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

/** Selects all of the field's text, so that what is typed replaces it. */
export function selectAll(ref: string): { focused: boolean; empty: boolean } {
  const target = elementOf(ref);
  if (!target) return { focused: false, empty: true };
  const active = activeElement(document);
  if (!active || !isInside(active, target)) {
    // A field inside the control, such as a custom element's own input.
    (target as HTMLElement).focus?.();
  }
  const focused = activeElement(document);
  if (!focused || !(isInside(focused, target) || isInside(target, focused))) return { focused: false, empty: true };
  const tag = tagOf(focused);
  if (tag === 'INPUT' || tag === 'TEXTAREA') {
    (focused as HTMLInputElement).select();
    return { focused: !isReadOnly(focused), empty: (focused as HTMLInputElement).value === '' };
  }
  const host = focused as HTMLElement;
  if (!host.isContentEditable) return { focused: false, empty: true };
  const selection = (host.getRootNode() as Document).getSelection?.() ?? host.ownerDocument.getSelection();
  selection?.selectAllChildren(host);
  return { focused: true, empty: laidOutText(host).trim() === '' };
}

/** What the field holds now, compared with what was meant. Nothing of the value leaves the page. */
export function holds(ref: string, text: string): 'same' | 'formatted' | 'other' {
  const target = elementOf(ref);
  if (!target) return 'other';
  const active = activeElement(document);
  const field = active && isInside(active, target) ? active : target;
  const tag = tagOf(field);
  const value = tag === 'INPUT' || tag === 'TEXTAREA' ? (field as HTMLInputElement).value : editedText(field);
  const fold = (string: string) => string.replace(/\r\n?/g, '\n').normalize('NFC');
  if (fold(value) === fold(text) || squeeze(fold(value)) === squeeze(fold(text))) return 'same';
  // A mask adds its own signs around what was typed.
  const bare = (string: string) =>
    fold(string)
      .replace(/[^\p{L}\p{N}\p{M}]/gu, '')
      .toLowerCase();
  return bare(text) !== '' && bare(value).endsWith(bare(text)) && bare(value).length <= bare(text).length + 3
    ? 'formatted'
    : 'other';
}

/** Sets a date, time, number range or colour as a whole, as the browser's own pickers do. */
export function setValue(ref: string, text: string): 'same' | 'adjusted' | 'refused' {
  const target = elementOf(ref) as HTMLInputElement | undefined;
  if (!target) return 'refused';
  const before = target.value;
  const prototype = Object.getPrototypeOf(target);
  const wanted = target.type === 'color' ? text.toLowerCase() : text.trim();
  const setter = Object.getOwnPropertyDescriptor(prototype, 'value')?.set;
  if (setter) setter.call(target, wanted);
  else target.value = wanted;
  const now = target.value;
  if (wanted !== '' && now === '' && target.type !== 'range' && target.type !== 'color') {
    if (setter) setter.call(target, before);
    return 'refused';
  }
  target.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
  target.dispatchEvent(new Event('change', { bubbles: true }));
  return now === wanted ? 'same' : 'adjusted';
}

export function sliderState(ref: string): { now: number; min: number; max: number } | null {
  const target = elementOf(ref);
  if (!target) return null;
  const number = (name: string, otherwise: number) => {
    const value = Number(target.getAttribute(name) ?? Number.NaN);
    return Number.isFinite(value) ? value : otherwise;
  };
  return {
    now: number('aria-valuenow', Number.NaN),
    min: number('aria-valuemin', 0),
    max: number('aria-valuemax', 100),
  };
}

/** Whether the option may be chosen, and whether choosing it happens in the page or by a click. Changes nothing. */
export function mayChoose(generation: number, ref: string, optionRef: string): { ok: true; native: boolean } | Refused {
  const stale = staleness(generation, ref);
  if (stale) return { refused: stale };
  const target = elementOf(ref);
  const option = elementOf(optionRef);
  if (!target) return { refused: 'TARGET_GONE' };
  if (!option || !optionElements(target, roleOf(target))?.includes(option)) return { refused: 'OPTION_GONE' };
  if (isDisabled(option) || isDisabled(target)) return { refused: 'TARGET_DISABLED' };
  return { ok: true, native: tagOf(target) === 'SELECT' };
}

/** Chooses an option of a native list. Other lists are worked by a click on the option, whose place is returned. */
export function choose(
  generation: number,
  ref: string,
  optionRef: string,
): { chosen: true } | { click: Aim } | Refused {
  const stale = staleness(generation, ref);
  if (stale) return { refused: stale };
  const target = elementOf(ref);
  const option = elementOf(optionRef);
  if (!target) return { refused: 'TARGET_GONE' };
  const all = optionElements(target, roleOf(target));
  if (!option || !all?.includes(option)) return { refused: 'OPTION_GONE' };
  if (isDisabled(option) || isDisabled(target)) return { refused: 'TARGET_DISABLED' };
  if (tagOf(target) === 'SELECT') {
    changes.begin(target);
    const select = target as HTMLSelectElement;
    const native = option as HTMLOptionElement;
    select.focus();
    if (select.multiple) native.selected = !native.selected;
    else native.selected = true;
    select.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
    select.dispatchEvent(new Event('change', { bubbles: true }));
    return { chosen: true };
  }
  option.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  const place = placeOf(option, new Clips());
  if (!place.inView) return { refused: 'TARGET_OUT_OF_REACH' };
  const touched = touch(option, option, place.seen);
  if ('cover' in touched) return { refused: 'TARGET_OBSCURED', by: coverName(touched.cover) };
  arm(option, option);
  changes.begin(option);
  return { click: { point: touched.point, focused: false } };
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

export function keyPlace(generation: number): { ok: true } | Refused {
  const stale = addressChanged(generation);
  if (stale) return { refused: stale };
  changes.begin(activeElement(document));
  return { ok: true };
}

/** What has the focus, for the host's own words. */
export function focusName(): string {
  const active = activeElement(document);
  if (!active || active === document.body) return '';
  return isSensitive(active) ? '' : cut(tidy(accessibleName(active)), 120);
}

/** Where a point inside a frame lies for the document around it, if nothing covers the frame there. */
export function throughFrame(ref: string, x: number, y: number): Point | Refused {
  const frame = elementOf(ref);
  if (!frame) return { refused: 'TARGET_GONE' };
  const point = outOfFrame(frame, x, y);
  const hit = elementAt(point.x, point.y);
  return hit === frame ? point : { refused: 'TARGET_OBSCURED', by: coverName(hit) };
}
