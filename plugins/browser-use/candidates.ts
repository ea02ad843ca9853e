/** Which targets each operation may choose from. Nothing that is not offered here can be acted on. */
import { words } from './labels.ts';
import { type Observation, type ObservedElement, visibleElements } from './observation.ts';

/** Targets per operation; beyond it the list is narrowed by relevance to the goal (DECISIONS 14). */
export const MAX_TARGETS = 240;

export type TargetOperation = 'CLICK' | 'TYPE_TEXT' | 'SELECT';
export const targetOperations: readonly TargetOperation[] = ['CLICK', 'TYPE_TEXT', 'SELECT'];

type SelectOption = NonNullable<ObservedElement['options']>[number];

export interface Target {
  /** The option key in a question: the ref, or `<ref>:<option ref>`. */
  key: string;
  operation: TargetOperation;
  element: ObservedElement;
  option?: SelectOption;
}

export interface Offer {
  CLICK: Target[];
  TYPE_TEXT: Target[];
  SELECT: Target[];
  /** Operations whose list was narrowed. */
  narrowed: TargetOperation[];
}

export interface OfferRules {
  goal: string;
  /** A field that was typed into twice with the same text and is not offered for typing again. */
  exhausted(element: ObservedElement): boolean;
  /** A control that is never offered, such as the acceptance of a consent banner. */
  withheld(element: ObservedElement): boolean;
}

/** Keys that a question uses for itself. */
const reserved = new Set(['NONE']);

export function offerTargets(page: Observation, rules: OfferRules): Offer {
  const offer: Offer = { CLICK: [], TYPE_TEXT: [], SELECT: [], narrowed: [] };
  const seen = new Set<string>();
  const keys = { CLICK: new Set<string>(), TYPE_TEXT: new Set<string>(), SELECT: new Set<string>() };
  for (const element of visibleElements(page)) {
    // A ref that is given twice names nothing for certain: only the first use of it stands.
    if (element.disabled || seen.has(element.ref) || reserved.has(element.ref) || rules.withheld(element)) continue;
    seen.add(element.ref);
    for (const target of element.operations.flatMap((operation) => targetsOf(element, operation, rules))) {
      const taken = keys[target.operation];
      if (taken.has(target.key)) continue;
      taken.add(target.key);
      offer[target.operation].push(target);
    }
  }
  for (const operation of targetOperations) {
    if (offer[operation].length <= MAX_TARGETS) continue;
    offer[operation] = mostRelevant(offer[operation], rules.goal);
    offer.narrowed.push(operation);
  }
  return offer;
}

function targetsOf(element: ObservedElement, operation: TargetOperation, rules: OfferRules): Target[] {
  if (operation === 'SELECT') {
    // A partial option list could lack the right one, and then the nearest wrong one would look right.
    if (element.options_truncated) return [];
    return (element.options ?? [])
      .filter((option) => !option.disabled && !option.selected)
      .map((option) => ({ key: `${element.ref}:${option.ref}`, operation, element, option }));
  }
  if (operation === 'TYPE_TEXT' && (element.readonly || rules.exhausted(element))) return [];
  return [{ key: element.ref, operation, element }];
}

/** The targets that share most words with the goal, in page order. */
function mostRelevant(targets: Target[], goal: string): Target[] {
  const wanted = new Set(words(goal));
  const ranked = targets.map((target, index) => {
    const { element, option } = target;
    const own = words(`${option?.label ?? ''} ${element.label} ${element.context ?? ''}`);
    return { target, index, score: own.filter((word) => wanted.has(word)).length };
  });
  return ranked
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, MAX_TARGETS)
    .sort((a, b) => a.index - b.index)
    .map(({ target }) => target);
}
