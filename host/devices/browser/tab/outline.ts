/**
 * An observation for a reader who pays by the word: the controls as lines of text in place of one object each.
 *
 *     d1e4 checkbox checked: Remember me
 *     d1e5 textbox: Name
 *       = "Ada"
 *     d1e6 combobox: Size
 *       d1e7 selected: Small
 *       d1e8: Large
 *     Not in view:
 *     d1e9 button disabled: Place order
 *       in Your basket
 *
 * A line is `REF ROLE STATE…: LABEL`. The label is all that comes after the first colon, so nothing that a page writes into
 * it can pass for a state, and it holds no line break, so it cannot pass for a line. What begins with two spaces belongs to
 * the control above: its value (`=` and a JSON string), where it stands (`in`), what covers it (`covered by`), or one of its
 * options, with the ref that chooses it.
 */
import type { Observation, ObservedElement } from '../../../../sdk/devices/remote-browser-contract.ts';

/** Roles in which text is typed; others that take text say so. */
const TYPED = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'input', 'textarea']);

export function outlined(observation: Observation): Record<string, unknown> {
  const { elements, viewport_text: _, ...rest } = observation;
  const inView = elements.filter((element) => element.in_viewport !== false);
  const others = elements.filter((element) => element.in_viewport === false);
  const lines = [
    ...inView.flatMap(linesOf),
    ...(others.length > 0 ? ['Not in view:', ...others.flatMap(linesOf)] : []),
  ];
  return { ...rest, outline: lines.join('\n') };
}

function linesOf(element: ObservedElement): string[] {
  const { ref, label, context, value, value_now, value_text, value_truncated, obscured, options } = element;
  const lines = [`${[ref, oneWord(element.role ?? element.tag), ...statesOf(element)].join(' ')}: ${oneLine(label)}`];
  // Where the options are told, the one that is selected is the value.
  const shown = options?.some(({ selected }) => selected) ? undefined : (value ?? value_text ?? value_now);
  if (shown) lines.push(`  = ${quoted(shown)}${value_truncated ? ' and more' : ''}`);
  if (context) lines.push(`  in ${oneLine(context)}`);
  if (obscured) lines.push(`  covered by ${oneLine(obscured)}`);
  for (const option of options ?? []) {
    const states = [...(option.selected ? ['selected'] : []), ...(option.disabled ? ['disabled'] : [])];
    lines.push(`  ${[option.ref, ...states].join(' ')}: ${oneLine(option.label)}`);
  }
  if (element.options_truncated) lines.push('  and more options');
  return lines;
}

function statesOf(element: ObservedElement): string[] {
  const { checked, selected, expanded, operations, role, tag } = element;
  const states: string[] = [];
  if (checked !== undefined) states.push(wordOf('checked', checked));
  if (expanded !== undefined) states.push(wordOf('expanded', expanded));
  if (selected !== undefined && !element.options) states.push(wordOf('selected', selected));
  for (const name of ['disabled', 'readonly', 'sensitive'] as const) if (element[name]) states.push(name);
  if (operations.length === 0) states.push('no-operation');
  if (operations.includes('TYPE_TEXT') && !TYPED.has(role ?? tag)) states.push('takes-text');
  return states;
}

/** `checked`, `unchecked`, or another word of the page's such as `checked=mixed`. */
function wordOf(name: string, state: boolean | string): string {
  if (state === true || state === 'true') return name;
  return state === false || state === 'false' ? `un${name}` : `${name}=${oneWord(String(state))}`;
}

const oneWord = (text: string) => oneLine(text).replace(/[\s:]/g, '_');

/** JSON leaves two line breaks of Unicode as they are. */
const quoted = (text: string) =>
  JSON.stringify(text).replace(/[\u2028\u2029\u0085]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);

const oneLine = (text: string) => text.replace(/[\s\u0085]+/g, ' ').trim();
