/** Paints sensitive fields out while a picture is taken. */
import { isSensitive } from './secrets.ts';
import { frameDocument, shadowOf } from './tree.ts';

let masked: { element: HTMLElement; style: string | null }[] = [];

/** @returns how many fields are covered. */
export function maskSensitive(): number {
  unmask();
  for (const field of sensitiveFields(document)) {
    masked.push({ element: field, style: field.getAttribute('style') });
    // Inline and important: nothing of the page's own styles can show the text again.
    for (const [property, value] of [
      ['color', 'transparent'],
      ['-webkit-text-fill-color', 'transparent'],
      ['text-shadow', 'none'],
      ['caret-color', 'transparent'],
      ['background', '#000'],
      ['transition', 'none'],
    ] as const)
      field.style.setProperty(property, value, 'important');
  }
  return masked.length;
}

export function unmask(): void {
  for (const { element, style } of masked) {
    if (style === null) element.removeAttribute('style');
    else element.setAttribute('style', style);
  }
  masked = [];
}

function* sensitiveFields(root: Document | ShadowRoot): Iterable<HTMLElement> {
  for (const element of root.querySelectorAll<HTMLElement>('*')) {
    const shadow = shadowOf(element);
    if (shadow) yield* sensitiveFields(shadow);
    if (element.tagName === 'IFRAME') {
      const inner = frameDocument(element);
      if (inner) yield* sensitiveFields(inner);
    } else if (
      (element.tagName === 'INPUT' || element.tagName === 'TEXTAREA') &&
      (element as HTMLInputElement).type !== 'hidden' &&
      isSensitive(element)
    ) {
      yield element;
    }
  }
}
