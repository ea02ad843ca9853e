/** Observations for tests of the pure parts. */
import type { Observation, ObservedElement } from '../observation.ts';

export function element(given: Partial<ObservedElement> & { ref: string }): ObservedElement {
  const operations =
    given.operations ?? (given.tag === 'input' ? ['TYPE_TEXT'] : given.options ? ['SELECT'] : ['CLICK']);
  return { label: given.ref, tag: given.options ? 'select' : 'button', ...given, operations };
}

export const button = (ref: string, more: Partial<ObservedElement> = {}) => element({ ref, ...more });
export const field = (ref: string, more: Partial<ObservedElement> = {}) => element({ ref, tag: 'input', ...more });
export const select = (ref: string, labels: string[], more: Partial<ObservedElement> = {}) =>
  element({
    ref,
    options: labels.map((label, i) => ({ ref: `o${i}`, label, disabled: false, selected: false })),
    ...more,
  });

export function pageWith(elements: ObservedElement[], more: Partial<Observation> = {}): Observation {
  return {
    protocol_version: 1,
    generation: 'g1',
    url: 'http://site.example/',
    title: 'Site',
    text: 'Some text',
    elements,
    scroll: { y: 0, up: false, down: false },
    truncated: { text: false, elements: false },
    ...more,
  };
}
