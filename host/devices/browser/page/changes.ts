/**
 * Notices what the page does after an input, and when it has come to rest.
 *
 * A change counts when a person would notice it: text or controls that come or go, a state, an address, a value. A pressed
 * look or a ripple on the control itself does not, nor does a clock that was already ticking before the input.
 */
import { isInside, squeeze } from './tree.ts';

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
}

let effect: Effect | undefined;

const observer = new MutationObserver((records) => {
  const now = performance.now();
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

export function watch(roots: Node[]): void {
  for (const root of roots) {
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
  }
}

function noteValue(): void {
  if (!effect) return;
  effect.valueChanged = true;
  effect.lastAt = performance.now();
}

function noteScroll(): void {
  if (effect) effect.lastAt = performance.now();
}

/** Starts watching for the effect of the input that is about to be made. */
export function begin(target: Element | null): void {
  const now = performance.now();
  effect = { begun: now, since: now, target, address: location.href, changed: false, valueChanged: false, lastAt: now };
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
  return (
    !near ||
    squeeze(element.textContent ?? '') !== '' ||
    element.querySelector('input,button,select,textarea,a,img') !== null
  );
}

export interface SettleOptions {
  /** Milliseconds without a change after which the page is at rest. */
  quiet: number;
  /** Milliseconds to go on watching when nothing noticeable changed. */
  watch: number;
  /** The same, when the control's own value changed and nothing else. */
  watchValue: number;
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
}

export async function settle(options: SettleOptions): Promise<Settled> {
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
    if (now - Math.max(current.since, started) >= options.max)
      return { changed: current.changed, valueChanged: current.valueChanged, restless: true };
    // Looking too late would be a wait for nothing, at every action.
    await pause(Math.min(LOOK_MS, restsIn));
  }
  await drawn;
  if (current.changed) await motionEnds(options.motion, current.begun);
  return { changed: current.changed, valueChanged: current.valueChanged, restless: false };
}

/** One drawn frame, or a little while on a page that draws none. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, 50);
  });
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const MOVING =
  /^(?:opacity|transform|translate|scale|height|width|max-?[hH]eight|max-?[wW]idth|top|left|right|bottom|visibility|display|clip-?[pP]ath)$/;

/** Waits for finite animations and transitions that move or show things, such as a dialog that fades in. */
async function motionEnds(max: number, since: number): Promise<void> {
  const ends = performance.now() + max;
  for (const animation of document.getAnimations()) {
    if (animation.playState !== 'running') continue;
    const timing = animation.effect?.getComputedTiming();
    const left = Number(timing?.endTime ?? Infinity) - Number(animation.currentTime ?? 0);
    const age = Number(animation.currentTime ?? 0);
    if (!Number.isFinite(left) || left > max || age > performance.now() - since + 50 || !moves(animation)) continue;
    await Promise.race([animation.finished.catch(() => {}), pause(Math.max(0, ends - performance.now()))]);
  }
}

function moves(animation: Animation): boolean {
  const property = (animation as CSSTransition).transitionProperty;
  if (property) return MOVING.test(property);
  const frames = (animation.effect as KeyframeEffect | null)?.getKeyframes?.() ?? [];
  return frames.some((frame) => Object.keys(frame).some((key) => MOVING.test(key)));
}

/** Stops counting; later changes belong to nothing that the device did. */
export function end(): void {
  effect = undefined;
}
