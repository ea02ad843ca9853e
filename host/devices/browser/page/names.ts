/**
 * The accessible name, by the standard computation: labelled-by, label attribute, the element's own labelling, content,
 * title, placeholder; recursive, and never twice through the same element.
 *
 * Where the standard finds nothing, a person still sees something: a tooltip's text, an icon's name, the words beside the
 * field. Those come last, so that no visible control is without a name for want of markup.
 */
import { roleOf } from './roles.ts';
import { drawnChildren, drawnParent, isElement, isText, referenced, squeeze, tagOf } from './tree.ts';

/** Characters after which reading a name stops. */
const ENOUGH = 1000;

const FROM_CONTENT = new Set([
  'button',
  'link',
  'checkbox',
  'radio',
  'switch',
  'tab',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'treeitem',
  'gridcell',
  'cell',
  'row',
  'columnheader',
  'rowheader',
  'heading',
  'tooltip',
  'listitem',
]);

/** Characters of icon fonts; they show a picture, not a letter. */
const ICONS = /[\uE000-\uF8FF]|[\u{F0000}-\u{10FFFD}]/gu;

export function accessibleName(element: Element): string {
  return tidy(nameOf(element, new Set(), false)) || visibleHint(element);
}

/** The computed name alone, without what a person would guess: for groups, whose contents are no name. */
export const computedName = (element: Element): string => tidy(nameOf(element, new Set(), false));

export const tidy = (text: string): string => squeeze(text.replace(ICONS, ''));

function nameOf(element: Element, seen: Set<Element>, referencedNow: boolean): string {
  if (!referencedNow) {
    const labels = referenced(element, 'aria-labelledby').filter((label) => !seen.has(label) || label === element);
    if (labels.length > 0) {
      const text = labels
        .map((label) => referencedText(label, new Set(seen).add(element), label === element))
        .join(' ');
      if (tidy(text)) return text;
    }
  }
  const stated = element.getAttribute('aria-label');
  if (stated && tidy(stated)) return stated;
  const own = nativeName(element, seen);
  if (tidy(own)) return own;
  const role = roleOf(element);
  if (role === null || FROM_CONTENT.has(role) || referencedNow) {
    const content = contentText(element, new Set(seen).add(element));
    if (tidy(content)) return content;
  }
  return (
    element.getAttribute('title') ||
    element.getAttribute('placeholder') ||
    element.getAttribute('aria-placeholder') ||
    ''
  );
}

function referencedText(element: Element, seen: Set<Element>, isSelf: boolean): string {
  if (isSelf) return element.getAttribute('aria-label') || nativeName(element, seen) || contentText(element, seen);
  if (isControl(element))
    return element.getAttribute('aria-label') || embeddedValue(element) || nameOf(element, seen, true);
  return nameOf(element, seen, true);
}

function nativeName(element: Element, seen: Set<Element>): string {
  const tag = tagOf(element);
  if (tag === 'INPUT') {
    const input = element as HTMLInputElement;
    if (input.type === 'submit' || input.type === 'button' || input.type === 'reset') {
      return (
        input.value ||
        labelText(input, seen) ||
        (input.type === 'button' ? '' : input.type === 'submit' ? 'Submit' : 'Reset')
      );
    }
    if (input.type === 'image') return input.alt || input.title || 'Submit';
    return labelText(input, seen);
  }
  if (
    tag === 'SELECT' ||
    tag === 'TEXTAREA' ||
    tag === 'BUTTON' ||
    tag === 'METER' ||
    tag === 'PROGRESS' ||
    tag === 'OUTPUT'
  ) {
    return labelText(element as HTMLInputElement, seen);
  }
  if (tag === 'IMG' || tag === 'AREA') return (element as HTMLImageElement).alt;
  if (tag === 'FIELDSET') return childText(element, 'LEGEND', seen);
  if (tag === 'TABLE') return childText(element, 'CAPTION', seen);
  if (tag === 'FIGURE') return childText(element, 'FIGCAPTION', seen);
  if (tag === 'SVG' || element.namespaceURI === 'http://www.w3.org/2000/svg') return childText(element, 'TITLE', seen);
  if (element.shadowRoot || (element as HTMLInputElement).labels) return labelText(element as HTMLInputElement, seen);
  return '';
}

function labelText(element: HTMLInputElement, seen: Set<Element>): string {
  const labels = element.labels;
  if (!labels || labels.length === 0) return '';
  const inner = new Set(seen).add(element);
  return [...labels].map((label) => label.getAttribute('aria-label') || contentText(label, inner)).join(' ');
}

function childText(element: Element, tag: string, seen: Set<Element>): string {
  for (const child of element.children)
    if (tagOf(child) === tag) return tag === 'TITLE' ? (child.textContent ?? '') : contentText(child, seen);
  return '';
}

/** What stands inside a plain canvas is for browsers that draw none; often it says only that they are too old. */
const isDrawing = (element: Element) => tagOf(element) === 'CANVAS' && !element.hasAttribute('role');

/** What the children say, in order, as a reader of the screen would hear it. */
export function contentText(element: Element, seen: Set<Element>): string {
  if (isDrawing(element)) return '';
  let text = pseudoText(element, '::before');
  const children = drawnChildren(element);
  for (let i = 0; i < children.length && text.length < ENOUGH; i++) {
    const child = children[i];
    if (!child) continue;
    if (isText(child)) text += child.data;
    else if (isElement(child)) text += elementText(child, seen);
  }
  return text + pseudoText(element, '::after');
}

const SILENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'IFRAME']);

function elementText(element: Element, seen: Set<Element>): string {
  if (seen.has(element) || SILENT.has(tagOf(element)) || element.getAttribute('aria-hidden') === 'true') return '';
  const style = getComputedStyle(element);
  if (style.display === 'none' || style.visibility === 'hidden') return '';
  const inner = new Set(seen).add(element);
  const labelled = referenced(element, 'aria-labelledby');
  const text =
    (labelled.length > 0 ? labelled.map((label) => referencedText(label, inner, false)).join(' ') : '') ||
    (isControl(element) ? embeddedValue(element) : '') ||
    element.getAttribute('aria-label') ||
    (tagOf(element) === 'IMG' ? (element as HTMLImageElement).alt : '') ||
    (tagOf(element) === 'SVG' ? childText(element, 'TITLE', inner) : '') ||
    contentText(element, inner) ||
    element.getAttribute('title') ||
    '';
  return style.display === 'inline' || style.display === 'contents' ? text : ` ${text} `;
}

const CONTROLS = new Set(['INPUT', 'SELECT', 'TEXTAREA']);
const isControl = (element: Element) =>
  CONTROLS.has(tagOf(element)) ||
  /^(?:combobox|listbox|slider|spinbutton|textbox)$/.test(element.getAttribute('role') ?? '');

/** A control inside a label speaks by its value ("Remind me in [5] minutes"). */
function embeddedValue(element: Element): string {
  const tag = tagOf(element);
  if (tag === 'SELECT')
    return [...(element as HTMLSelectElement).selectedOptions].map((option) => option.text).join(' ');
  if (tag === 'INPUT') {
    const input = element as HTMLInputElement;
    return /^(?:checkbox|radio|password|file|hidden)$/.test(input.type) ? '' : input.value;
  }
  if (tag === 'TEXTAREA') return (element as HTMLTextAreaElement).value;
  return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
}

function pseudoText(element: Element, which: '::before' | '::after'): string {
  const content = getComputedStyle(element, which).content;
  if (content === 'none' || content === 'normal' || content === '') return '';
  // `"text" / "alternative"`: the alternative is what is read.
  const parts = content.split('" / "');
  const quoted = /"((?:[^"\\]|\\.)*)"/.exec(parts.length > 1 ? `"${parts[1]}` : content);
  return quoted?.[1]?.replace(/\\(.)/g, '$1') ?? '';
}

/** What a person would call a control that its author did not name. */
function visibleHint(element: Element): string {
  for (const attribute of [
    'data-tooltip',
    'data-original-title',
    'data-bs-title',
    'data-title',
    'data-label',
    'data-placeholder',
    'alt',
  ])
    if (tidy(element.getAttribute(attribute) ?? '')) return tidy(element.getAttribute(attribute) ?? '');
  const content = tidy(contentText(element, new Set([element])));
  if (content && !(element as HTMLElement).isContentEditable && !isControl(element)) return content;
  if (isDrawing(element)) return words(element.id);
  for (const inner of element.querySelectorAll('img[alt], [aria-label], [title], svg title, use')) {
    const said =
      inner.getAttribute('alt') ||
      inner.getAttribute('aria-label') ||
      inner.getAttribute('title') ||
      (tagOf(inner) === 'TITLE' ? inner.textContent : '');
    if (said && tidy(said)) return tidy(said);
    const href = inner.getAttribute('href') ?? inner.getAttribute('xlink:href');
    const icon = href && iconWords(href.slice(href.indexOf('#') + 1));
    if (icon) return icon;
  }
  if (isControl(element)) return besideText(element) || words(element.getAttribute('name') || element.id);
  return (
    iconClass(element) || besideText(element) || words(element.getAttribute('name') || element.id) || linkWords(element)
  );
}

const ICON_CLASS =
  /(?:^|\s)(?:fa|bi|icon|mdi|ti|ri|glyphicon|material-icons|ql|lucide|feather|codicon|octicon|i)-([a-z][a-z0-9-]{2,40})(?=\s|$)/;

function iconClass(element: Element): string {
  for (const candidate of [element, ...element.querySelectorAll('i, span, svg')]) {
    const found = ICON_CLASS.exec(candidate.getAttribute('class') ?? '')?.[1];
    if (found) return iconWords(found);
  }
  return '';
}

const iconWords = (id: string) =>
  words(id.replace(/^(?:fa|bi|icon|mdi|ic)-/, '').replace(/-(?:icon|solid|outline|filled|line|fill|fw|lg)$/, ''));

const words = (id: string) =>
  id.length > 60 || /\d{4,}|[:$]/.test(id)
    ? ''
    : squeeze(id.replace(/[-_.[\]]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2'));

function linkWords(element: Element): string {
  const href = element.getAttribute('href');
  return href ? words((href.split(/[?#]/)[0] ?? '').split('/').filter(Boolean).at(-1) ?? '') : '';
}

/** Words that stand right before a field or in the cell before it. */
function besideText(element: Element): string {
  for (
    let current: Element | null = element, steps = 0;
    current && steps < 3;
    current = drawnParent(current), steps++
  ) {
    if (tagOf(current) === 'BODY') return '';
    const before = current.previousSibling;
    if (before) {
      const text = tidy(isElement(before) ? (before.textContent ?? '') : isText(before) ? before.data : '');
      const holdsControl = isElement(before) && before.querySelector('input,select,textarea,button,a[href]') !== null;
      if (text && text.length <= 120 && !holdsControl) return text;
      if (text) return '';
    }
  }
  return '';
}
