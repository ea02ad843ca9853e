/** Which operation comes next: the one whose best target helps most, unless the page shows that all is done. */
import type { Candidate, Situation } from './situation.ts';
import { formAwaitsItsEnd, scoreTarget, unfilledFields } from './targets.ts';
import { contentWords, share } from './words.ts';

const COMPLETED =
  /\b(?:thank you|thanks for|has been (?:placed|received|sent|saved|booked|submitted|confirmed|registered)|(?:order|booking|registration|payment|message) (?:is )?(?:placed|confirmed|received|complete|completed|successful|sent)|successfully|we have received|confirmation number|order number)\b|ขอบคุณ|เรียบร้อย|สำเร็จ/iu;
const LOADING = /\b(?:loading|please wait|one moment)\b|กำลังโหลด/iu;
const READING = /^\s*(?:what|which|who|when|where|why|how|read|tell|list|summari[sz]e|is|are|does|do)\b|อ่าน|อะไร|กี่/iu;

/** From this score on, a target bears the goal's own words. */
const SURE = 4.2;
/** Scrolls in a row before something else is tried. */
const MAX_SCROLLS = 8;

export function scoreOperations(situation: Situation, scored: ReadonlyMap<Candidate, number>): Map<string, number> {
  const scores = new Map<string, number>();
  for (const operation of situation.operations) scores.set(operation, 0.3);
  let best = 0;
  for (const [candidate, score] of scored) {
    best = Math.max(best, score);
    scores.set(candidate.operation, Math.max(scores.get(candidate.operation) ?? 0, score));
  }
  const set = (operation: string, score: number): void => {
    if (situation.operations.has(operation)) scores.set(operation, score);
  };
  const { text } = situation.goal;
  set('DONE', scoreDone(situation, best));
  set('WAIT', LOADING.test(situation.pageText.slice(0, 400)) && best < 3 ? 3.5 : 0.4);
  set('SCROLL_DOWN', scoreScroll(situation, 'down', best));
  set('SCROLL_UP', scoreScroll(situation, 'up', best));
  set('BLOCKED', 1.6);
  set('KEY', /\b(?:press|hit)\b.*\b(?:enter|return|tab|escape|backspace|arrow)\b/i.test(text) ? 8 : 0.2);
  set('HISTORY_BACK', /\bgo\s+back\b|\bback\b|ย้อนกลับ/i.test(text) ? 7.5 : 0.2);
  set('HISTORY_FORWARD', /\bgo\s+forward\b/i.test(text) ? 7.5 : 0.2);
  set('NEW_TAB', /\bnew\s+tab\b|แท็บใหม่/i.test(text) ? 8 : 0.2);
  set('NAVIGATE', /\b(?:go to|open|visit)\s+\S+\.\S{2,}/i.test(text) ? 7.5 : 0.2);
  const idle = situation.actions.length === 0 && best < 3;
  set('READ_REQUEST', READING.test(text) && idle ? 6 : 0.2);
  set('UNCLEAR', idle && situation.goal.parts.every((part) => part.things.length === 0) ? 4 : 0.3);
  return scores;
}

/**
 * Done only when no supplied field waits and the page itself speaks of an end, or bears what the goal asks for. Nothing
 * done at all is never done.
 */
function scoreDone(situation: Situation, best: number): number {
  const { goal, progress, last, title, pageText } = situation;
  if (unfilledFields(situation).length > 0 || last === undefined) return 0.2;
  const through = progress.next >= goal.parts.length;
  if (COMPLETED.test(`${title}\n${pageText}`)) return through ? 9 : best < 4.5 ? 6 : 1;
  const end = goal.parts.at(-1);
  if (!through || !end) return 0.3;
  const shown = new Set(contentWords(`${title} ${pageText}`));
  const fit = share(end.things, shown);
  const orders = ['order', 'buy', 'pay', 'book', 'submit'].some((word) => end.words.has(word));
  // An order that no page confirms is not taken for one.
  if (orders) return 2.4;
  return last.pageChanged ? 3 + 3 * fit : 2.5;
}

/**
 * Only what is in view is offered, so what the goal speaks of may lie further down. Looking there costs nothing and comes
 * before a guess; back up only when the end was reached in vain.
 */
function scoreScroll(situation: Situation, direction: 'up' | 'down', best: number): number {
  const asked = new RegExp(`\\bscroll\\b.*\\b${direction}\\b|\\b${direction}\\b.*\\bscroll\\b`, 'i');
  const operation = `SCROLL_${direction.toUpperCase()}`;
  const { actions, last, goal, scroll } = situation;
  if (asked.test(goal.text) && !actions.some((action) => action.operation === operation)) return 8;
  const stuck = last?.operation === operation && !last.pageChanged;
  const scrolls = trailingScrolls(situation);
  if (stuck || scrolls >= MAX_SCROLLS) return 0.4;
  // A form that is filled in is sent off at its end, and its end is not in view.
  if (direction === 'down' && formAwaitsItsEnd(situation)) return 6;
  if (direction === 'down') return best < SURE ? 3.9 : 0.4;
  return best < 2.5 && scrolls > 0 && !scroll.down ? 2.7 : 0.3;
}

/** Scrolls since anything else was done. */
function trailingScrolls({ actions }: Situation): number {
  const other = actions.findLastIndex((action) => !action.operation.startsWith('SCROLL_'));
  return actions.length - 1 - other;
}

export function scoreCandidates(situation: Situation): Map<Candidate, number> {
  return new Map(situation.candidates.map((candidate) => [candidate, scoreTarget(candidate, situation)]));
}
