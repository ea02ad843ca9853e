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
  const { ref: _ref, options, ...rest } = element;
  return JSON.stringify([rest, options?.map(({ ref: _optionRef, ...option }) => option)]);
}

/**
 * The state of the page. Refs and generations are left out: a page that rebuilt the same controls has not made progress.
 */
export function fingerprint(page: Observation): string {
  return digest(JSON.stringify([page.url, page.text, page.scroll, page.elements.map(elementFace)]));
}
