/** How much each target would bring the goal on, from 0 (not at all) to about 9. */
import { fits, type PastAction } from './goal.ts';
import { type Candidate, isSearchLabel, type Situation } from './situation.ts';
import { contentWords, phraseAt, share, words } from './words.ts';

const SIZE_NAMES: Readonly<Record<string, string>> = {
  xs: 'extra small',
  s: 'small',
  m: 'medium',
  l: 'large',
  xl: 'extra large',
};
/** Words that end a form or an order. */
const ENDING = new Set('place order submit confirm complete pay buy book register save subscribe'.split(' '));
/** How far two words may stand apart to speak of one thing. */
const NEAR = 3;

export function scoreTarget(candidate: Candidate, situation: Situation): number {
  const score =
    candidate.operation === 'TYPE_TEXT'
      ? scoreField(candidate, situation)
      : candidate.operation === 'SELECT'
        ? scoreOption(candidate, situation)
        : scoreClick(candidate, situation);
  // Among equals, the order of the page.
  return Math.max(0, score - candidate.order * 0.002);
}

/** Supplied fields that stand on the page and do not hold their text yet. */
export function unfilledFields(situation: Situation): Candidate[] {
  return situation.candidates.filter((candidate) => {
    if (candidate.operation !== 'TYPE_TEXT' || isSearchLabel(candidate.label)) return false;
    const text = suppliedText(candidate.label, situation);
    return text !== undefined && !same(candidate.value, text);
  });
}

/** Every supplied field in view holds its text, and nothing in view would send it off. */
export function formAwaitsItsEnd(situation: Situation): boolean {
  const inForm = (candidate: Candidate): boolean =>
    candidate.operation === 'TYPE_TEXT' &&
    !isSearchLabel(candidate.label) &&
    suppliedText(candidate.label, situation) !== undefined;
  if (!situation.candidates.some(inForm) || unfilledFields(situation).length > 0) return false;
  return !situation.candidates.some(
    ({ operation, label }) =>
      operation === 'CLICK' && contentWords(label).some((word) => ENDING.has(word) || word === 'continue'),
  );
}

function scoreField(candidate: Candidate, situation: Situation): number {
  const supplied = suppliedText(candidate.label, situation);
  const typed = situation.actions.filter(
    (action) => action.operation === 'TYPE_TEXT' && same(action.target, candidate.label),
  );
  if (isSearchLabel(candidate.label)) {
    return typed.length === 0 && wantsSearch(supplied !== undefined, situation) ? 7.2 : 0.2;
  }
  if (supplied !== undefined) {
    if (same(candidate.value, supplied)) return 0;
    return typed.length < 2 ? 8 : 0.5;
  }
  // The words of the goal may hold the text: `type "…" into the message field`.
  const label = contentWords(candidate.label);
  const asked = situation.goal.parts.some((part) => part.fills && label.length > 0 && share(label, part.words) === 1);
  return asked && candidate.value === '' && typed.length === 0 && /["“«:]/.test(situation.goal.text) ? 6 : 0.2;
}

function scoreOption(candidate: Candidate, situation: Situation): number {
  const supplied = suppliedText(candidate.label, situation);
  if (supplied !== undefined) return same(supplied, candidate.option) && !chosen(candidate, situation) ? 8 : 0.2;
  if (chosen(candidate, situation)) return 0.2;
  const named = namesOption(candidate.option, candidate.label, situation);
  return named === 0 ? 0.3 : 6.8 + named;
}

function scoreClick(candidate: Candidate, situation: Situation): number {
  const { goal, progress, last } = situation;
  const label = contentWords(candidate.label);
  if (/^dialog-accept$/.test(candidate.key)) return 7.5;
  // A field is filled or chosen from; pressing it brings nothing on.
  if (isField(candidate, situation)) return 0.3;
  const again = repeated(candidate, situation.actions);

  // A choice among several, such as sizes: a control that bears just that name.
  if (/radio|checkbox|option|switch/.test(candidate.role)) {
    if (candidate.checked || again !== undefined) return 0.2;
    const named = namesOption(candidate.label, candidate.context, situation);
    return named > 0 ? 6.8 + named : agreement(candidate, situation);
  }
  // What was typed into a search field is sent off, by its button or a suggestion.
  if (last?.operation === 'TYPE_TEXT' && isSearchLabel(last.target)) {
    if (isSearchLabel(candidate.label) || /^(?:go|ok|submit)$/i.test(candidate.label.trim())) return 7.8;
    if (same(candidate.label, last.text)) return 7;
  }
  if (isSearchLabel(candidate.label) && situation.actions.some(isSearching)) return 0.3;

  // Leaving a form that was filled in would lose it.
  if (formAwaitsItsEnd(situation)) return 0.5;

  let score = 0;
  for (const [index, part] of goal.parts.entries()) {
    if (progress.done.has(index) || (part.searches && !isSearchLabel(candidate.label))) continue;
    const fit = fits(label, part);
    // Parts that were passed over may still be wanted; parts that lie ahead have to wait.
    const weight = index < progress.next ? 0.75 : 1 - 0.1 * (index - progress.next);
    if (fit >= 0.4) score = Math.max(score, 7 * fit * weight);
  }
  // A basket with nothing in it is not what is wanted, whatever it is called.
  if (label.includes('basket') && !label.includes('add') && !added(situation)) score = Math.min(score, 1);
  score = Math.max(score, wayOn(candidate, label, situation));
  // Of controls with one name, the one that stands beside what the goal speaks of.
  score += 0.6 * share(contentWords(candidate.context).slice(0, 12), goal.words);
  const ending = label.some((word) => ENDING.has(word));
  if (ending && unfilledFields(situation).length > 0) score *= 0.5;
  if (again) score *= again.pageChanged ? 0.4 : 0.15;
  return score;
}

/** Controls that lead on when nothing on the page bears the goal's own words. */
function wayOn(candidate: Candidate, label: readonly string[], situation: Situation): number {
  const { goal } = situation;
  const has = (word: string): boolean => label.includes(word);
  const buying = ['buy', 'order', 'basket', 'checkout'].some((word) => goal.words.has(word));
  if (!buying && !goal.parts.some((part) => part.fills)) return has('continue') ? 1.5 : 0;
  const filled = added(situation);
  if (has('checkout')) return filled ? 5 : 1;
  if (has('add') && has('basket')) return filled ? 0.5 : 4;
  // The basket is the way on only until the checkout has begun.
  if (has('basket')) return filled && !checkingOut(situation) ? 3.6 : 0.6;
  if (has('pay') || (has('order') && (has('place') || has('confirm') || has('submit') || has('complete'))))
    return filled ? 4.6 : 1;
  if (has('continue')) return 3.4;
  if (/details?|more|view/i.test(candidate.label)) {
    return share(contentWords(candidate.context), goal.words) > 0 && !filled ? 3 : 0.5;
  }
  return 0;
}

/** As many actions as a request carries: before them there may have been others. */
const FULL_HISTORY = 10;

/** Long tasks forget their first actions, so a search that later parts have left behind is not made again. */
function wantsSearch(supplied: boolean, { goal, progress, actions }: Situation): boolean {
  if (actions.length === 0) return supplied || goal.parts.some((part) => part.searches);
  if (actions.length >= FULL_HISTORY) return false;
  const searching = goal.parts.findIndex((part) => part.searches);
  return searching < 0 ? supplied && actions.length < 3 : searching >= progress.next;
}

/** Something was put into a basket on the way. */
function added({ goal, progress, actions }: Situation): boolean {
  if (goal.parts.some((part, index) => index < progress.next && part.words.has('basket'))) return true;
  return actions.some(({ operation, target }) => {
    const label = contentWords(target);
    return operation === 'CLICK' && label.includes('basket') && label.includes('add');
  });
}

function checkingOut({ actions, candidates }: Situation): boolean {
  return (
    actions.some((action) => contentWords(action.target).includes('checkout')) ||
    candidates.filter(({ operation, label }) => operation === 'TYPE_TEXT' && !isSearchLabel(label)).length > 1
  );
}

/** Boxes of terms: only once sending without them has failed. */
function agreement(candidate: Candidate, situation: Situation): number {
  if (!/\b(?:agree|accept|terms|conditions)\b/i.test(candidate.label)) return 0.2;
  if (/newsletter|marketing|offers|cookies?/i.test(candidate.label)) return 0.1;
  return situation.actions.some((action) => contentWords(action.target).some((word) => ENDING.has(word))) ? 4.5 : 0.4;
}

/** How surely the goal names this option: 1 beside the name of its group, 0.5 alone, 0 not. */
function namesOption(option: string, group: string, situation: Situation): number {
  const { sequence } = situation.goal;
  const groupWords = contentWords(group);
  let best = 0;
  for (const name of [option, SIZE_NAMES[option.trim().toLowerCase()] ?? '']) {
    const phrase = words(name);
    const at = phraseAt(phrase, sequence);
    if (at < 0) continue;
    const near = sequence.slice(Math.max(0, at - NEAR), at + phrase.length + NEAR);
    if (groupWords.some((word) => near.includes(word))) best = 1;
    // A single letter or number alone says too little.
    else if (phrase.join('').length > 2) best = Math.max(best, 0.5);
  }
  for (const [short, long] of Object.entries(SIZE_NAMES)) {
    if (long === option.trim().toLowerCase() && groupWords.includes('size')) {
      const at = sequence.indexOf(short);
      if (at >= 0 && sequence.slice(Math.max(0, at - NEAR), at).includes('size')) best = 1;
    }
  }
  return best;
}

function isField({ key }: Candidate, situation: Situation): boolean {
  return situation.candidates.some(
    (other) => other.operation !== 'CLICK' && (other.key === key || other.key.startsWith(`${key}:`)),
  );
}

function chosen(candidate: Candidate, situation: Situation): boolean {
  return situation.actions.some(
    (action) =>
      action.operation === 'SELECT' && same(action.target, candidate.label) && same(action.option, candidate.option),
  );
}

function repeated(candidate: Candidate, actions: readonly PastAction[]): PastAction | undefined {
  return actions.findLast((action) => action.operation === 'CLICK' && same(action.target, candidate.label));
}

const isSearching = (action: PastAction): boolean => isSearchLabel(action.target);

function suppliedText(label: string, situation: Situation): string | undefined {
  return situation.fields.find((field) => sameWords(field.label, label))?.text;
}

function sameWords(a: string, b: string): boolean {
  return words(a).join(' ') === words(b).join(' ');
}

function same(a: string, b: string): boolean {
  const plain = (text: string): string => text.normalize('NFKC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
  return plain(a) === plain(b);
}
