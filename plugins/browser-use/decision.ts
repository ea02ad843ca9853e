/** Reads a decision out of an answer. An answer that breaks its own question in any way decides nothing. */
import type { JevAnswer, JevQuestion, JevRequest, JevResult } from '../../sdk/contract/jev.ts';
import { type Offer, type Target, type TargetOperation, targetOperations } from './candidates.ts';
import { NONE, targetQuestionIds } from './questions.ts';

/** By how much rounded probabilities may miss 1, and the chosen one the highest. */
const SUM_TOLERANCE = 0.02;
const MAX_TOLERANCE = 1e-6;

export interface Choice {
  key: string;
  probability: number;
  confidence: number;
}

export interface Decision {
  operation: Choice;
  /** Present for operations that take a target, unless every question answered NONE. */
  target?: { target: Target; choice: Choice };
}

export type DecisionResult = Decision | { refused: 'INVALID_DECISION'; detail: string };

export function readDecision(request: JevRequest, offer: Offer, result: JevResult): DecisionResult {
  const asked = Object.keys(request.questions);
  const answered = Object.keys(result.answers);
  if (asked.length !== answered.length || asked.some((id) => !Object.hasOwn(result.answers, id))) {
    return { refused: 'INVALID_DECISION', detail: 'ANSWER_IDS' };
  }
  if (typeof result.model !== 'string' || result.model.length < 1 || result.model.length > 200) {
    return { refused: 'INVALID_DECISION', detail: 'MODEL' };
  }
  const choices = new Map<string, Choice>();
  for (const id of asked) {
    const question = request.questions[id];
    if (question?.type !== 'choice') continue;
    const choice = readChoice(question, result.answers[id]);
    if (typeof choice === 'string') return { refused: 'INVALID_DECISION', detail: choice };
    choices.set(id, choice);
  }
  const operation = choices.get('operation');
  if (!operation) return { refused: 'INVALID_DECISION', detail: 'OPERATION' };
  if (!isTargetOperation(operation.key)) return { operation };
  const target = bestTarget(offer, operation.key, choices);
  return target ? { operation, target } : { operation };
}

/** A choice that holds by its question, or the name of the rule that it breaks. */
export function readChoice(question: JevQuestion & { type: 'choice' }, answer: JevAnswer | undefined): Choice | string {
  if (answer?.type !== 'choice') return 'ANSWER_TYPE';
  const options = Object.keys(question.criteria);
  const { choice, probabilities, confidence } = answer;
  if (!options.includes(choice)) return 'CHOICE_UNKNOWN';
  if (typeof probabilities !== 'object' || probabilities === null) return 'PROBABILITIES';
  const given = Object.keys(probabilities);
  if (given.length !== options.length || options.some((key) => !Object.hasOwn(probabilities, key))) {
    return 'PROBABILITY_KEYS';
  }
  let sum = 0;
  let highest = 0;
  for (const value of Object.values(probabilities)) {
    if (typeof value !== 'number' || !(value >= 0 && value <= 1)) return 'PROBABILITY_RANGE';
    sum += value;
    highest = Math.max(highest, value);
  }
  if (Math.abs(sum - 1) > SUM_TOLERANCE + 1e-9) return 'DISTRIBUTION_SUM';
  const probability = probabilities[choice] ?? 0;
  if (probability < highest - MAX_TOLERANCE) return 'CHOICE_NOT_MAXIMUM';
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) return 'CONFIDENCE_RANGE';
  return { key: choice, probability, confidence };
}

export function isTargetOperation(operation: string): operation is TargetOperation {
  return (targetOperations as readonly string[]).includes(operation);
}

/** Over the questions that the targets were split into, the most probable answer that is not NONE. */
function bestTarget(offer: Offer, operation: TargetOperation, choices: Map<string, Choice>): Decision['target'] {
  let best: Choice | undefined;
  for (const id of targetQuestionIds(offer, operation)) {
    const choice = choices.get(id);
    if (choice && choice.key !== NONE && (!best || choice.probability > best.probability)) best = choice;
  }
  const target = best && offer[operation].find(({ key }) => key === best.key);
  return best && target && { target, choice: best };
}
