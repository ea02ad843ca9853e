/**
 * One action that Thinking chooses on a screenshot, where a decision was not certain enough or three actions changed
 * nothing. Once per run. It chooses among exactly what was offered to Jev, and what it chose runs under the same guards.
 */
import type { Json } from '../../sdk/contract/jev.ts';
import type { ThinkingRequest } from '../../sdk/contract/thinking.ts';
import { type Offer, type Target, targetOperations } from './candidates.ts';
import { describePage, describeTarget } from './describe.ts';
import type { Run } from './execution.ts';
import type { Observation } from './observation.ts';
import type { Verdict } from './policy.ts';
import { pictureOf } from './screenshot.ts';
import type { Session } from './session.ts';
import { Stop } from './stop.ts';
import { askThinking } from './thinking-question.ts';

const reasons = new Set(['LOW_OPERATION_CONFIDENCE', 'LOW_TARGET_CONFIDENCE', 'NO_PROGRESS']);
/** Characters of JSON that the options may take; beyond it, later ones are left out. */
const MAX_OPTIONS_CHARS = 40_000;

export function mayThink(run: Run, end: Stop): boolean {
  return run.session.input.thinkingAction && !run.thought && reasons.has(end.reason);
}

export interface Thought {
  verdict: Verdict;
  page: Observation;
}

/** @returns what to do now; undefined when Thinking chooses nothing either. */
export async function thinkOfAction(
  run: Run,
  seen: Observation,
  offerOn: (page: Observation) => Offer,
  why: string,
): Promise<Thought | undefined> {
  const { session, progress } = run;
  const { input, counts, trace } = session;
  run.thought = true;
  if (counts.textCalls >= input.maxTextCalls || counts.steps >= input.maxSteps) return undefined;
  counts.textCalls += 1;
  const { page, screenshot } = await pictureOf(session, seen);
  const { options, targets } = optionsOf(page, offerOn(page));
  const choice = await choose(session, {
    kind: 'action',
    goal: input.goal,
    options,
    state: { page: describePage(page, detail), recent_actions: progress.recent(), because: why },
    ...(screenshot && { image: { mimeType: `image/${screenshot.format}` as const, data: screenshot.data_base64 } }),
  });
  trace.add('recovery', { code: 'THINKING_ACTION', cause: why, target: choice, picture: screenshot !== undefined });
  if (choice === undefined) return undefined;
  const target = targets.get(choice);
  if (target) return { verdict: { act: target }, page };
  if (choice === 'WAIT') return { verdict: { wait: true }, page };
  return { verdict: { scroll: choice === 'SCROLL_UP' ? 'up' : 'down' }, page };
}

/** Less of the page than a decision sees: the picture shows the rest, and the whole must fit one question. */
const detail = { pageText: 3000, label: 120, context: 80, value: 80 };

function optionsOf(page: Observation, offer: Offer) {
  const options: Record<string, Json> = { WAIT: 'Let the page go on by itself.' };
  if (page.scroll.up) options.SCROLL_UP = 'Show what is above.';
  if (page.scroll.down) options.SCROLL_DOWN = 'Show what is below.';
  const targets = new Map<string, Target>();
  let left = MAX_OPTIONS_CHARS;
  for (const operation of targetOperations) {
    for (const target of offer[operation]) {
      const about = { operation, ...(describeTarget(target, detail) as { [key: string]: Json }) };
      left -= JSON.stringify(about).length;
      if (left < 0) return { options, targets };
      const key = `${operation}:${target.key}`;
      options[key] = about;
      targets.set(key, target);
    }
  }
  return { options, targets };
}

async function choose(session: Session, request: ThinkingRequest & { kind: 'action' }): Promise<string | undefined> {
  const { choice } = await askThinking(session, request);
  if (choice === null) return undefined;
  if (typeof choice !== 'string' || !Object.hasOwn(request.options, choice)) throw new Stop('INVALID_CONTRACT');
  return choice;
}
