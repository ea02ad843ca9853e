/** What a thing is: its role, whether a person can work it, and how. */
import { drawnParent, tagOf } from './tree.ts';

const TAG_ROLES: Record<string, string> = {
  BUTTON: 'button',
  SUMMARY: 'button',
  TEXTAREA: 'textbox',
  OPTION: 'option',
  IMG: 'img',
  DIALOG: 'dialog',
  FORM: 'form',
  NAV: 'navigation',
  MAIN: 'main',
  ARTICLE: 'article',
  TABLE: 'table',
  TR: 'row',
  LI: 'listitem',
  FIELDSET: 'group',
  PROGRESS: 'progressbar',
  METER: 'meter',
  OUTPUT: 'status',
  H1: 'heading',
  H2: 'heading',
  H3: 'heading',
  H4: 'heading',
  H5: 'heading',
  H6: 'heading',
};

const INPUT_ROLES: Record<string, string> = {
  checkbox: 'checkbox',
  radio: 'radio',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
  button: 'button',
  submit: 'button',
  reset: 'button',
  image: 'button',
  file: 'file',
  color: 'color',
};

/** Roles that a person works directly. */
const WIDGETS = new Set([
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
  'combobox',
  'listbox',
  'textbox',
  'searchbox',
  'spinbutton',
  'slider',
  'treeitem',
  'scrollbar',
]);

/** Roles that are worked only where the page says so: by a place in the tab order, a pointer, a handler or a selection. */
const SOMETIMES = new Set([
  'gridcell',
  'cell',
  'row',
  'columnheader',
  'rowheader',
  'img',
  'listitem',
  'article',
  'heading',
]);

/** Input types whose value is set as a whole, not typed letter by letter. */
export const SET_TYPES = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'range', 'color']);

const KEY_TYPES = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number', '']);

export function roleOf(element: Element): string | null {
  const stated = element.getAttribute('role');
  if (stated) {
    const role = stated.trim().split(/\s+/)[0]?.toLowerCase();
    if (role && role !== 'none' && role !== 'presentation' && role !== 'generic') return role;
  }
  const tag = tagOf(element);
  if (tag === 'INPUT') {
    const input = element as HTMLInputElement;
    if (input.type === 'hidden') return null;
    if (input.hasAttribute('list')) return 'combobox';
    return INPUT_ROLES[input.type] ?? 'textbox';
  }
  if (tag === 'A' || tag === 'AREA')
    return element.hasAttribute('href') || element.hasAttribute('xlink:href') ? 'link' : null;
  if (tag === 'SELECT') return isListBox(element as HTMLSelectElement) ? 'listbox' : 'combobox';
  if (tag === 'SUMMARY' && tagOf(element.parentElement ?? element) !== 'DETAILS') return null;
  if (tag === 'SECTION')
    return element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') ? 'region' : null;
  if (isEditingHost(element)) return 'textbox';
  return TAG_ROLES[tag] ?? null;
}

const isListBox = (select: HTMLSelectElement) => select.multiple || select.size > 1;

/** The outermost element of an editable region. */
export function isEditingHost(element: Element): boolean {
  if (!element.hasAttribute('contenteditable')) return false;
  const html = element as HTMLElement;
  if (!html.isContentEditable) return false;
  const parent = element.parentElement as HTMLElement | null;
  return !parent?.isContentEditable;
}

/** Certainly a control, by what it is. */
export function isSemanticControl(element: Element, role: string | null): boolean {
  if (role !== null && WIDGETS.has(role)) return tagOf(element) !== 'OPTION' && role !== 'scrollbar';
  if (role === 'file' || role === 'color') return true;
  if (element.hasAttribute('onclick')) return true;
  const tab = element.getAttribute('tabindex');
  if (tab !== null && Number(tab) >= 0) return !isScrollRegion(element, role);
  if (role !== null && SOMETIMES.has(role)) return tab !== null || element.hasAttribute('aria-selected');
  return false;
}

/** Roles of regions that take the focus only to be scrolled or read. */
const REGIONS = new Set([
  'region',
  'group',
  'document',
  'dialog',
  'alertdialog',
  'main',
  'navigation',
  'form',
  'tabpanel',
  'grid',
  'table',
  'tree',
  'application',
  'menu',
  'menubar',
  'toolbar',
  'tablist',
  'radiogroup',
]);

function isScrollRegion(element: Element, role: string | null): boolean {
  if (role !== null) return REGIONS.has(role);
  const tag = tagOf(element);
  return tag === 'BODY' || tag === 'HTML' || tag === 'PRE' || element.scrollHeight > element.clientHeight + 1;
}

export function isDisabled(element: Element): boolean {
  if (element.matches(':disabled')) return true;
  for (let current: Element | null = element; current; current = drawnParent(current)) {
    const stated = current.getAttribute('aria-disabled');
    if (stated !== null) return stated === 'true';
  }
  return false;
}

/** A press on it asks for files of the owner's machine, which the device never gives. */
export const isFileInput = (element: Element): boolean =>
  tagOf(element) === 'INPUT' && (element as HTMLInputElement).type === 'file';

export function isReadOnly(element: Element): boolean {
  return (element as HTMLInputElement).readOnly === true || element.getAttribute('aria-readonly') === 'true';
}

/** Takes text: typed, or set as a whole (dates, sliders, colours). */
export function takesText(element: Element, role: string | null): boolean {
  const tag = tagOf(element);
  if (tag === 'TEXTAREA') return true;
  if (tag === 'INPUT') {
    const type = (element as HTMLInputElement).type;
    return KEY_TYPES.has(type) || SET_TYPES.has(type);
  }
  if ((element as HTMLElement).isContentEditable) return isEditingHost(element);
  return role === 'slider' || (role === 'spinbutton' && element.hasAttribute('tabindex'));
}

export type Operation = 'CLICK' | 'TYPE_TEXT' | 'SELECT';

export function operationsOf(element: Element, role: string | null, hasOptions: boolean): Operation[] {
  if (isDisabled(element) || role === 'file') return [];
  if (tagOf(element) === 'SELECT') return hasOptions ? ['SELECT'] : [];
  const operations: Operation[] = ['CLICK'];
  if (takesText(element, role) && !isReadOnly(element)) operations.push('TYPE_TEXT');
  if (hasOptions) operations.push('SELECT');
  return operations;
}
