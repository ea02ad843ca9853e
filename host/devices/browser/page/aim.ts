/** From a ref of an observation to the place to touch, if what the decision rested on is still so and it is on top. */
import * as changes from './changes.ts';
import { type Unfit, unfit, unfitSlider } from './fit.ts';
import { Clips, elementAt, outOfFrame } from './geometry.ts';
import { type Staleness, staleness } from './guard.ts';
import { coverName, type Point, placeOf, touch } from './hit.ts';
import { arm } from './press-guard.ts';
import { elementOf } from './refs.ts';
import { isDisabled, isFileInput, isReadOnly, roleOf, SET_TYPES, takesText } from './roles.ts';
import { activeElement, isInside, tagOf } from './tree.ts';

export type Refused = {
  refused:
    | Staleness
    | 'TARGET_OBSCURED'
    | 'TARGET_DISABLED'
    | 'TARGET_OUT_OF_REACH'
    | 'OPTION_GONE'
    | 'NOTHING_TO_SCROLL'
    | 'FOCUS_CHANGED'
    | 'FILE_CHOOSER_REFUSED'
    | 'VALUE_NOT_ACCEPTED';
  by?: string;
  cause?: Unfit['cause'];
  accepts?: string;
};

export interface Aim {
  point: Point;
  /** How the text would be entered, for a field. */
  entry?: 'keys' | 'set' | 'edit' | 'slider' | 'none';
  multiline?: boolean;
  autocomplete?: boolean;
  /** One of several fields of a form that is sent by a button: typing rarely brings anything. */
  plain?: boolean;
  focused: boolean;
}

/**
 * Makes ready to touch the target: nothing that the decision rested on has changed, it is in view, and it is on top.
 *
 * @param text what is to be typed, where it is; a field that does not take it is not touched.
 */
export function aim(generation: number, ref: string, text: string | null): Aim | Refused {
  const stale = staleness(generation, ref);
  if (stale) return { refused: stale };
  const target = elementOf(ref);
  if (!target) return { refused: 'TARGET_GONE' };
  if (isDisabled(target)) return { refused: 'TARGET_DISABLED' };
  if (isFileInput(target)) return { refused: 'FILE_CHOOSER_REFUSED' };
  const entry: Partial<Aim> = text === null ? {} : { ...entryOf(target), plain: isPlainField(target) };
  const problem = text === null ? undefined : problemOf(target, entry.entry, text);
  if (problem) return { refused: 'VALUE_NOT_ACCEPTED', ...problem };
  const drawn = drawnOf(target);
  if (!drawn) return { refused: 'TARGET_OUT_OF_REACH' };
  let place = placeOf(drawn, new Clips());
  let touched = place.inView ? touch(target, drawn, place.seen) : undefined;
  if (!touched || 'cover' in touched) {
    // Out of view, or under a sticky bar: bring it to the middle, then look again.
    drawn.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    place = placeOf(drawn, new Clips());
    if (!place.inView) return { refused: 'TARGET_OUT_OF_REACH' };
    touched = touch(target, drawn, place.seen);
  }
  if ('cover' in touched) return { refused: 'TARGET_OBSCURED', by: coverName(touched.cover) };
  arm(target, drawn);
  changes.begin(target);
  return {
    point: touched.point,
    focused: isInside(activeElement(document), target),
    ...entry,
  };
}

function problemOf(target: Element, entry: Aim['entry'], text: string): Unfit | undefined {
  if (entry === 'slider') return unfitSlider(target, text);
  return entry === 'keys' || entry === 'set' ? unfit(target, text) : undefined;
}

function drawnOf(target: Element): Element | undefined {
  const clips = new Clips();
  if (
    placeOf(target, clips).reachable &&
    !(tagOf(target) === 'INPUT' && !target.checkVisibility({ opacityProperty: true }))
  )
    return target;
  const labels = (target as HTMLInputElement).labels;
  for (const label of labels ?? []) if (placeOf(label, clips).reachable) return label;
  return placeOf(target, clips).reachable ? target : undefined;
}

function isPlainField(target: Element): boolean {
  const form = (target as HTMLInputElement).form;
  if (!form) return false;
  const fields = form.querySelectorAll(
    'input:not([type=hidden]):not([type=submit]):not([type=button]), textarea, select',
  );
  return (
    fields.length > 1 &&
    form.querySelector('button:not([type=button]):not([type=reset]), input[type=submit], input[type=image]') !== null
  );
}

function entryOf(target: Element): Pick<Aim, 'entry' | 'multiline' | 'autocomplete'> {
  const role = roleOf(target);
  const input = target as HTMLInputElement;
  const autocomplete =
    role === 'combobox' ||
    role === 'searchbox' ||
    target.hasAttribute('aria-autocomplete') ||
    target.hasAttribute('aria-controls') ||
    input.type === 'search' ||
    target.hasAttribute('list');
  if (!takesText(target, role) || isReadOnly(target)) return { entry: 'none', autocomplete };
  if (tagOf(target) === 'INPUT' && SET_TYPES.has(input.type)) return { entry: 'set', autocomplete };
  if (tagOf(target) === 'INPUT' || tagOf(target) === 'TEXTAREA') {
    return {
      entry: 'keys',
      autocomplete,
      multiline: tagOf(target) === 'TEXTAREA',
    };
  }
  if (input.isContentEditable)
    return { entry: 'edit', multiline: target.getAttribute('aria-multiline') !== 'false', autocomplete };
  return { entry: 'slider', autocomplete };
}

/** Where a point inside a frame lies for the document around it, if nothing covers the frame there. */
export function throughFrame(ref: string, x: number, y: number): Point | Refused {
  const frame = elementOf(ref);
  if (!frame) return { refused: 'TARGET_GONE' };
  const point = outOfFrame(frame, x, y);
  const hit = elementAt(point.x, point.y);
  return hit === frame ? point : { refused: 'TARGET_OBSCURED', by: coverName(hit) };
}
