/** A command that the grammar does not read: one decision over the observed controls, and at most one action. */
import { helperAddress } from '../../sdk/commands/address.ts';
import type { JevResult } from '../../sdk/contract/jev.ts';
import type { BrowserKey } from '../../sdk/devices/remote-browser-contract.ts';
import { askJev, type Decided } from './asking.ts';
import { type Offer, offerTargets, type Target } from './candidates.ts';
import type { Choice } from './decision.ts';
import { type Again, act } from './direct-act.ts';
import { offerFor } from './direct-offer.ts';
import { LOOK_AGAIN_MS, LOOKS_AGAIN, notDone, type Order } from './direct-order.ts';
import type { CommandAction, Settled } from './direct-outcome.ts';
import { goThrough, newTab, openAddress, press, scroll } from './direct-primitives.ts';
import { labelOf } from './execution.ts';
import { suppliedInView } from './field-text.ts';
import { fingerprint, type Observation } from './observation.ts';
import { filled } from './opening.ts';
import { judge } from './policy.ts';
import { Stop } from './stop.ts';
import { askThinking } from './thinking-question.ts';
import { belongsToCaptcha } from './walls.ts';

/** Confidence and probability from which an address is looked for, and confidence from which an impact counts. */
const SURE_CONFIDENCE = 0.55;
const SURE_PROBABILITY = 0.5;

/** Decides and acts, looking again at a page that is still changing while nothing of the command has run. */
export async function decideAndAct(order: Order, first: Observation): Promise<Settled> {
  const { session } = order;
  let page = await filled(session, first);
  for (let looks = 0; ; looks++) {
    const end = await decideOnce(order, page);
    if (!('again' in end)) return end;
    if (looks >= LOOKS_AGAIN) throw new Stop(end.again);
    await session.pause(LOOK_AGAIN_MS);
    page = await filled(session, await session.read());
  }
}

async function decideOnce(order: Order, page: Observation): Promise<Settled | Again> {
  const { session, author } = order;
  const { input, counts } = session;
  const offer = offerTargets(page, { goal: order.words, exhausted: () => false, withheld: belongsToCaptcha });
  const { decision, result } = await decide(order, page, offer);
  delete order.recovery;
  const { operation } = decision;
  // A question is for the agent to answer, however sure the choice was: nothing happens on the page.
  if (operation.key === 'READ_REQUEST') return notDone(order, 'READ_REQUEST');
  const verdict = judge(decision, {
    operationConfidence: input.operationConfidence,
    targetConfidence: input.targetConfidence,
    sessionStart: false,
    steps: counts.steps,
    maxSteps: input.maxSteps,
  });
  if ('stop' in verdict) return verdict.stop === 'UNCLEAR' ? gaveUp(order, 'UNCLEAR') : stopped(verdict.stop);
  if ('ready' in verdict || 'done' in verdict) return notDone(order, 'COMPLETION_CANDIDATE');
  if ('blocked' in verdict) return unlessChanged(order, page);
  if ('wait' in verdict) return { again: 'WAIT_BUDGET' };
  const action = 'other' in verdict ? undefined : actionOf('act' in verdict ? verdict.act : verdict.scroll);
  if (author === 'agent' && !isRoutine(result)) {
    if (action) order.attempted = action;
    return notDone(order, 'CONFIRMATION_REQUIRED');
  }
  if ('scroll' in verdict) return scroll(order, verdict.scroll);
  if ('act' in verdict) return act(order, page, verdict.act);
  return other(order, operation, result);
}

function stopped(reason: string): never {
  throw new Stop(reason);
}

const gaveUp = (order: Order, reason: string): Settled => ({
  ...notDone(order, reason),
  ...(order.author === 'user' || order.author === 'confirmed' ? { gaveUp: true as const } : {}),
});

/** BLOCKED on a page that has moved on meanwhile says nothing about the page as it is now. */
async function unlessChanged(order: Order, page: Observation): Promise<Settled | Again> {
  const now = await order.session.read();
  if (fingerprint(now) === fingerprint(page)) return gaveUp(order, 'NO_SUPPORTED_ACTION');
  order.recovery = { previous_decision: 'BLOCKED', page_changed_since: 'true' };
  return { again: 'NO_SUPPORTED_ACTION' };
}

/** Operations that only a direct command is offered. */
async function other(order: Order, operation: Choice, result: JevResult): Promise<Settled> {
  switch (operation.key) {
    case 'NEW_TAB':
      return newTab(order);
    case 'HISTORY_BACK':
      return goThrough(order, 'back');
    case 'HISTORY_FORWARD':
      return goThrough(order, 'forward');
    case 'KEY': {
      const key = chosen(result, 'key_target');
      if (!key || key.confidence < order.session.input.targetConfidence) throw new Stop('LOW_TARGET_CONFIDENCE');
      return press(order, key.key as BrowserKey, 1);
    }
    case 'NAVIGATE':
      if (operation.confidence < SURE_CONFIDENCE || operation.probability < SURE_PROBABILITY) {
        throw new Stop('LOW_OPERATION_CONFIDENCE');
      }
      return openAddress(order, await namedAddress(order));
    default:
      throw new Stop('INVALID_DECISION');
  }
}

/**
 * The address of a site that the command only names. The helper sees the command and the origin of the page, never its
 * title, path, query or text, and what it answers is held to the rules for addresses.
 */
export async function namedAddress(order: Order): Promise<string> {
  const { session, words } = order;
  const { counts, input } = session;
  order.attempted = { kind: 'navigate' };
  if (!input.textHelper) throw new Stop('NAVIGATION_UNRESOLVED');
  if (counts.textCalls >= input.maxTextCalls) throw new Stop('TEXT_BUDGET');
  counts.textCalls += 1;
  const origin = /^https?:\/\/[^/?#@\s]+/i.exec(session.page?.url ?? '')?.[0];
  const { text } = await askThinking(session, {
    kind: 'address',
    command: words,
    origin: origin ? `${origin}/`.slice(0, 300) : '',
  });
  const url = typeof text === 'string' ? helperAddress(text) : undefined;
  session.trace.add('field', { source: 'thinking', address: url !== undefined });
  if (url === undefined) throw new Stop('NAVIGATION_UNRESOLVED');
  return url;
}

function actionOf(acting: Target | 'up' | 'down'): CommandAction {
  if (typeof acting === 'string') return { kind: 'scroll', direction: acting };
  const kind = { CLICK: 'click', TYPE_TEXT: 'type', SELECT: 'select' } as const;
  return { kind: kind[acting.operation], label: labelOf(acting) };
}

/** Asks the one question of a command. */
async function decide(order: Order, page: Observation, offer: Offer): Promise<Decided> {
  const { session, author, words } = order;
  const { input } = session;
  const more = offerFor(author, page, {
    words,
    textHelper: input.textHelper,
    context: input.interactionContext !== undefined,
  });
  return askJev(session, {
    goal: words,
    ...(input.interactionContext === undefined ? {} : { previousInteraction: input.interactionContext }),
    supplied: suppliedInView(input.fields, page),
    page,
    offer,
    recent: [],
    earlier: [],
    ...(order.recovery === undefined ? {} : { recovery: order.recovery }),
    ...more,
  });
}

/** An answer to a question beside the decision. It was validated with the decision. */
function chosen(result: JevResult, id: string): Choice | undefined {
  const answer = result.answers[id];
  if (answer?.type !== 'choice') return undefined;
  return { key: answer.choice, probability: answer.probabilities[answer.choice] ?? 0, confidence: answer.confidence };
}

function isRoutine(result: JevResult): boolean {
  const impact = chosen(result, 'impact');
  return impact?.key === 'ROUTINE' && impact.confidence >= SURE_CONFIDENCE;
}
