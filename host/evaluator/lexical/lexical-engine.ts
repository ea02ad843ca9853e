/**
 * The lexical engine: a rehearsal, not a model.
 *
 * It is a pure function of the request. It compares words, follows the order of the goal's parts and of the recorded
 * actions, and knows the general vocabulary of web forms; it knows no site, understands nothing, and will be wrong where
 * words mislead. It exists so that everything around a decision can be run, shown and tested without a paid service.
 */
import type { JevAnswer, JevQuestion } from '../../../sdk/contract/jev.ts';
import { choiceAnswer, hundredths } from '../distribution.ts';
import type { Engine, EngineRequest } from '../engine.ts';
import { answerGenerally } from './general.ts';
import { scoreCandidates, scoreOperations } from './operations.ts';
import { type Candidate, isTargetQuestion, readSituation, type Situation } from './situation.ts';
import { contentWords, textOf } from './words.ts';

export const lexicalEngine: Engine = {
  name: 'lexical',
  answer: (request) => ({ answers: decide(request), readout: 'lexical overlap; a rehearsal, not a model' }),
};

/** Score of NONE: what a target must exceed to be worth taking. */
const NONE_SCORE = 2;
/** Softmax is sharpened a little: an even choice over many options would look like doubt. */
const SHARPNESS = 1.2;

export function decide(request: EngineRequest): Record<string, JevAnswer> {
  const situation = readSituation(request);
  const scored = situation ? scoreCandidates(situation) : new Map<Candidate, number>();
  const answers: Record<string, JevAnswer> = {};
  for (const [id, question] of Object.entries(request.questions)) {
    answers[id] =
      (situation && answerController(id, question, situation, scored, request)) ??
      answerGenerally(question, request.state);
  }
  return answers;
}

function answerController(
  id: string,
  question: JevQuestion,
  situation: Situation,
  scored: ReadonlyMap<Candidate, number>,
  request: EngineRequest,
): JevAnswer | undefined {
  if (question.type !== 'choice') return undefined;
  const options = Object.keys(question.criteria);
  if (id === 'operation') {
    const scores = scoreOperations(situation, scored);
    return pick(options, (option) => scores.get(option) ?? 0.2);
  }
  if (isTargetQuestion(id)) {
    const own = new Map<string, number>();
    for (const [candidate, score] of scored) if (candidate.question === id) own.set(candidate.key, score);
    return pick(options, (option) => own.get(option) ?? NONE_SCORE);
  }
  const special = named(id, options, situation, request);
  return special === undefined ? undefined : pick(options, (option) => (option === special ? 6 : 0.5));
}

/** Questions whose options are fixed names. */
function named(
  id: string,
  options: readonly string[],
  situation: Situation,
  request: EngineRequest,
): string | undefined {
  const goal = situation.goal.text;
  if (id === 'key_target') {
    return options.find((key) => new RegExp(`\\b${key.replace('Arrow', '(?:arrow )?')}\\b`, 'i').test(goal)) ?? 'Enter';
  }
  if (id === 'impact') {
    const risky = /\b(?:pay|buy|order|delete|remove|send|submit|transfer|cancel|publish|book)\b/i;
    return risky.test(goal) ? 'HIGH_IMPACT' : 'ROUTINE';
  }
  if (id === 'reply') {
    const reply = contentWords(textOf((request.state as { reply?: unknown })?.reply ?? ''));
    if (reply.some((word) => ['yes', 'ok', 'okay', 'sure', 'confirm', 'ใช่'].includes(word))) return 'YES';
    return reply.some((word) => ['no', 'stop', 'cancel', 'ไม่'].includes(word)) ? 'NO' : 'OTHER';
  }
  return undefined;
}

function pick(options: readonly string[], score: (option: string) => number): JevAnswer {
  return choiceAnswer(options, hundredths(options.map((option) => score(option) * SHARPNESS)));
}
