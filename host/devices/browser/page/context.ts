/** What tells ten equal "Delete" buttons apart: the row, card, list entry, group, form or dialog that each stands in. */
import { computedName, contentText, tidy } from './names.ts';
import { roleOf } from './roles.ts';
import { closest, cut, drawnParent, tagOf } from './tree.ts';

/** Characters of one part of a context. */
const PART = 120;

const ENTRIES = new Set(['row', 'listitem', 'article', 'option', 'treeitem']);
const GROUPS = new Set([
  'group',
  'radiogroup',
  'dialog',
  'alertdialog',
  'toolbar',
  'menu',
  'listbox',
  'tabpanel',
  'region',
  'form',
  'search',
  'navigation',
  'grid',
  'table',
]);

export class Contexts {
  readonly #entries = new Map<Element, string>();
  readonly #groups = new Map<Element, string>();

  /** Names of the groups that a control belongs to, innermost first: legend, dialog, named form or region. */
  groups(element: Element): string[] {
    const found: string[] = [];
    for (let current = drawnParent(element); current && found.length < 3; current = drawnParent(current)) {
      const role = roleOf(current);
      if (role === null || !GROUPS.has(role)) continue;
      const name = this.#group(current, role);
      if (name && !found.includes(name)) found.push(name);
    }
    return found;
  }

  /** What the row, list entry or card says besides this control. */
  entry(element: Element, label: string): string {
    const container = entryOf(element);
    if (!container) return nearestHeading(element);
    let said = this.#entries.get(container);
    if (said === undefined) {
      said = this.#describeEntry(container);
      this.#entries.set(container, said);
    }
    const others = said
      .split(' | ')
      .filter((part) => part && part !== label)
      .join(' | ');
    return cut(others, PART * 2);
  }

  #describeEntry(container: Element): string {
    const heading = container.querySelector('h1,h2,h3,h4,h5,h6,[role=heading]');
    if (heading) {
      const text = tidy(contentText(heading, new Set([heading])));
      if (text) return cut(text, PART);
    }
    const parts: string[] = [];
    let length = 0;
    const ownWords = [...container.childNodes].some((node) => node.nodeType === 3 && tidy((node as Text).data) !== '');
    if (ownWords) return cut(tidy(plainText(container)), PART);
    const cells = roleOf(container) === 'row' ? container.children : leaves(container);
    for (const cell of cells) {
      if (length > PART * 2 || parts.length >= 6) break;
      if (isWorked(cell)) continue;
      const text = cut(tidy(plainText(cell)), PART);
      if (!text || parts.includes(text)) continue;
      parts.push(text);
      length += text.length;
    }
    return parts.join(' | ');
  }

  #group(element: Element, role: string): string {
    let name = this.#groups.get(element);
    if (name === undefined) {
      const named =
        element.hasAttribute('aria-label') ||
        element.hasAttribute('aria-labelledby') ||
        element.hasAttribute('title') ||
        role === 'group' ||
        role === 'table';
      name = named ? cut(computedName(element), PART) : '';
      if (!name && (role === 'dialog' || role === 'alertdialog')) {
        const heading = element.querySelector('h1,h2,h3,h4,h5,h6,[role=heading],legend');
        name = heading ? cut(tidy(contentText(heading, new Set([heading]))), PART) : role;
      }
      this.#groups.set(element, name);
    }
    return name;
  }
}

/** The entry of a list, table or set of cards: by role, or one of several siblings that are built alike. */
export function entryOf(element: Element): Element | null {
  return closest(element, (candidate) => {
    const role = roleOf(candidate);
    if (role !== null && ENTRIES.has(role)) return true;
    return role === null && looksLikeEntry(candidate);
  });
}

function looksLikeEntry(element: Element): boolean {
  const parent = element.parentElement;
  if (!parent || element.children.length === 0 || parent.children.length < 3) return false;
  const name = element.getAttribute('class');
  const next = element.nextElementSibling ?? element.previousElementSibling;
  return (
    !!name &&
    next !== null &&
    tagOf(next) === tagOf(element) &&
    (next.getAttribute('class') ?? '').split(/\s+/)[0] === name.split(/\s+/)[0] &&
    next.children.length > 0 &&
    (element.textContent ?? '').trim().length > 0
  );
}

function nearestHeading(element: Element): string {
  for (
    let current: Element | null = element, steps = 0;
    current && steps < 8;
    current = drawnParent(current), steps++
  ) {
    for (
      let before = current.previousElementSibling, looked = 0;
      before && looked < 8;
      before = before.previousElementSibling, looked++
    ) {
      const heading = /^H[1-6]$/.test(tagOf(before))
        ? before
        : tagOf(before) === 'HEADER'
          ? before.querySelector('h1,h2,h3,h4,h5,h6')
          : null;
      if (heading) return cut(tidy(contentText(heading, new Set([heading]))), PART);
    }
  }
  return '';
}

const isWorked = (element: Element) =>
  /^(?:BUTTON|INPUT|SELECT|TEXTAREA)$/.test(tagOf(element)) || element.getAttribute('role') === 'button';

/** Text of a cell without that of its buttons and fields. */
function plainText(element: Element): string {
  if (element.querySelector('button,input,select,textarea,[role=button]') === null)
    return contentText(element, new Set([element]));
  let text = '';
  for (const child of element.childNodes) {
    if (child.nodeType === 3) text += ` ${(child as Text).data}`;
    else if (child.nodeType === 1 && !isWorked(child as Element)) text += ` ${plainText(child as Element)}`;
  }
  return text;
}

function* leaves(container: Element): Iterable<Element> {
  for (const child of container.children) {
    if (child.children.length > 1 && !/^(?:P|A|SPAN|H[1-6])$/.test(tagOf(child))) yield* leaves(child);
    else yield child;
  }
  if (container.children.length === 0) yield container;
}
