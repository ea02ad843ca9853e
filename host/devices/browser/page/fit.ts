/**
 * Whether a field takes a value. It is tried on a copy of the field that is in no document, so the page notices nothing and
 * the field keeps what it has.
 */
import { SET_TYPES } from './roles.ts';
import { cut, tagOf } from './tree.ts';

export interface Unfit {
  cause: 'VALUE_MALFORMED' | 'VALUE_OUT_OF_RANGE' | 'VALUE_OFF_STEP' | 'VALUE_TOO_LONG';
  /** What the field takes, in words. */
  accepts: string;
}

/** @returns nothing when the field takes the text. */
export function unfit(target: Element, text: string): Unfit | undefined {
  const tag = tagOf(target);
  if (tag !== 'INPUT' && tag !== 'TEXTAREA') return undefined;
  const field = target as HTMLInputElement;
  const room = field.maxLength;
  // A field cuts what is typed beyond its length, and a part of a value is another value.
  if (room >= 0 && text.replace(/\r\n?/g, '\n').length > room)
    return { cause: 'VALUE_TOO_LONG', accepts: `at most ${room} characters` };
  if (tag === 'TEXTAREA' || !(SET_TYPES.has(field.type) || field.type === 'number')) return undefined;
  const cause = problemOf(field, text);
  return cause && { cause, accepts: acceptedBy(field) };
}

/** The same for a slider that is made of plain elements, which is moved by its keys between the limits that it states. */
export function unfitSlider(target: Element, text: string): Unfit | undefined {
  const wanted = text.replace(/[%\s]/g, '');
  const number = wanted === '' ? Number.NaN : Number(wanted);
  const isSlider = target.getAttribute('role') === 'slider';
  const min = limit(target.getAttribute('aria-valuemin') ?? '', isSlider ? 0 : -Infinity);
  const max = limit(target.getAttribute('aria-valuemax') ?? '', isSlider ? 100 : Infinity);
  if (number >= min && number <= max) return undefined;
  const limits = [min > -Infinity && `from ${min}`, max < Infinity && `to ${max}`];
  return {
    cause: Number.isFinite(number) ? 'VALUE_OUT_OF_RANGE' : 'VALUE_MALFORMED',
    accepts: ['a number', ...limits].filter(Boolean).join(' '),
  };
}

/** The value as the field would hold it: trimmed, in the field's own way of writing it. */
export function written(field: HTMLInputElement, text: string): string {
  return copyWith(field, text).value;
}

function copyWith(field: HTMLInputElement, text: string): HTMLInputElement {
  const copy = document.createElement('input');
  for (const name of ['type', 'min', 'max', 'step', 'value']) {
    const stated = field.getAttribute(name);
    if (stated !== null) copy.setAttribute(name, stated);
  }
  copy.value = text.trim();
  return copy;
}

const BLACK = /^(?:black|#0{3}|#0{6}|rgb\(\s*0[\s,]+0[\s,]+0\s*\))$/i;

function problemOf(field: HTMLInputElement, text: string): Unfit['cause'] | undefined {
  const wanted = text.trim();
  const copy = copyWith(field, wanted);
  const { type, value, validity } = copy;
  // A colour that cannot be read becomes black.
  if (type === 'color') return value === '#000000' && !BLACK.test(wanted) ? 'VALUE_MALFORMED' : undefined;
  if (type === 'range') {
    // A slider holds whatever is nearest to a number, and its middle for anything else.
    const number = wanted === '' ? Number.NaN : Number(wanted);
    if (!Number.isFinite(number)) return 'VALUE_MALFORMED';
    if (Number(value) === number) return undefined;
    return number < limit(copy.min, 0) || number > limit(copy.max, 100) ? 'VALUE_OUT_OF_RANGE' : 'VALUE_OFF_STEP';
  }
  if (wanted === '') return undefined;
  if (value === '') return 'VALUE_MALFORMED';
  if (validity.rangeUnderflow || validity.rangeOverflow) return 'VALUE_OUT_OF_RANGE';
  // Whole numbers are only the browser's guess, which many pages with fractions never correct.
  if (validity.stepMismatch && !(type === 'number' && !copy.step)) return 'VALUE_OFF_STEP';
  return undefined;
}

function limit(stated: string, otherwise: number): number {
  const number = stated === '' ? Number.NaN : Number(stated);
  return Number.isFinite(number) ? number : otherwise;
}

const FORMS: Record<string, string> = {
  date: 'a date such as 2026-12-24',
  'datetime-local': 'a date and time such as 2026-12-24T07:45',
  month: 'a month such as 2026-12',
  week: 'a week such as 2026-W52',
  time: 'a time such as 07:45',
  color: 'a colour such as #ff8800',
  number: 'a number',
  range: 'a number',
};

function acceptedBy({ type, min, max, step }: HTMLInputElement): string {
  const [from, to] = type === 'range' ? [min || '0', max || '100'] : [min, max];
  const limits = [from && `from ${from}`, to && `to ${to}`, step && step !== 'any' && `in steps of ${step}`];
  return cut([FORMS[type], ...(type === 'color' ? [] : limits)].filter(Boolean).join(' '), 200);
}
