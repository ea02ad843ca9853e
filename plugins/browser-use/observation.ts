/** What an observation says about the page: what is in view, whether it is empty or partial, whether it changed. */
import type { Observation, ObservedElement } from '../../sdk/devices/remote-browser-contract.ts';
import { digest } from './digest.ts';

export type { Observation, ObservedElement };

export function inView(element: ObservedElement): boolean {
  return element.in_viewport !== false;
}

/** The elements that may be spoken of: in view and not sensitive. */
export function visibleElements(page: Observation): ObservedElement[] {
  return page.elements.filter((element) => inView(element) && !element.sensitive);
}

/** Text of the visible part where the device tells it apart, else all text. */
export function pageText(page: Observation): string {
  return page.viewport_text ?? page.text;
}

/** Nothing to read and nothing to use: a page that is still being built. */
export function isEmpty(page: Observation): boolean {
  return pageText(page).trim() === '' && visibleElements(page).length === 0;
}

/** Controls in view may be missing from the list. */
export function isIncomplete(page: Observation): boolean {
  return page.truncated.elements && page.truncated.viewport_elements !== false;
}

/** A sensitive field is in view, or one could be among the elements that were left out. */
export function mayShowSensitive(page: Observation): boolean {
  return isIncomplete(page) || page.elements.some((element) => element.sensitive && inView(element));
}

/** What identifies a field over observations that may give it a new ref. */
export function fieldIdentity(element: ObservedElement): string {
  return JSON.stringify([element.tag, element.role ?? '', element.type ?? '', element.label, element.context ?? '']);
}

/** Everything of the element except its ref: two readings with the same face show the same control in the same state. */
export function elementFace(element: ObservedElement): string {
  return JSON.stringify(faceOf(element));
}

function faceOf(e: ObservedElement): unknown[] {
  return [
    e.label,
    e.context,
    e.tag,
    e.role,
    e.type,
    e.value,
    e.value_now,
    e.value_text,
    e.value_truncated,
    e.checked,
    e.selected,
    e.expanded,
    e.disabled,
    e.readonly,
    e.sensitive,
    e.in_viewport,
    e.operations,
    e.options?.map((option) => [option.label, option.disabled, option.selected]),
  ];
}

/** Characters up to which a state stands for itself; beyond, a digest does. */
const PLAIN_STATE = 64 * 1024;
const known = new WeakMap<Observation, string>();

/**
 * The state of the page. Refs and generations are left out: a page that rebuilt the same controls has not made progress.
 * Asked for several times in a decision, so it is kept as long as the observation is.
 */
export function fingerprint(page: Observation): string {
  const before = known.get(page);
  if (before !== undefined) return before;
  const text = JSON.stringify([page.url, page.text, page.scroll, page.elements.map(faceOf)]);
  const state = text.length <= PLAIN_STATE ? text : digest(text);
  known.set(page, state);
  return state;
}
