/**
 * Notices what the page does after an input, and when it has come to rest.
 *
 * A change counts when a person would notice it: text or controls that come or go, a state, an address, a value. A pressed
 * look or a ripple on the control itself does not, nor does a clock that was already ticking before the input.
 */
import { hasContent } from './motion.ts';
import { hidesRoot, isInside, squeeze } from './tree.ts';

/** Milliseconds between the changes of a node that is restless, such as a clock: one change, as at loading, is none. */
const RESTLESS_MS = 2500;
/** Milliseconds within which changes of a node are one. */
const SAME_MS = 15;

interface Habit {
  at: number;
  /** Changes that came one after another, by themselves. */
  times: number;
}

const habits = new WeakMap<Node, Habit>();
const watched = new WeakSet<Node>();

export interface Effect {
  /** When the input began, and from when on watching counts. */
  begun: number;
  since: number;
  target: Element | null;
  address: string;
  /** Something that a person would notice. */
  changed: boolean;
  /** The control's own value changed. */
  valueChanged: boolean;
  lastAt: number;
  /** What the input's events passed, and what the pointer or the focus only left for it. */
  path: Set<EventTarget>;
  left: Set<EventTarget>;
}

let effect: Effect | undefined;
/** Grows with whatever was noticed. */
let noticed = 0;

export const currentEffect = (): Effect | undefined => effect;
export const noticedSoFar = (): number => noticed;
/** Something was noticed that no event told of. */
export const note = (): void => void noticed++;

const observer = new MutationObserver((records) => {
  const now = performance.now();
  noticed++;
  for (const record of records) {
    const node = record.target;
    const known = habits.get(node);
    if (!effect) {
      const again = known && now - known.at < RESTLESS_MS;
      habits.set(node, { at: now, times: again ? known.times + Number(now - known.at > SAME_MS) : 1 });
      continue;
    }
    if (known && known.times >= 2 && known.at > effect.since - RESTLESS_MS) continue;
    effect.lastAt = now;
    if (!effect.changed && isNoticeable(record, effect.target)) effect.changed = true;
  }
});

/** It changes by itself, again and again: a clock, a ticker. */
export function isRestless(node: Node): boolean {
  const habit = habits.get(node);
  return habit !== undefined && habit.times >= 3 && performance.now() - habit.at < RESTLESS_MS;
}

/** What was watched last: the document, the shadow roots in it, and the frames of its origin. */
let roots: readonly Node[] = [];

/** Each tells only of its own motions. */
export const rootsSeen = () => [document, ...roots.filter((root) => root !== document)] as DocumentOrShadowRoot[];

export function watch(found: Node[]): void {
  roots = found;
  for (const root of found) {
    if (watched.has(root)) continue;
    watched.add(root);
    observer.observe(root, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
      characterDataOldValue: true,
    });
    root.addEventListener('input', noteValue, { capture: true, passive: true });
    root.addEventListener('change', noteValue, { capture: true, passive: true });
    root.addEventListener('scroll', noteScroll, { capture: true, passive: true });
    for (const type of SEEN_ONLY) root.addEventListener(type, noteLook, { capture: true, passive: true });
    // Where the pointer came from may answer too: a menu that closes when it is left.
    for (const type of ['mouseout', 'mouseover']) root.addEventListener(type, passes, { capture: true, passive: true });
  }
}

/** What a page shows can change with these, and no node of it does. */
const SEEN_ONLY = ['toggle', 'focusin', 'focusout', 'load', 'error', 'transitionend', 'animationend'];

function noteLook(event: Event): void {
  noticed++;
  passes(event);
}

function noteValue(event: Event): void {
  noticed++;
  if (!effect) return;
  passes(event);
  effect.valueChanged = true;
  effect.lastAt = performance.now();
}

function noteScroll(): void {
  noticed++;
  if (effect) effect.lastAt = performance.now();
}

/** Starts watching for the effect of the input that is about to be made. */
export function begin(target: Element | null): void {
  const now = performance.now();
  effect = {
    begun: now,
    since: now,
    target,
    address: location.href,
    changed: false,
    valueChanged: false,
    lastAt: now,
    path: new Set(),
    left: new Set(),
  };
}

const LEAVING = new Set(['mouseout', 'mouseover', 'focusout', 'focusin']);

/** Remembers where an event of the input goes. */
export function passes(event: Event): void {
  const places = LEAVING.has(event.type) ? effect?.left : effect?.path;
  if (places) for (const place of event.composedPath()) places.add(place);
}

/**
 * @param only where the input's events passed, or where the pointer and the focus came from.
 * @returns those elements, or nothing when they passed more than elements of this document.
 */
export function path(only: 'worked' | 'left'): Element[] | null {
  if (!effect?.target) return null;
  const worked = new Set(effect.path);
  for (let at: Node | null = effect.target; at; at = at.parentNode) worked.add(at);
  const elements: Element[] = [];
  for (const place of only === 'worked' ? worked : effect.left) {
    if (place === window || place === document || (only === 'left' && worked.has(place))) continue;
    const element = place as Element;
    if (element.nodeType !== 1 || element.getRootNode() !== document) return null;
    if (element.shadowRoot || hidesRoot(element)) return null;
    elements.push(element);
  }
  return elements;
}

const LOOKS = new Set(['class', 'style']);

function isNoticeable(record: MutationRecord, target: Element | null): boolean {
  if (record.type === 'characterData') return squeeze((record.target as Text).data) !== squeeze(record.oldValue ?? '');
  const node = record.target as Element;
  const near = target !== null && (isInside(node, target) || isInside(target, node));
  if (record.type === 'attributes') {
    const name = record.attributeName ?? '';
    if (LOOKS.has(name) || name.startsWith('data-') || name === 'tabindex') return !near;
    return true;
  }
  return [...record.addedNodes, ...record.removedNodes].some((changed) => hasSubstance(changed, near));
}

function hasSubstance(node: Node, near: boolean): boolean {
  if (node.nodeType === 3) return squeeze((node as Text).data) !== '';
  if (node.nodeType !== 1) return false;
  const element = node as Element;
  if (/^(?:SCRIPT|STYLE|LINK|META)$/.test(element.tagName)) return false;
  return !near || hasContent(element);
}

/**
 * The number of what was noticed so far, and the values that fields have: a script can set those without a sign. Equal
 * before and after, the page shows what it showed.
 */
export function stateOfPage(): string {
  if (observer.takeRecords().length > 0) noticed++;
  let values = `${noticed} ${location.href} ${innerWidth} ${innerHeight} ${scrollX} ${scrollY}`;
  for (const root of roots) {
    for (const field of (root as ParentNode).querySelectorAll<HTMLInputElement>('input,textarea,select'))
      values += `\u0000${field.value}${field.checked ? '\u0001' : ''}${field.disabled ? '\u0002' : ''}`;
  }
  return values;
}

/** Stops counting; later changes belong to nothing that the device did. */
export function end(): void {
  effect = undefined;
}
