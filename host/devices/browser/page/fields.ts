/** What the device asks of and does to a field: select its text, compare it, set it whole. */
import { unfit, written } from './fit.ts';
import { elementOf } from './refs.ts';
import { isReadOnly } from './roles.ts';
import { editedText } from './states.ts';
import { activeElement, isInside, laidOutText, squeeze, tagOf } from './tree.ts';

/** Selects all of the field's text, so that what is typed replaces it. */
export function selectAll(ref: string): { focused: boolean; empty: boolean } {
  const target = elementOf(ref);
  if (!target) return { focused: false, empty: true };
  const active = activeElement(document);
  if (!active || !isInside(active, target)) {
    // A field inside the control, such as a custom element's own input.
    (target as HTMLElement).focus?.();
  }
  const focused = activeElement(document);
  if (!focused || !(isInside(focused, target) || isInside(target, focused))) return { focused: false, empty: true };
  const tag = tagOf(focused);
  if (tag === 'INPUT' || tag === 'TEXTAREA') {
    (focused as HTMLInputElement).select();
    return { focused: !isReadOnly(focused), empty: (focused as HTMLInputElement).value === '' };
  }
  const host = focused as HTMLElement;
  if (!host.isContentEditable) return { focused: false, empty: true };
  const selection = (host.getRootNode() as Document).getSelection?.() ?? host.ownerDocument.getSelection();
  selection?.selectAllChildren(host);
  return { focused: true, empty: laidOutText(host).trim() === '' };
}

/** What the field holds now, compared with what was meant. Nothing of the value leaves the page. */
export function holds(ref: string, text: string): 'same' | 'formatted' | 'other' {
  const target = elementOf(ref);
  if (!target) return 'other';
  const active = activeElement(document);
  const field = active && isInside(active, target) ? active : target;
  const tag = tagOf(field);
  const value = tag === 'INPUT' || tag === 'TEXTAREA' ? (field as HTMLInputElement).value : editedText(field);
  const fold = (string: string) => string.replace(/\r\n?/g, '\n').normalize('NFC');
  if (fold(value) === fold(text) || squeeze(fold(value)) === squeeze(fold(text))) return 'same';
  // A mask adds its own signs around what was typed.
  const bare = (string: string) =>
    fold(string)
      .replace(/[^\p{L}\p{N}\p{M}]/gu, '')
      .toLowerCase();
  return bare(text) !== '' && bare(value).endsWith(bare(text)) && bare(value).length <= bare(text).length + 3
    ? 'formatted'
    : 'other';
}

/**
 * Sets a date, time, number range or colour as a whole, as the browser's own pickers do.
 * @returns whether the field then holds it; `refused` when it does not take it, and nothing was changed.
 */
export function setValue(ref: string, text: string): 'same' | 'other' | 'refused' {
  const target = elementOf(ref) as HTMLInputElement | undefined;
  if (!target || unfit(target, text)) return 'refused';
  const wanted = written(target, text);
  const setter = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(target), 'value')?.set;
  target.focus({ preventScroll: true });
  if (setter) setter.call(target, wanted);
  else target.value = wanted;
  target.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
  target.dispatchEvent(new Event('change', { bubbles: true }));
  // What hears of it may put back what was there.
  return target.value === wanted ? 'same' : 'other';
}

export function sliderState(ref: string): { now: number; min: number; max: number } | null {
  const target = elementOf(ref);
  if (!target) return null;
  const number = (name: string, otherwise: number) => {
    const value = Number(target.getAttribute(name) ?? Number.NaN);
    return Number.isFinite(value) ? value : otherwise;
  };
  return {
    now: number('aria-valuenow', Number.NaN),
    min: number('aria-valuemin', 0),
    max: number('aria-valuemax', 100),
  };
}
