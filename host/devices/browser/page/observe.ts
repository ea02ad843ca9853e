/** One observation of what this world can see, as the wire contract writes it. */

import { type Candidate, mostRelevant, placed } from './candidates.ts';
import { watch } from './changes.ts';
import { Contexts } from './context.ts';
import { Clips } from './geometry.ts';
import { GuardWriter } from './guard.ts';
import { coverName, placeOf, touch } from './hit.ts';
import { accessibleName, tidy } from './names.ts';
import { LABEL, optionsOf } from './options.ts';
import { refOf } from './refs.ts';
import { isDisabled, isReadOnly, operationsOf } from './roles.ts';
import { scrollState } from './scrolling.ts';
import { isSensitive, Secrets } from './secrets.ts';
import { descriptionOf, statesOf } from './states.ts';
import { cut, tagOf } from './tree.ts';
import { Walk } from './walk.ts';

/** Limits of the wire contract, and of this device for what the contract leaves open. */
const CONTEXT = 800;
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
