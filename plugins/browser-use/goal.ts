/** An agent's goal, carried on action by action until it is reached, blocked or out of budget (wire-contracts 3.2). */
import type { JevAsset } from '../../sdk/contract/jev.ts';
import { askJev } from './asking.ts';
import { type Offer, offerTargets } from './candidates.ts';
import { settleCompletion } from './completion.ts';
import type { Decision } from './decision.ts';
import { actOn, blocked, type Run, scroll, wait, waitingForInput } from './execution.ts';
import { suppliedFor, suppliedInView } from './field-text.ts';
import type { Observation } from './observation.ts';
import { filled, firstPage } from './opening.ts';
import { judge, type Verdict } from './policy.ts';
import { createProgress } from './progress.ts';
import { pictureOf } from './screenshot.ts';
import type { Session } from './session.ts';
import { Stop } from './stop.ts';
import { mayThink, thinkOfAction } from './thinking-action.ts';
import { acceptsConsent, belongsToCaptcha, goalCoversConsent, wallInTheWay } from './walls.ts';

export async function runGoal(session: Session): Promise<Stop> {
  const { input } = session;
  const run: Run = {
    session,
    progress: createProgress(),
    fields: [...input.fields],
    mayConsent: goalCoversConsent(input.goal),
    blockedRetries: 0,
    thought: false,
  };
  let page = await firstPage(session);
  for (;;) {
    session.check();
    page = await filled(session, page);
    const end = await cycle(run, page);
    if (end instanceof Stop) return end;
    page = end;
  }
}

/** One decision and what follows from it. @returns the next page, or the end. */
async function cycle(run: Run, seen: Observation): Promise<Observation | Stop> {
  const { session, progress } = run;
  const wall = wallInTheWay(seen);
  if (wall) return new Stop(wall);
  const { page, screenshot } = session.input.images ? await pictureOf(session, seen) : { page: seen };
  progress.at(page.url);
  const offer = offerOn(run, page);
  const decision = await decide(run, page, offer, screenshot);
  delete run.recovery;
  const { input, counts } = session;
  const verdict = judge(decision, {
    operationConfidence: input.operationConfidence,
    targetConfidence: input.targetConfidence,
    sessionStart: input.sessionStart && nothingDoneYet(session),
    steps: counts.steps,
    maxSteps: input.maxSteps,
  });
  const next = await follow(run, page, verdict);
  if (!(next instanceof Stop) || !mayThink(run, next)) return next;
  const thought = await thinkOfAction(run, session.page ?? page, (at) => offerOn(run, at), next.reason);
  return thought ? follow(run, thought.page, thought.verdict) : next;
}

function offerOn({ session, progress, fields, mayConsent }: Run, page: Observation): Offer {
  return offerTargets(page, {
    goal: session.input.goal,
    exhausted: (element) => {
      if (!progress.exhausted(element, undefined)) return false;
      const value = suppliedFor(element, fields, page);
      return typeof value !== 'object' || progress.exhausted(element, value.text);
    },
    withheld: (element) => belongsToCaptcha(element) || (!mayConsent && acceptsConsent(element)),
  });
}

async function follow(run: Run, page: Observation, verdict: Verdict): Promise<Observation | Stop> {
  if ('stop' in verdict) return new Stop(verdict.stop);
  if ('ready' in verdict) return waitingForInput({ done: false, reason: 'SESSION_READY' });
  if ('done' in verdict) return settleCompletion(run.session, run.progress);
  if ('blocked' in verdict) return blocked(run, page);
  run.blockedRetries = 0;
  if ('wait' in verdict) return wait(run, page);
  if ('scroll' in verdict) return scroll(run, page, verdict.scroll);
  if ('act' in verdict) return actOn(run, page, verdict.act);
  return new Stop('INVALID_DECISION');
}

async function decide(run: Run, page: Observation, offer: Offer, screenshot?: JevAsset): Promise<Decision> {
  const { session, progress, fields } = run;
  const { input, counts } = session;
  const first = input.sessionStart && counts.evaluations === 0;
  const { decision } = await askJev(session, {
    goal: input.goal,
    ...(input.guidance === undefined ? {} : { guidance: input.guidance }),
    ...(input.interactionContext === undefined ? {} : { previousInteraction: input.interactionContext }),
    supplied: suppliedInView(fields, page),
    page,
    offer,
    recent: progress.recent(),
    earlier: progress.earlier(),
    ...(run.recovery === undefined ? {} : { recovery: run.recovery }),
    ...(screenshot && { screenshot }),
    ...(first ? { extraOperations: firstDecisionOperations } : {}),
  });
  return decision;
}

/** Offered to the first decision on the words that opened a session: they may hold no task yet (DECISIONS 3). */
const firstDecisionOperations = {
  READ_REQUEST: 'The words only ask about what is shown; nothing is to be done on the page.',
  UNCLEAR: 'The words name nothing that could be done, such as a request to open a session and wait.',
};

/** Opening the task's own address is not yet carrying out its words; a goal itself is never offered to navigate. */
const nothingDoneYet = ({ lastConfirmedAction }: Session): boolean =>
  lastConfirmedAction === undefined || lastConfirmedAction.operation === 'NAVIGATE';
