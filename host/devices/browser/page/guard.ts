/**
 * Whether what a decision rested on is still so.
 *
 * Each reported control is remembered with its own role, name, value and state, the text of the form, row, entry or dialog
 * it stands in, and the values of the fields that go with it. A change there makes the observation stale; a change
 * anywhere else on the page does not, and neither does a move.
 */
import { isRestless } from './changes.ts';
import { accessibleName } from './names.ts';
import { isDisabled, isReadOnly, roleOf } from './roles.ts';
import { checkedOf } from './states.ts';
import { closest, drawnChildren, isElement, isText, squeeze, tagOf } from './tree.ts';

/** Characters of the surrounding text that count. */
const MAX_TEXT = 6000;
/** Fields whose values count. */
const MAX_FIELDS = 500;
/** Observations that are remembered; older ones are stale. */
const KEPT = 24;

interface Guard {
  element: WeakRef<Element>;
  self: number;
  around: number;
  fields: number;
}

interface Generation {
  address: string;
  guards: Map<string, Guard>;
}

const generations = new Map<number, Generation>();
let lastGeneration = 0;

export class GuardWriter {
  readonly generation: number;
  readonly #guards = new Map<string, Guard>();
  readonly #cache = new Cache();

  constructor() {
    this.generation = ++lastGeneration;
    generations.set(this.generation, { address: location.href, guards: this.#guards });
    if (generations.size > KEPT) generations.delete(this.generation - KEPT);
  }

  remember(ref: string, element: Element, name: string): void {
    this.#guards.set(ref, { element: new WeakRef(element), ...this.#cache.of(element, name) });
  }
}

export type Staleness =
  | 'OBSERVATION_FORGOTTEN'
  | 'ADDRESS_CHANGED'
  | 'TARGET_GONE'
  | 'TARGET_CHANGED'
  | 'CONTEXT_CHANGED'
  | 'FORM_STATE_CHANGED';

export function addressChanged(generation: number): Staleness | undefined {
  const known = generations.get(generation);
  if (!known) return 'OBSERVATION_FORGOTTEN';
  return known.address === location.href ? undefined : 'ADDRESS_CHANGED';
}

/** @returns what changed, or nothing when the decision still stands. */
export function staleness(generation: number, ref: string): Staleness | undefined {
  const known = generations.get(generation);
  const guard = known?.guards.get(ref);
  if (!known || !guard) return 'OBSERVATION_FORGOTTEN';
  if (known.address !== location.href) return 'ADDRESS_CHANGED';
  const element = guard.element.deref();
  if (!element?.isConnected) return 'TARGET_GONE';
  const now = new Cache().of(element, accessibleName(element));
  if (now.self !== guard.self) return 'TARGET_CHANGED';
  if (now.fields !== guard.fields) return 'FORM_STATE_CHANGED';
  if (now.around !== guard.around) return 'CONTEXT_CHANGED';
  return undefined;
}

class Cache {
  readonly #text = new Map<Element, number>();
  readonly #fields = new Map<Node, number>();

  of(element: Element, name: string): { self: number; around: number; fields: number } {
    const container = containerOf(element);
    return {
      self: hash(selfOf(element, name)),
      around: container ? remembered(this.#text, container, () => hash(visibleText(container))) : 0,
      fields: this.#formOf(element),
    };
  }

  #formOf(element: Element): number {
    const form =
      (element as HTMLInputElement).form ??
      closest(
        element,
        (candidate) => tagOf(candidate) === 'FORM' || tagOf(candidate) === 'DIALOG' || roleOf(candidate) === 'dialog',
      );
    const scope: Node = form ?? element.getRootNode();
    return remembered(this.#fields, scope, () => hash(fieldValues(scope, form !== null)));
  }
}

function remembered<K>(known: Map<K, number>, key: K, compute: () => number): number {
  let value = known.get(key);
  if (value === undefined) {
    value = compute();
    known.set(key, value);
  }
  return value;
}

const CONTAINERS = new Set([
  'form',
  'dialog',
  'alertdialog',
  'article',
  'listitem',
  'row',
  'radiogroup',
  'listbox',
  'menu',
]);

/** Characters beyond which a plain parent is the page, not the control's own surroundings. */
const MAX_PARENT_TEXT = 400;

function containerOf(element: Element): Element | null {
  const container = closest(element, (candidate) => CONTAINERS.has(roleOf(candidate) ?? ''));
  if (container) return container;
  const parent = element.parentElement;
  if (!parent || tagOf(parent) === 'BODY' || tagOf(parent) === 'MAIN') return null;
  return (parent.textContent ?? '').length <= MAX_PARENT_TEXT ? parent : null;
}

function selfOf(element: Element, name: string): string {
  const html = element as HTMLInputElement;
  const select = element as unknown as HTMLSelectElement;
  return [
    roleOf(element),
    name,
    tagOf(element) === 'INPUT' || tagOf(element) === 'TEXTAREA' ? html.value : '',
    tagOf(element) === 'SELECT'
      ? `${select.selectedIndex}:${[...select.options].map((option) => `${option.text}${option.disabled}`).join()}`
      : '',
    checkedOf(element),
    isReadOnly(element),
    isDisabled(element),
    element.getAttribute('aria-expanded'),
    element.getAttribute('aria-selected'),
    element.getAttribute('href'),
    element.getAttribute('formaction'),
  ].join('\u0000');
}

const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SELECT', 'TEXTAREA']);

function visibleText(container: Element): string {
  let text = '';
  const read = (element: Element) => {
    if (isRestless(element)) return;
    const children = drawnChildren(element);
    for (let i = 0; i < children.length && text.length < MAX_TEXT; i++) {
      const child = children[i];
      if (!child) continue;
      if (isText(child)) text += child.data;
      else if (isElement(child) && !SKIPPED.has(tagOf(child)) && child.checkVisibility({ visibilityProperty: true })) {
        text += ' ';
        read(child);
      }
    }
  };
  read(container);
  return squeeze(text.slice(0, MAX_TEXT));
}

/** Values of the fields that are sent or read together. Fields out of any form count for what is out of any form. */
function fieldValues(scope: Node, isForm: boolean): string {
  const fields = (scope as ParentNode).querySelectorAll<HTMLInputElement>('input, textarea, select');
  let values = '';
  for (let i = 0; i < fields.length && i < MAX_FIELDS; i++) {
    const field = fields[i];
    if (!field || field.type === 'hidden' || field.type === 'file' || (!isForm && field.form)) continue;
    values += `${field.type === 'checkbox' || field.type === 'radio' ? field.checked : field.value}\u0000${field.disabled}${field.readOnly}\u0001`;
  }
  return values;
}

/** 53 bits of a string: enough to notice a change, and nothing of the text is kept. */
function hash(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
