/** The options of a control: those of a native list, or of a list box of the page. */
import { accessibleName, tidy } from './names.ts';
import { refOf } from './refs.ts';
import { isDisabled } from './roles.ts';
import type { Secrets } from './secrets.ts';
import { byId, cut, squeeze, tagOf } from './tree.ts';

/** Characters of a label, and options of one control: limits of the wire contract. */
export const LABEL = 250;
const OPTIONS = 100;

export interface PageOption {
  ref: string;
  label: string;
  disabled: boolean;
  selected: boolean;
}

export function optionsOf(
  element: Element,
  role: string | null,
  budget: { options: number },
  secrets: Secrets,
): { list: PageOption[]; cut: boolean } | undefined {
  const all = optionElements(element, role);
  if (all === undefined) return undefined;
  const room = Math.min(OPTIONS, Math.max(0, budget.options));
  // The chosen one is kept whatever the limit.
  const kept = all.length > room ? [...new Set([...all.filter(isChosen).slice(0, 5), ...all])].slice(0, room) : all;
  budget.options -= kept.length;
  return {
    list: kept.map((option) => ({
      ref: refOf(option),
      label: secrets.hide(cut(optionLabel(option), LABEL)),
      disabled: isDisabled(option),
      selected: isChosen(option),
    })),
    cut: kept.length < all.length,
  };
}

/** Native options, or those of the list box that an open combobox or a list box of the page holds. */
export function optionElements(element: Element, role: string | null): Element[] | undefined {
  if (tagOf(element) === 'SELECT') return [...(element as HTMLSelectElement).options];
  if (role === 'combobox') {
    const list = (element as HTMLInputElement).list;
    if (list) return undefined;
    if (element.getAttribute('aria-expanded') !== 'true') return undefined;
    const id = element.getAttribute('aria-controls') ?? element.getAttribute('aria-owns');
    const popup = id ? byId(element, id.trim().split(/\s+/)[0] ?? '') : null;
    const found = popup
      ? [...popup.querySelectorAll('[role=option]')].filter((option) => option.checkVisibility())
      : [];
    return found.length > 0 ? found : undefined;
  }
  if (role === 'listbox') {
    const found = [...element.querySelectorAll('[role=option]')].filter((option) => option.checkVisibility());
    return found.length > 0 ? found : undefined;
  }
  return undefined;
}

function optionLabel(option: Element): string {
  if (tagOf(option) !== 'OPTION') return tidy(accessibleName(option));
  const own = squeeze((option as HTMLOptionElement).label);
  const group = option.parentElement;
  return group && tagOf(group) === 'OPTGROUP' ? `${squeeze((group as HTMLOptGroupElement).label)}: ${own}` : own;
}

const isChosen = (option: Element) =>
  (option as HTMLOptionElement).selected === true || option.getAttribute('aria-selected') === 'true';
