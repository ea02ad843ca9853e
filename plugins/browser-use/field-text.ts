/**
 * What to type into a field: a value that the owner supplied for it, or the owner's literal words. Never anything else;
 * when neither is there, Thinking may be asked, and after that the owner.
 */
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import { looseLabel, normalLabel, sameLabel } from './labels.ts';
import { type Observation, type ObservedElement, visibleElements } from './observation.ts';

export const MAX_FIELD_TEXT = 2000;

export type FieldValue = { text: string; source: 'supplied' | 'goal' } | 'ambiguous' | 'missing';

/** Decides without I/O. `missing` is where Thinking may be asked. */
export function fieldValue(
  element: ObservedElement,
  fields: readonly BrowserField[],
  page: Observation,
  goal: string,
): FieldValue {
  const supplied = suppliedFor(element, fields, page);
  if (supplied !== undefined) return supplied === 'ambiguous' ? supplied : { ...supplied, source: 'supplied' };
  const literal = literalFor(element, goal);
  return literal === undefined ? 'missing' : { text: literal, source: 'goal' };
}

/** The supplied value of a field. Ambiguous when several values or several fields bear its label. */
export function suppliedFor(
  element: ObservedElement,
  fields: readonly BrowserField[],
  page: Observation,
): { text: string } | 'ambiguous' | undefined {
  for (const tier of ['exact', 'loose'] as const) {
    const matches = fields.filter((field) => sameLabel(field.label, element.label, tier));
    const texts = new Set(matches.map((field) => field.text));
    if (texts.size === 0) continue;
    const bearers = visibleElements(page).filter(
      (other) => isTextField(other) && sameLabel(other.label, element.label, tier),
    );
    const [text = ''] = texts;
    return texts.size > 1 || bearers.length > 1 ? 'ambiguous' : { text };
  }
  return undefined;
}

/** Supplied values whose fields are in view: the only ones that a decision needs to see. */
export function suppliedInView(fields: readonly BrowserField[], page: Observation): BrowserField[] {
  const labels = new Set(
    visibleElements(page)
      .filter((element) => isTextField(element) || element.operations.includes('SELECT'))
      .map((element) => looseLabel(element.label)),
  );
  return fields.filter((field) => labels.has(looseLabel(field.label)));
}

function isTextField(element: ObservedElement): boolean {
  return element.operations.includes('TYPE_TEXT');
}

export function isSearchField(element: ObservedElement): boolean {
  return (
    element.type === 'search' ||
    element.role === 'searchbox' ||
    /\b(?:search|find|query)\b|ค้นหา|suche|recherch|buscar|検索|搜索/iu.test(element.label)
  );
}

const open = '["“«„]';
const close = '["”»“]';
const quoted = `${open}([^"“”«»„\\n]{1,2000})${close}`;

/**
 * The one value that the goal itself gives for this field, word for word: quoted beside its label, quoted after a word
 * of searching, or on a line `label: value`. Two different candidates are none.
 */
export function literalFor(element: ObservedElement, goal: string): string | undefined {
  const label = looseLabel(element.label);
  const found = new Set<string>();
  const collect = (pattern: RegExp) => {
    for (const match of goal.matchAll(pattern)) {
      const text = match[1]?.trim();
      if (text) found.add(text);
    }
  };
  if (label !== '') {
    const name = label.split(' ').map(escapePattern).join('\\s+');
    const edge = '(?<![\\p{L}\\p{N}])';
    collect(new RegExp(`${edge}${name}\\s*(?:field|box)?\\s*(?:is|to|as|with|=|:|เป็น)?\\s*${quoted}`, 'giu'));
    collect(new RegExp(`${quoted}\\s+(?:in|into|as|for)\\s+(?:the\\s+)?${name}(?![\\p{L}\\p{N}])`, 'giu'));
    collect(new RegExp(`^[\\s*-]*${name}\\s*[:=]\\s*([^\\n"“«„]{1,2000})$`, 'gimu'));
  }
  if (found.size === 0 && isSearchField(element)) {
    collect(new RegExp(`(?:search|look|find|ค้นหา)[^"“«„\\n]{0,60}?${quoted}`, 'giu'));
  }
  const [text] = found;
  return found.size === 1 && text !== undefined && text.length <= MAX_FIELD_TEXT ? text : undefined;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&');
}

/** Whether the field already shows this text. */
export function alreadyHolds(element: ObservedElement, text: string): boolean {
  return !element.value_truncated && element.value !== undefined && normalLabel(element.value) === normalLabel(text);
}
