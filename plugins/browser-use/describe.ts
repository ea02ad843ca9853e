/**
 * How a page and its controls are put before Jev: bounded, minimal, and the same bytes for the same page.
 *
 * Everything here comes from the page and is untrusted. It goes into data members of the state and of the options, never
 * into the rules.
 */
import type { Json } from '../../sdk/contract/jev.ts';
import type { Target } from './candidates.ts';
import { type Observation, type ObservedElement, pageText, visibleElements } from './observation.ts';

/** How much of the page is told. The next smaller detail is used when a request would be too large. */
export interface Detail {
  pageText: number;
  label: number;
  context: number;
  value: number;
}
export const details: readonly Detail[] = [
  { pageText: 12_000, label: 250, context: 800, value: 2000 },
  { pageText: 6000, label: 250, context: 240, value: 240 },
  { pageText: 3000, label: 120, context: 80, value: 80 },
  { pageText: 1500, label: 60, context: 40, value: 40 },
];

export function describePage(page: Observation, detail: Detail): Json {
  return clean({
    untrusted_page_data: true,
    url: cut(page.url, 2048),
    title: cut(page.title, 500),
    text: cut(pageText(page), detail.pageText),
    elements: visibleElements(page).map((element) => describeElement(element, detail)),
    scroll: clean({ ...page.scroll }),
    truncated: clean({ ...page.truncated }),
  });
}

/** One line of the element table: what it is and the state it is in. */
function describeElement(element: ObservedElement, detail: Detail): Json {
  return clean({
    ref: element.ref,
    label: cut(element.label, detail.label),
    role: element.role ?? element.tag,
    value: shownValue(element, detail),
    checked: element.checked,
    selected: element.selected,
    expanded: element.expanded,
    disabled: element.disabled || undefined,
    readonly: element.readonly || undefined,
    operations: element.operations,
  });
}

/** A target of a question, whole: what tells it from its neighbours. */
export function describeTarget({ element, option }: Target, detail: Detail): Json {
  return clean({
    label: cut(element.label, detail.label),
    option: option && cut(option.label, detail.label),
    context: element.context === undefined ? undefined : cut(element.context, detail.context),
    value_now: element.value_now,
    value_text: element.value_text === undefined ? undefined : cut(element.value_text, detail.value),
    role: element.role ?? element.tag,
    current_value: element.value === undefined ? undefined : cut(element.value, detail.value),
    value_truncated: element.value_truncated,
    checked: element.checked,
    selected: option ? option.selected : element.selected,
    expanded: element.expanded,
  });
}

function shownValue(element: ObservedElement, detail: Detail): string | undefined {
  const value = element.value ?? element.value_text ?? element.value_now;
  return value === undefined ? undefined : cut(value, Math.min(detail.value, 500));
}

/** Cuts by code points, so that no half of a pair is left. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\uD800-\uDBFF]/u.test(text.charAt(limit - 1)) ? limit - 1 : limit;
  return text.slice(0, end);
}

/** Members that are not there (undefined) are left out when the request becomes JSON text. */
export function clean(members: Record<string, Json | undefined>): Json {
  return members as Json;
}
