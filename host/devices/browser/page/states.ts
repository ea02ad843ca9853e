/** What a control holds and how it stands: value, choice, expansion, described value. */
import { accessibleName, contentText, tidy } from './names.ts';
import { isSensitive } from './secrets.ts';
import { byId, cut, laidOutText, referenced, squeeze, tagOf } from './tree.ts';

/** Characters of one value, of a described value, of a value now. */
const VALUE = 2000;
const VALUE_TEXT = 500;
const VALUE_NOW = 100;

export interface States {
  type?: string;
  value?: string;
  value_truncated?: true;
  value_now?: string;
  value_text?: string;
  checked?: boolean | 'mixed';
  selected?: string;
  expanded?: string;
  sensitive?: true;
}

export function statesOf(element: Element, role: string | null): States {
  const states: States = {};
  const tag = tagOf(element);
  const html = element as HTMLInputElement;
  if (tag === 'INPUT') states.type = html.type;
  if (isSensitive(element)) states.sensitive = true;
  else {
    const value = heldValue(element, role);
    if (value !== undefined) {
      states.value = cut(value, VALUE);
      if (states.value.length < value.length) states.value_truncated = true;
    }
  }
  const now = element.getAttribute('aria-valuenow') ?? (html.type === 'range' ? html.value : null);
  if (now !== null) states.value_now = cut(now, VALUE_NOW);
  const text = element.getAttribute('aria-valuetext');
  if (text) states.value_text = cut(text, VALUE_TEXT);
  const checked = checkedOf(element);
  if (checked !== undefined) states.checked = checked;
  const selected = element.getAttribute('aria-selected') ?? currentOf(element);
  if (selected !== null) states.selected = cut(selected, 32);
  const expanded =
    element.getAttribute('aria-expanded') ??
    (tag === 'SUMMARY' ? String((element.parentElement as HTMLDetailsElement | null)?.open ?? false) : null);
  if (expanded !== null) states.expanded = expanded === 'true' ? 'true' : 'false';
  return states;
}

function currentOf(element: Element): string | null {
  const current = element.getAttribute('aria-current');
  return current && current !== 'false' ? current : null;
}

export function checkedOf(element: Element): boolean | 'mixed' | undefined {
  const html = element as HTMLInputElement;
  if (tagOf(element) === 'INPUT' && (html.type === 'checkbox' || html.type === 'radio'))
    return html.indeterminate ? 'mixed' : html.checked;
  const stated = element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed');
  return stated === null || stated === '' ? undefined : stated === 'mixed' ? 'mixed' : stated === 'true';
}

/** Text of a field, the chosen options' labels, or what a custom control shows as chosen. Not for sensitive fields. */
export function heldValue(element: Element, role: string | null): string | undefined {
  const tag = tagOf(element);
  const html = element as HTMLInputElement;
  if (tag === 'SELECT')
    return [...(element as HTMLSelectElement).selectedOptions].map((option) => squeeze(option.label)).join(', ');
  if (tag === 'TEXTAREA') return html.value;
  if (tag === 'INPUT') {
    if (/^(?:checkbox|radio|button|submit|reset|image|hidden)$/.test(html.type)) return undefined;
    if (html.type === 'file') return [...(html.files ?? [])].map((file) => file.name).join(', ');
    return html.value;
  }
  if ((element as HTMLElement).isContentEditable) return editedText(element);
  if (role === 'combobox' || role === 'listbox') return chosenText(element);
  if (role === 'textbox' || role === 'searchbox') return squeeze(element.textContent ?? '');
  return undefined;
}

export function editedText(element: Element): string {
  return laidOutText(element)
    .replace(/\u00a0/g, ' ')
    .replace(/\n$/, '');
}

function chosenText(element: Element): string | undefined {
  const active = element.getAttribute('aria-activedescendant');
  const option = active ? byId(element, active) : null;
  if (option && element.getAttribute('aria-expanded') !== 'true') return accessibleName(option);
  const inner = element.querySelector('input');
  if (inner && !isSensitive(inner)) return inner.value;
  const chosen = [...element.querySelectorAll('[role=option][aria-selected=true]')].map(accessibleName);
  if (chosen.length > 0) return chosen.join(', ');
  // A button that shows its choice and is named by a label elsewhere.
  const shown = tidy(contentText(element, new Set([element])));
  return shown && shown.length <= VALUE_TEXT ? shown : undefined;
}

/** What the page says about the control besides its name: help, an error. */
export function descriptionOf(element: Element): string {
  const invalid = element.getAttribute('aria-invalid');
  const sources = [
    ...referenced(element, 'aria-describedby'),
    ...(invalid && invalid !== 'false' ? referenced(element, 'aria-errormessage') : []),
  ];
  const said = sources.map((source) => tidy(contentText(source, new Set([source])))).filter(Boolean);
  const stated = element.getAttribute('aria-description');
  if (stated) said.push(tidy(stated));
  if (said.length === 0 && invalid === 'true') said.push('invalid');
  return said.join(' ');
}
