/**
 * Evaluators for tests: they answer in Jev's exact shapes without a model, a network or a cost.
 *
 * An answer may be given short: `'CLICK'` for a choice, a number for a noul or a score, `{ top, … }` for a box, or a
 * table of probabilities. What is not said is filled in the way a certain evaluator would.
 */
import type { Code, CodeDetails } from '../contract/codes.ts';
import { HostError } from '../contract/errors.ts';
import type { BoxAnswer, JevAnswer, JevQuestion, JevRequest, JevResult } from '../contract/jev.ts';

export type Evaluate = (request: JevRequest, signal: AbortSignal) => Promise<JevResult>;
/** See the file's head. A table of probabilities is normalised and its highest key chosen. */
export type ShortAnswer = string | number | Record<string, number> | JevAnswer;
export type AnswerFor = ShortAnswer | ((question: JevQuestion, request: JevRequest) => ShortAnswer);

const MODEL = 'jev-test';

/** Answers every question with its first option (choices), the first level (scores), 1 (nouls) or the whole image. */
export function stubEvaluator(answers: Record<string, AnswerFor> = {}): Evaluate {
  return async (request, signal) => {
    signal.throwIfAborted();
    return resultFor(request, answers);
  };
}

/** Fails every request with a code of the catalogue. */
export function failingEvaluator(code: Code, details: CodeDetails = {}): Evaluate {
  return async () => {
    throw new HostError(code, details);
  };
}

/** Answers like the stub, after the given milliseconds. A cancelled request ends at once. */
export function slowEvaluator(ms: number, answers: Record<string, AnswerFor> = {}): Evaluate {
  return async (request, signal) => {
    signal.throwIfAborted();
    await pause(ms, signal);
    return resultFor(request, answers);
  };
}

/** One step of a script: the answers to one request, or what goes wrong with it. */
export type ScriptStep =
  | Record<string, AnswerFor>
  | { fails: Error }
  | { afterMs: number; answers: Record<string, AnswerFor> };

/**
 * Answers request by request. A script that has run out throws, so a test cannot pass on a loop that never ends.
 * `requests` holds what was asked.
 */
export function scriptedEvaluator(steps: readonly ScriptStep[]): Evaluate & { readonly requests: JevRequest[] } {
  const requests: JevRequest[] = [];
  const evaluate: Evaluate = async (request, signal) => {
    signal.throwIfAborted();
    requests.push(request);
    const step = steps[requests.length - 1];
    if (!step) throw new Error(`The script has ${steps.length} steps; request ${requests.length} is one too many.`);
    if (isFailure(step)) throw step.fails;
    if (isSlow(step)) {
      await pause(step.afterMs, signal);
      return resultFor(request, step.answers);
    }
    return resultFor(request, step as Record<string, AnswerFor>);
  };
  return Object.assign(evaluate, { requests });
}

const isFailure = (step: ScriptStep): step is { fails: Error } => 'fails' in step && step.fails instanceof Error;
const isSlow = (step: ScriptStep): step is { afterMs: number; answers: Record<string, AnswerFor> } =>
  'afterMs' in step && typeof step.afterMs === 'number' && 'answers' in step;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** The whole answer to a request. Questions without an entry get the stub's answer. */
export function resultFor(request: JevRequest, answers: Record<string, AnswerFor>): JevResult {
  return {
    requestId: request.requestId ?? 'test-request',
    requestedModel: MODEL,
    model: MODEL,
    answers: Object.fromEntries(
      Object.entries(request.questions).map(([id, question]) => {
        const given = Object.hasOwn(answers, id) ? answers[id] : undefined;
        const short = typeof given === 'function' ? given(question, request) : given;
        return [id, fullAnswer(id, question, short)];
      }),
    ),
    usage: { input_tokens: 0, output_tokens: 0 },
  };
}

function fullAnswer(id: string, question: JevQuestion, short: ShortAnswer | undefined): JevAnswer {
  if (short !== undefined && typeof short === 'object' && 'type' in short) return short as unknown as JevAnswer;
  switch (question.type) {
    case 'noul':
      return { type: 'noul', noul: typeof short === 'number' ? short : 1 };
    case 'choice': {
      const options = Object.keys(question.criteria);
      const probabilities = table(id, options, short ?? options[0] ?? '');
      return { type: 'choice', choice: highest(probabilities), probabilities, confidence: 1 };
    }
    case 'score': {
      const levels = question.criteria.map((_, level) => String(level));
      const given = typeof short === 'number' ? String(Math.round(short)) : (short ?? '0');
      const probabilities = table(id, levels, given as string | Record<string, number>);
      const score = levels.reduce((sum, level) => sum + Number(level) * (probabilities[level] ?? 0), 0);
      const legend = Object.fromEntries(question.criteria.map((text, level) => [String(level), String(text)]));
      return { type: 'score', score, probabilities, legend, confidence: 1 };
    }
    case 'box': {
      const box = (short ?? { top: 0, bottom: 1, left: 0, right: 1 }) as BoxAnswer['box'];
      return { type: 'box', box, confidence: 1 };
    }
  }
}

function table(id: string, options: readonly string[], given: ShortAnswer): Record<string, number> {
  const weights: Record<string, number> =
    typeof given === 'object' ? { ...(given as Record<string, number>) } : { [String(given)]: 1 };
  const unknown = Object.keys(weights).find((key) => !options.includes(key));
  if (unknown !== undefined) {
    throw new Error(`The answer to "${id}" names "${unknown}", which is not offered. Offered: ${options.join(', ')}`);
  }
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
  return Object.fromEntries(options.map((option) => [option, sum === 0 ? 0 : (weights[option] ?? 0) / sum]));
}

function highest(probabilities: Record<string, number>): string {
  return Object.entries(probabilities).reduce((best, entry) => (entry[1] > best[1] ? entry : best), ['', -1])[0];
}
