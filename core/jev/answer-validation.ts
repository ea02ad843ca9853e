/**
 * Holds a provider's answer against every question that was asked. All of it is right, or none of it is used; what is
 * right is passed on with the provider's own numbers, never renormalised.
 */
import { HostError } from '../../sdk/contract/errors.ts';
import type { JevAnswer, JevBilling, JevUsage } from '../../sdk/contract/jev.ts';
import type { QuestionPlan } from './request-validation.ts';

const validationReasons = [
  'ENVELOPE',
  'ANSWER_KEYS',
  'ANSWER_TYPE',
  'NOUL_RANGE',
  'DISTRIBUTION_SHAPE',
  'DISTRIBUTION_SUM',
  'CHOICE_MISMATCH',
  'SCORE_MISMATCH',
  'BOX_RANGE',
  'USAGE',
  'MODEL_IDENTITY',
  'REQUEST_IDENTITY',
  'BILLING',
] as const;
export type ValidationReason = (typeof validationReasons)[number];

/** Room for the binary form of decimal numbers. */
const EPSILON = 1e-12;
/** Probabilities that all are hundredths were rounded: each may be off by half a hundredth. */
const ROUNDED_STEP = 0.005;
const ROUNDED_MAX = 0.02;
const EXACT_TOLERANCE = 0.001;
/** How far an option may stand above the chosen one. */
const CHOICE_TOLERANCE = 1e-5;
const SCORE_TOLERANCE = 0.01;
const MAX_MODEL_CHARS = 1024;

type JsonObject = Record<string, unknown>;

export interface ExpectedAnswer {
  plan: readonly QuestionPlan[];
  requestedModel: string;
  wireRequestId: string;
}

export interface ValidAnswer {
  model: string;
  answers: Record<string, JevAnswer>;
  usage: JevUsage;
  billing?: JevBilling;
}

/** @throws JEV_INVALID_RESPONSE whose `validationReason` is one of the fixed reasons. */
export function validateAnswer(body: unknown, expected: ExpectedAnswer): ValidAnswer {
  if (!isObject(body)) fail('ENVELOPE');
  const { model, answers, usage, billing } = body;
  if (typeof model !== 'string' || model.length === 0 || model.length > MAX_MODEL_CHARS) fail('ENVELOPE');
  if (!isObject(answers) || !isObject(usage)) fail('ENVELOPE');

  const { plan } = expected;
  checkKeys(answers, plan);
  // The body was parsed for this evaluation alone. It is handed on as it came, and only an answer with more in it than
  // the contract names is made anew: sixty-four copies cost more than all the checks.
  for (const question of plan) {
    const answer = answers[question.id];
    const checked = checkAnswer(answer, question);
    if (checked !== answer) answers[question.id] = checked;
  }

  const valid: ValidAnswer = { model, answers: answers as Record<string, JevAnswer>, usage: checkUsage(usage) };
  if (body.requested_model !== undefined && body.requested_model !== expected.requestedModel) fail('MODEL_IDENTITY');
  if (body.request_id !== undefined && body.request_id !== expected.wireRequestId) fail('REQUEST_IDENTITY');
  if (billing !== undefined) valid.billing = checkBilling(billing);
  return valid;
}

/** One answer for each question, and no more. Providers answer in the order of the questions, which is quick to see. */
function checkKeys(answers: JsonObject, plan: readonly QuestionPlan[]): void {
  let at = 0;
  let inOrder = true;
  for (const key in answers) {
    if (inOrder && plan[at]?.id !== key) inOrder = false;
    at += 1;
  }
  if (at !== plan.length) fail('ANSWER_KEYS');
  if (!inOrder) for (const { id } of plan) if (!Object.hasOwn(answers, id)) fail('ANSWER_KEYS');
}

/** @returns the answer itself when it holds nothing but what the contract names, else a copy with just that. */
function checkAnswer(answer: unknown, question: QuestionPlan): JevAnswer {
  if (!isObject(answer) || answer.type !== question.type) fail('ANSWER_TYPE');
  switch (question.type) {
    case 'noul':
      if (!isUnit(answer.noul)) fail('NOUL_RANGE');
      return memberCount(answer) === 2 ? (answer as unknown as JevAnswer) : { type: 'noul', noul: answer.noul };
    case 'choice':
      return checkChoice(answer, question.options);
    case 'score':
      return checkScore(answer, question.levels);
    case 'box':
      return checkBox(answer);
  }
}

function checkChoice(answer: JsonObject, options: readonly string[]): JevAnswer {
  const { choice, confidence } = answer;
  if (!isUnit(confidence)) fail('DISTRIBUTION_SHAPE');
  const highest = checkDistribution(answer.probabilities, options);
  const probabilities = answer.probabilities as Record<string, number>;
  if (typeof choice !== 'string' || !Object.hasOwn(probabilities, choice)) fail('CHOICE_MISMATCH');
  if (highest > (probabilities[choice] ?? -1) + CHOICE_TOLERANCE + EPSILON) fail('CHOICE_MISMATCH');
  return memberCount(answer) === 4
    ? (answer as unknown as JevAnswer)
    : { type: 'choice', choice, probabilities, confidence };
}

const LEVEL_KEYS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

function checkScore(answer: JsonObject, levels: number): JevAnswer {
  const { score, confidence, legend } = answer;
  const keys = LEVEL_KEYS.slice(0, levels);
  if (!isUnit(confidence)) fail('DISTRIBUTION_SHAPE');
  checkDistribution(answer.probabilities, keys);
  const probabilities = answer.probabilities as Record<string, number>;
  if (typeof score !== 'number' || !(score >= 0 && score <= levels - 1)) fail('SCORE_MISMATCH');
  let weighted = 0;
  for (let level = 0; level < levels; level++) weighted += level * (probabilities[String(level)] ?? 0);
  if (Math.abs(score - weighted) > SCORE_TOLERANCE + EPSILON) fail('SCORE_MISMATCH');
  if (!isObject(legend) || Object.keys(legend).length !== levels) fail('SCORE_MISMATCH');
  for (const key of keys) if (typeof legend[key] !== 'string') fail('SCORE_MISMATCH');
  if (memberCount(answer) === 5) return answer as unknown as JevAnswer;
  return { type: 'score', score, probabilities, legend: legend as Record<string, string>, confidence };
}

function checkBox(answer: JsonObject): JevAnswer {
  const { box, confidence } = answer;
  if (!isObject(box)) fail('BOX_RANGE');
  const { top, bottom, left, right } = box;
  if (!isUnit(top) || !isUnit(bottom) || !isUnit(left) || !isUnit(right)) fail('BOX_RANGE');
  if (top > bottom || left > right) fail('BOX_RANGE');
  const edges = { top, bottom, left, right };
  if (confidence === undefined) return { type: 'box', box: edges };
  if (!isUnit(confidence)) fail('BOX_RANGE');
  return { type: 'box', box: edges, confidence };
}

/** @returns the highest probability. Afterwards the object is known to hold one number for each key, and no more. */
function checkDistribution(probabilities: unknown, keys: readonly string[]): number {
  if (!isObject(probabilities)) fail('DISTRIBUTION_SHAPE');
  let count = 0;
  let sum = 0;
  let highest = 0;
  let rounded = true;
  let inOrder = true;
  for (const key in probabilities) {
    const value = probabilities[key];
    if (!isUnit(value)) fail('DISTRIBUTION_SHAPE');
    if (inOrder && keys[count] !== key) inOrder = false;
    count += 1;
    sum += value;
    if (value > highest) highest = value;
    if (rounded) {
      const hundredths = value * 100;
      if (Math.abs(hundredths - Math.round(hundredths)) > EPSILON) rounded = false;
    }
  }
  if (count !== keys.length) fail('DISTRIBUTION_SHAPE');
  if (!inOrder) for (const key of keys) if (!Object.hasOwn(probabilities, key)) fail('DISTRIBUTION_SHAPE');
  const tolerance = rounded ? Math.min(ROUNDED_MAX, ROUNDED_STEP * keys.length) : EXACT_TOLERANCE;
  if (Math.abs(sum - 1) > tolerance + EPSILON) fail('DISTRIBUTION_SUM');
  return highest;
}

/** Parsed JSON inherits no members. */
function memberCount(object: object): number {
  let count = 0;
  for (const _key in object) count += 1;
  return count;
}

function checkUsage(usage: JsonObject): JevUsage {
  const { input_tokens, output_tokens } = usage;
  if (!isCount(input_tokens) || !isCount(output_tokens)) fail('USAGE');
  return { input_tokens, output_tokens };
}

function checkBilling(billing: unknown): JevBilling {
  if (!isObject(billing)) fail('BILLING');
  const { charged_credits, rate_version } = billing;
  if (typeof charged_credits !== 'number' || !Number.isFinite(charged_credits) || charged_credits < 0) fail('BILLING');
  if (rate_version === undefined) return { charged_credits };
  if (typeof rate_version !== 'string' || rate_version.length > MAX_MODEL_CHARS) fail('BILLING');
  return { charged_credits, rate_version };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Finite and from 0 to 1; NaN fails both comparisons. */
function isUnit(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** @param empty there was nothing in the answer. */
export function invalidResponse(validationReason: ValidationReason, status?: number, empty = false): HostError {
  return new HostError('JEV_INVALID_RESPONSE', {
    validationReason,
    ...(status === undefined ? {} : { status }),
    ...(empty ? { empty } : {}),
  });
}

function fail(reason: ValidationReason): never {
  throw invalidResponse(reason);
}
