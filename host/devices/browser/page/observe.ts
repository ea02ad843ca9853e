/** One observation of what this world can see, as the wire contract writes it. */

import { watch } from './changes.ts';
import { Contexts } from './context.ts';
import { type Box, boxOf, Clips } from './geometry.ts';
import { GuardWriter } from './guard.ts';
import { coverName, type Placed, placeOf, touch } from './hit.ts';
import { accessibleName, tidy } from './names.ts';
import { refOf } from './refs.ts';
import { isDisabled, isReadOnly, operationsOf, roleOf } from './roles.ts';
import { isSensitive, Secrets } from './secrets.ts';
import { descriptionOf, statesOf } from './states.ts';
import { byId, cut, squeeze, tagOf } from './tree.ts';
import { type FoundControl, Walk } from './walk.ts';

/** Limits of the wire contract, and of this device for what the contract leaves open. */
const LABEL = 250;
const CONTEXT = 800;
const OPTIONS = 100;
/** Options of all controls together: a reply holds a mebibyte. */
const ALL_OPTIONS = 1500;
/** Characters of all values together. */
const ALL_VALUES = 100_000;

export interface ObserveOptions {
  elements: number;
  text: number;
  viewportText: number;
}

export interface PageElement {
  ref: string;
  label: string;
  tag: string;
  role?: string;
  context?: string;
  operations: string[];
  in_viewport: boolean;
  obscured?: string;
  [state: string]: unknown;
}

export interface PageView {
  generation: number;
  url: string;
  title: string;
  text: string;
  viewport_text: string;
  elements: PageElement[];
  /** Controls found, reported or not. */
  found: number;
  scroll: { y: number; up: boolean; down: boolean };
  truncated: { text: boolean; viewport_text: boolean; elements: boolean; viewport_elements: boolean };
  ready: boolean;
  /** Frames of other origins. */
  frames: { ref: string; visible: boolean }[];
  opaque: string[];
}

interface Candidate extends FoundControl {
  place: Placed;
  obscured?: string;
}

export function observe(options: ObserveOptions): PageView {
  const clips = new Clips();
  const walked = new Walk(clips, options).run(document);
  watch(walked.roots);

  const { candidates, found } = placed(walked.controls, clips, options.elements);
  const secrets = new Secrets();
  for (const { element } of candidates)
    if (isSensitive(element)) secrets.add((element as HTMLInputElement).value ?? '');

  const chosen = mostRelevant(candidates, options.elements);
  for (const candidate of chosen) {
    if (!candidate.place.inView) continue;
    const touched = touch(candidate.element, candidate.drawn, candidate.place.seen);
    if ('cover' in touched) candidate.obscured = coverName(touched.cover);
  }
  const guards = new GuardWriter();
  const elements = describe(chosen, guards, secrets);

  return {
    generation: guards.generation,
    url: location.href,
    title: secrets.hide(document.title.toWellFormed()),
    text: secrets.hide(walked.text),
    viewport_text: secrets.hide(walked.viewportText),
    elements,
    found,
    scroll: scrollState(),
    truncated: {
      text: walked.textCut || walked.stopped,
      viewport_text: walked.viewportTextCut,
      elements: found > chosen.length || walked.stopped,
      viewport_elements:
        candidates.filter((candidate) => candidate.place.inView).length >
        chosen.filter((candidate) => candidate.place.inView).length,
    },
    ready: document.readyState === 'complete',
    frames: walked.frames.map((frame) => ({ ref: refOf(frame), visible: placeOf(frame, clips).inView })),
    opaque: walked.opaque
      .filter((element) => unexplained(element))
      .slice(0, 20)
      .map(refOf),
  };
}

/** Controls in view that are looked at closely, whatever the limit of those reported. */
const MAX_EXAMINED_IN_VIEW = 1500;

/**
 * The nearest controls, looked at closely until there are enough. On a page of thousands most are far from the view and
 * cost one box each.
 */
function placed(controls: FoundControl[], clips: Clips, enough: number): { candidates: Candidate[]; found: number } {
  const near = controls
    .map((control) => ({
      control,
      distance: distanceOf(boxOf(control.drawn, clips.offset(control.drawn.ownerDocument))),
    }))
    .sort((a, b) => a.distance - b.distance || a.control.order - b.control.order);
  const found: Candidate[] = [];
  const seen = new Map<Element, Candidate>();
  let examined = 0;
  for (const { control, distance } of near) {
    if (found.length > enough && (distance > 0 || examined >= MAX_EXAMINED_IN_VIEW)) break;
    examined++;
    const drawn = standIn(control, clips);
    if (!drawn) continue;
    const { place } = drawn;
    const known = seen.get(control.element);
    if (known) {
      if (!known.place.inView && place.inView) Object.assign(known, { drawn: drawn.element, place });
      continue;
    }
    const candidate = { ...control, drawn: drawn.element, place };
    seen.set(control.element, candidate);
    found.push(candidate);
  }
  return { candidates: withoutWrappers(found), found: found.length + (near.length - examined) };
}

/** Pixels from the view; 0 inside it. */
function distanceOf(box: Box): number {
  return Math.max(0, -box.bottom, box.y - innerHeight) + Math.max(0, -box.right, box.x - innerWidth);
}

/** An input that is see-through or without a box is drawn by its label or by what lies around it. */
function standIn(control: FoundControl, clips: Clips): { element: Element; place: Placed } | undefined {
  const own = placeOf(control.drawn, clips);
  if (own.reachable && isDrawn(control.drawn)) return { element: control.drawn, place: own };
  const tag = tagOf(control.element);
  if (tag === 'SELECT' && own.reachable && isShown(control.drawn)) return { element: control.drawn, place: own };
  if (tag !== 'INPUT') return undefined;
  for (const label of (control.element as HTMLInputElement).labels ?? []) {
    const place = placeOf(label, clips);
    if (place.reachable && isDrawn(label)) return { element: label, place };
  }
  // See-through over a drawn box: the input itself takes the click.
  const type = (control.element as HTMLInputElement).type;
  if (own.reachable && isShown(control.drawn) && /^(?:checkbox|radio|file|range|color|date)$/.test(type))
    return { element: control.drawn, place: own };
  return undefined;
}

/** Drawn, and not see-through. */
const isDrawn = (element: Element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
/** Drawn, be it see-through: a select or checkbox laid over a drawn box. */
const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true });

/** Something with a pointer around other controls is one of its own only if it is clearly more than their frame. */
function withoutWrappers(candidates: Candidate[]): Candidate[] {
  const semantic = candidates.filter((candidate) => !candidate.guessed);
  const byElement = new Map<Element, number>();
  for (const candidate of semantic) {
    const size = boxArea(candidate);
    for (
      let current = candidate.element.parentElement, steps = 0;
      current && steps < 12;
      current = current.parentElement, steps++
    )
      byElement.set(current, (byElement.get(current) ?? 0) + size);
  }
  return candidates.filter((candidate) => {
    if (!candidate.guessed) return true;
    const inner = byElement.get(candidate.element);
    if (inner === undefined) return true;
    // What listens around other controls listens for them.
    return candidate.guessed === 'pointer' && boxArea(candidate) > inner * 3;
  });
}

const boxArea = ({ place: { box } }: Candidate) => Math.max(1, (box.right - box.x) * (box.bottom - box.y));

/** In view first, then the nearest; within each, the page's own order. */
function mostRelevant(candidates: Candidate[], limit: number): Candidate[] {
  const far = ({ place }: Candidate) => (place.inView ? 0 : 1 + distanceOf(place.box));
  const ranked = candidates.map((candidate) => ({ candidate, distance: far(candidate) }));
  ranked.sort((a, b) => a.distance - b.distance || a.candidate.order - b.candidate.order);
  return ranked
    .slice(0, limit)
    .sort((a, b) => Number(a.distance > 0) - Number(b.distance > 0) || a.candidate.order - b.candidate.order)
    .map(({ candidate }) => candidate);
}

function describe(chosen: Candidate[], guards: GuardWriter, secrets: Secrets): PageElement[] {
  const contexts = new Contexts();
  const budget = { options: ALL_OPTIONS, values: ALL_VALUES };
  const names = chosen.map((candidate) => accessibleName(candidate.element));
  const labels = names.map((name) => secrets.hide(cut(tidy(name), LABEL)));
  const times = new Map<string, number>();
  for (const label of labels) times.set(label, (times.get(label) ?? 0) + 1);

  return chosen.map((candidate, index) => {
    const { element, role } = candidate;
    const label = labels[index] ?? '';
    const ref = refOf(element);
    guards.remember(ref, element, names[index] ?? '');
    const options = optionsOf(element, role, budget, secrets);
    const states = statesOf(element, role);
    if (states.value !== undefined) {
      const shown = secrets.hide(cut(states.value, Math.max(0, budget.values)));
      budget.values -= shown.length;
      if (shown.length < states.value.length) states.value_truncated = true;
      states.value = shown;
    }
    const context = secrets.hide(contextOf(element, label, contexts, (times.get(label) ?? 0) > 1));
    return {
      ref,
      label,
      tag: tagOf(element).toLowerCase(),
      ...(role === null ? {} : { role }),
      ...(context ? { context } : {}),
      ...states,
      ...(isDisabled(element) ? { disabled: true } : {}),
      ...(isReadOnly(element) ? { readonly: true } : {}),
      operations: operationsOf(element, role, options !== undefined && options.list.length > 0),
      ...(options ? { options: options.list, ...(options.cut ? { options_truncated: true } : {}) } : {}),
      in_viewport: candidate.place.inView,
      ...(candidate.obscured === undefined ? {} : { obscured: secrets.hide(candidate.obscured) }),
    };
  });
}

function contextOf(element: Element, label: string, contexts: Contexts, repeated: boolean): string {
  const parts: string[] = [];
  const described = descriptionOf(element);
  if (repeated || !label) {
    const entry = contexts.entry(element, label);
    if (entry) parts.push(entry);
  }
  parts.push(...contexts.groups(element).slice(0, repeated ? 3 : 2));
  if (described) parts.push(described);
  return cut([...new Set(parts)].filter((part) => part !== label).join(' · '), CONTEXT);
}

export interface PageOption {
  ref: string;
  label: string;
  disabled: boolean;
  selected: boolean;
}

function optionsOf(
  element: Element,
  role: string | null,
  budget: { options: number },
  secrets: Secrets,
): { list: PageOption[]; cut: boolean } | undefined {
  const all = optionElements(element, role);
  if (all === undefined) return undefined;
  const room = Math.min(OPTIONS, Math.max(0, budget.options));
  // The chosen one is kept whatever the limit.
  const kept = all.length > room ? [...new Set([...all.filter(isChosen).slice(0, 5), ...all])].slice(0, room) : all;
  budget.options -= kept.length;
  return {
    list: kept.map((option) => ({
      ref: refOf(option),
      label: secrets.hide(cut(optionLabel(option), LABEL)),
      disabled: isDisabled(option),
      selected: isChosen(option),
    })),
    cut: kept.length < all.length,
  };
}

/** Native options, or those of the list box that an open combobox or a list box of the page holds. */
export function optionElements(element: Element, role: string | null): Element[] | undefined {
  if (tagOf(element) === 'SELECT') return [...(element as HTMLSelectElement).options];
  if (role === 'combobox') {
    const list = (element as HTMLInputElement).list;
    if (list) return undefined;
    if (element.getAttribute('aria-expanded') !== 'true') return undefined;
    const id = element.getAttribute('aria-controls') ?? element.getAttribute('aria-owns');
    const popup = id ? byId(element, id.trim().split(/\s+/)[0] ?? '') : null;
    const found = popup
      ? [...popup.querySelectorAll('[role=option]')].filter((option) => option.checkVisibility())
      : [];
    return found.length > 0 ? found : undefined;
  }
  if (role === 'listbox') {
    const found = [...element.querySelectorAll('[role=option]')].filter((option) => option.checkVisibility());
    return found.length > 0 ? found : undefined;
  }
  return undefined;
}

function optionLabel(option: Element): string {
  if (tagOf(option) !== 'OPTION') return tidy(accessibleName(option));
  const own = squeeze((option as HTMLOptionElement).label);
  const group = option.parentElement;
  return group && tagOf(group) === 'OPTGROUP' ? `${squeeze((group as HTMLOptGroupElement).label)}: ${own}` : own;
}

const isChosen = (option: Element) =>
  (option as HTMLOptionElement).selected === true || option.getAttribute('aria-selected') === 'true';

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

/** Drawn larger than nothing, empty, and without a picture of its own: there may be a closed shadow root. */
function unexplained(element: Element): boolean {
  const rect = element.getBoundingClientRect();
  if (rect.width < 8 || rect.height < 8) return false;
  if (tagOf(element).includes('-')) return true;
  const style = getComputedStyle(element);
  return (
    style.backgroundImage === 'none' &&
    style.backgroundColor === 'rgba(0, 0, 0, 0)' &&
    style.borderTopWidth === '0px' &&
    style.height !== 'auto'
  );
}

export { roleOf };
