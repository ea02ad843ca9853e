/**
 * Notices what the page does after an input, and when it has come to rest.
 *
 * A change counts when a person would notice it: text or controls that come or go, a state, an address, a value. A pressed
 * look or a ripple on the control itself does not, nor does a clock that was already ticking before the input.
 */
import { hasContent, motionEnds } from './motion.ts';
import { hidesRoot, isInside, squeeze } from './tree.ts';

/** Milliseconds between the changes of a node that is restless, such as a clock: one change, as at loading, is none. */
const RESTLESS_MS = 2500;
/** Milliseconds within which changes of a node are one. */
const SAME_MS = 15;
/** Milliseconds between looks. */
const LOOK_MS = 8;

interface Habit {
  at: number;
  /** Changes that came one after another, by themselves. */
  times: number;
}

const habits = new WeakMap<Node, Habit>();
const watched = new WeakSet<Node>();

interface Effect {
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

type Answer = Pick<Effect, 'begun' | 'target' | 'changed' | 'valueChanged'>;

let effect: Effect | undefined;
/** Grows with whatever was noticed. */
let noticed = 0;

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

export interface SettleOptions {
  /** Milliseconds without a change after which the page is at rest. */
  quiet: number;
  /** Milliseconds to go on watching when nothing noticeable changed. */
  watch: number;
  /** The same, when the control's own value changed and nothing else. */
  watchValue: number;
  /** End as undecided when nothing but the control's own value changed: whether to go on watching is decided outside. */
  ask: boolean;
  /** All of the input has been sent: watching counts from now. */
  sent: boolean;
  /** Milliseconds to go on from now in any case: a request has just brought something. */
  atLeast: number;
  /** Milliseconds after which a restless page is read as it is. */
  max: number;
  /** Milliseconds to wait for what is moving or fading in. */
  motion: number;
}

export interface Settled {
  changed: boolean;
  valueChanged: boolean;
  /** It was still changing when the time was up. */
  restless: boolean;
  /** It rests, but somebody who listens may answer yet. */
  undecided?: boolean;
}

/** Milliseconds before the expected rest in which a look at the page is prepared. */
const AHEAD_MS = 30;
/** Looks that are prepared during one wait; a restless page is looked at when the wait ends. */
const MAX_AHEAD = 2;

/** @param prepare called while the page rests already, towards the end of the wait. */
export async function settle(options: SettleOptions, prepare: () => void = () => {}): Promise<Settled> {
  const current = effect ?? {
    begun: performance.now(),
    since: performance.now(),
    target: null,
    address: location.href,
    changed: true,
    valueChanged: false,
    lastAt: performance.now(),
  };
  const drawn = nextFrame();
  const started = performance.now();
  let ahead = 0;
  let moved = false;
  let preparedAt = -1;
  if (options.sent) current.since = started;
  for (;;) {
    const now = performance.now();
    if (!current.changed && location.href !== current.address) current.changed = true;
    const watchFor = current.changed ? 0 : current.valueChanged ? options.watchValue : options.watch;
    const restsIn = Math.max(
      current.lastAt + options.quiet - now,
      current.since + watchFor - now,
      started + options.atLeast - now,
    );
    if (restsIn <= 0) break;
    if (options.ask && !current.changed && current.valueChanged && current.lastAt + options.quiet <= now) {
      // What ends a motion may be heard, though nobody hears the input.
      if (!moved && (await motionOf(current, options.motion))) {
        moved = true;
        current.lastAt = performance.now();
        continue;
      }
      prepare();
      return { changed: false, valueChanged: true, restless: false, undecided: true };
    }
    if (now - Math.max(current.since, started) >= options.max)
      return { changed: current.changed, valueChanged: current.valueChanged, restless: true };
    if (restsIn <= AHEAD_MS && preparedAt !== noticed && ahead < MAX_AHEAD) {
      ahead++;
      preparedAt = noticed;
      prepare();
      continue;
    }
    // Looking too late would be a wait for nothing, at every action.
    await pause(Math.min(LOOK_MS, restsIn));
  }
  await drawn;
  await motionOf(current, options.motion);
  return { changed: current.changed, valueChanged: current.valueChanged, restless: false };
}

/**
 * Waits for what the input set in motion. Styles alone can show, hide or move things when a value changes, and no node tells
 * of it.
 */
async function motionOf(effect: Answer, max: number): Promise<boolean> {
  if (!effect.changed && !effect.valueChanged) return false;
  const waited = await motionEnds(max, effect.begun, effect.changed ? null : effect.target);
  if (waited) noticed++;
  return waited;
}

/** One drawn frame, or a little while on a page that draws none. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, 50);
  });
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Stops counting; later changes belong to nothing that the device did. */
export function end(): void {
  effect = undefined;
}
