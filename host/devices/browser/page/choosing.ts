/** Choosing an option: inside the page for native lists, by a click for all others. */
import type { Aim, Refused } from './aim.ts';
import * as changes from './changes.ts';
import { Clips } from './geometry.ts';
import { staleness } from './guard.ts';
import { coverName, placeOf, touch } from './hit.ts';
import { optionElements } from './options.ts';
import { arm } from './press-guard.ts';
import { elementOf } from './refs.ts';
import { isDisabled, roleOf } from './roles.ts';
import { tagOf } from './tree.ts';

/** Whether the option may be chosen, and whether choosing it happens in the page or by a click. Changes nothing. */
export function mayChoose(generation: number, ref: string, optionRef: string): { ok: true; native: boolean } | Refused {
  const stale = staleness(generation, ref);
  if (stale) return { refused: stale };
  const target = elementOf(ref);
  const option = elementOf(optionRef);
  if (!target) return { refused: 'TARGET_GONE' };
  if (!option || !optionElements(target, roleOf(target))?.includes(option)) return { refused: 'OPTION_GONE' };
  if (isDisabled(option) || isDisabled(target)) return { refused: 'TARGET_DISABLED' };
  return { ok: true, native: tagOf(target) === 'SELECT' };
}

/** Chooses an option of a native list. Other lists are worked by a click on the option, whose place is returned. */
export function choose(
  generation: number,
  ref: string,
  optionRef: string,
): { chosen: true } | { click: Aim } | Refused {
  const stale = staleness(generation, ref);
  if (stale) return { refused: stale };
  const target = elementOf(ref);
  const option = elementOf(optionRef);
  if (!target) return { refused: 'TARGET_GONE' };
  const all = optionElements(target, roleOf(target));
  if (!option || !all?.includes(option)) return { refused: 'OPTION_GONE' };
  if (isDisabled(option) || isDisabled(target)) return { refused: 'TARGET_DISABLED' };
  if (tagOf(target) === 'SELECT') {
    changes.begin(target);
    const select = target as HTMLSelectElement;
    const native = option as HTMLOptionElement;
    select.focus();
    if (select.multiple) native.selected = !native.selected;
    else native.selected = true;
    select.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
    select.dispatchEvent(new Event('change', { bubbles: true }));
    return { chosen: true };
  }
  option.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  const place = placeOf(option, new Clips());
  if (!place.inView) return { refused: 'TARGET_OUT_OF_REACH' };
  const touched = touch(option, option, place.seen);
  if ('cover' in touched) return { refused: 'TARGET_OBSCURED', by: coverName(touched.cover) };
  arm(option, option);
  changes.begin(option);
  return { click: { point: touched.point, focused: false } };
}
