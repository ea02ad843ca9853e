/**
 * The last look at an answer before a program acts on it. The evaluation service has its own, stricter check; this one
 * holds whoever answers, and gives the program exactly the documented shape.
 *
 * Threat: a provider's answer is remote data. Only the keys that the question named come through, and the levels of a
 * score are described in the question's words, never in the server's.
 */
import type { ChoiceQuestion, JevAnswer, JevQuestion, JevUsage, Json, ScoreQuestion } from '../../sdk/index.ts';
import { programError } from '../../sdk/programs/program-error.ts';
import type { ProgramRequest } from './jev-request.ts';

/** How far the probabilities of one question may be from 1 together. */
export const SUM_TOLERANCE = 0.02;
/** Characters of JSON that one evaluation's result may take. */
export const MAX_RESULT_CHARS = 1_048_576;

export interface ProgramEvaluation {
  model: string;
  answers: Record<string, JevAnswer>;
  usage: JevUsage;
}

const invalid = () => programError('PROGRAM_CALL_FAILED', 'TypeSafe returned an invalid typed response');

/** @throws PROGRAM_CALL_FAILED, `TypeSafe returned an invalid typed response` */
export function checkJevAnswer(request: ProgramRequest, response: unknown): ProgramEvaluation {
  if (!isRecord(response) || typeof response.model !== 'string' || response.model.length > 128) throw invalid();
  const { answers, usage } = response;
  if (!isRecord(answers) || !isRecord(usage)) throw invalid();
  const ids = Object.keys(request.questions);
  if (Object.keys(answers).length !== ids.length) throw invalid();
  const checked = ids.map((id): [string, JevAnswer] => {
    if (!Object.hasOwn(answers, id)) throw invalid();
    return [id, checkAnswer(request.questions[id] as JevQuestion, answers[id])];
  });
  return {
    model: response.model,
    answers: Object.fromEntries(checked),
    usage: { input_tokens: tokens(usage.input_tokens), output_tokens: tokens(usage.output_tokens) },
  };
}

function checkAnswer(question: JevQuestion, answer: unknown): JevAnswer {
  if (!isRecord(answer) || answer.type !== question.type) throw invalid();
  switch (question.type) {
    case 'noul':
      return { type: 'noul', noul: unit(answer.noul) };
    case 'choice': {
      const options = Object.keys((question as ChoiceQuestion).criteria);
      const { choice } = answer;
      if (typeof choice !== 'string' || !options.includes(choice)) throw invalid();
      const probabilities = distribution(answer.probabilities, options);
      return { type: 'choice', choice, probabilities, confidence: unit(answer.confidence) };
    }
    case 'score': {
      const { criteria } = question as ScoreQuestion;
      const levels = criteria.map((_, index) => String(index));
      const { score } = answer;
      if (typeof score !== 'number' || !(score >= 0 && score <= criteria.length - 1)) throw invalid();
      const legend = Object.fromEntries(criteria.map((level, index) => [String(index), inWords(level)]));
      const probabilities = distribution(answer.probabilities, levels);
      return { type: 'score', score, probabilities, legend, confidence: unit(answer.confidence) };
    }
    default:
      throw invalid();
  }
}

function distribution(given: unknown, keys: readonly string[]): Record<string, number> {
  if (!isRecord(given) || Object.keys(given).length !== keys.length) throw invalid();
  let sum = 0;
  const entries = keys.map((key): [string, number] => {
    if (!Object.hasOwn(given, key)) throw invalid();
    const probability = unit(given[key]);
    sum += probability;
    return [key, probability];
  });
  // Binary fractions: a sum of hundredths that is 0.98 in decimal may be a hair below it.
  if (Math.abs(sum - 1) > SUM_TOLERANCE + 1e-9) throw invalid();
  return Object.fromEntries(entries);
}

function unit(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) throw invalid();
  return value;
}

function tokens(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalid();
  return value as number;
}

function inWords(level: Json): string {
  return typeof level === 'string' ? level : JSON.stringify(level);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
