/** A goal as a list of things to do, and how far the recorded actions have come with it. */
import { contentWords, words } from './words.ts';

/** Verbs that begin a new part after "and". */
const VERBS =
  'add go choose select pick fill place open click press check proceed submit search find look buy order enter type confirm set continue complete pay book send save put finish visit sign log register accept checkout read show tell scroll';
const NEXT_PART = new RegExp(
  `[;\\n]+|,\\s+|\\.(?=\\s|$)|\\s+then\\s+|\\s+and\\s+(?=(?:then\\s+)?(?:${VERBS.replaceAll(' ', '|')})\\b)|แล้ว`,
  'iu',
);
const SEARCHING = new Set(['search', 'ค้นหา']);
const FILLING = new Set([
  'fill',
  'enter',
  'type',
  'complete',
  'provide',
  'use',
  'write',
  'deliver',
  'delivery',
  'กรอก',
]);
/** Verbs of doing say nothing about the thing that they are done to. */
const DOING = new Set(
  'open go choose click press fill enter type visit show set use want get have make see let shop store site web website search'.split(
    ' ',
  ),
);

export interface Part {
  words: ReadonlySet<string>;
  /** The words of the part that name things. */
  things: readonly string[];
  searches: boolean;
  fills: boolean;
}

export interface PastAction {
  operation: string;
  target: string;
  text: string;
  option: string;
  pageChanged: boolean;
}

export interface Goal {
  text: string;
  /** All words in order. */
  sequence: readonly string[];
  words: ReadonlySet<string>;
  parts: readonly Part[];
}

export function readGoal(text: string): Goal {
  const parts = text
    .split(NEXT_PART)
    .map((part) => part.trim())
    .filter((part) => contentWords(part).length > 0)
    .map((part): Part => {
      const all = words(part);
      const content = contentWords(part);
      return {
        words: new Set(content),
        things: content.filter((word) => !DOING.has(word)),
        searches: all.some((word) => SEARCHING.has(word)),
        fills: all.some((word) => FILLING.has(word)),
      };
    });
  return { text, sequence: words(text), words: new Set(contentWords(text)), parts };
}

/** How well a label answers one part: how much of the label the part says, or how much of the part the label says. */
export function fits(label: readonly string[], part: Part): number {
  const named = label.filter((word) => !/^\p{Nd}+$/u.test(word) || part.words.has(word));
  if (named.length === 0) return 0;
  const hits = named.filter((word) => part.words.has(word)).length;
  const said = part.things.length === 0 ? 0 : part.things.filter((word) => label.includes(word)).length;
  const fit = Math.max(hits / named.length, part.things.length === 0 ? 0 : (0.8 * said) / part.things.length);
  // One shared word is weaker evidence than two.
  return fit * (hits > 1 ? 1 : 0.92);
}

/** Which parts the recorded actions have carried out, and the first one after them. */
export interface Progress {
  done: ReadonlySet<number>;
  next: number;
}

/** Actions and parts are mostly in the same order, so each action is looked for from where the one before it came to. */
export function progressOf(
  goal: Goal,
  actions: readonly PastAction[],
  isSearch: (target: string) => boolean,
): Progress {
  const done = new Set<number>();
  let next = 0;
  for (const action of actions) {
    let at = partOf(goal, action, Math.max(0, next - 1), isSearch);
    if (at < 0) at = partOf(goal, action, 0, isSearch);
    if (at < 0) continue;
    done.add(at);
    next = Math.max(next, at + 1);
  }
  return { done, next };
}

function partOf(goal: Goal, action: PastAction, from: number, isSearch: (target: string) => boolean): number {
  const searching = isSearch(action.target);
  const label = contentWords(`${action.target} ${action.option}`);
  let best = -1;
  let bestFit = 0.5;
  for (let index = from; index < goal.parts.length; index++) {
    const part = goal.parts[index];
    if (!part) continue;
    if (searching) {
      if (part.searches) return index;
      continue;
    }
    if (action.operation === 'TYPE_TEXT') {
      if (part.fills) return index;
      continue;
    }
    if (part.searches) continue;
    const fit = fits(label, part);
    if (fit >= bestFit && (best < 0 || fit > bestFit)) {
      best = index;
      bestFit = fit;
    }
  }
  return best;
}
