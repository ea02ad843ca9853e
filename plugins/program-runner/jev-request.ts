/** Checks of an evaluation request as a program writes it. Text and JSON only: no images, no boxes. */
import type { JevRequest } from '../../sdk/index.ts';
import { jsonText } from '../../sdk/programs/json-limits.ts';
import { refuseProgram } from '../../sdk/programs/program-error.ts';

export const MAX_QUESTIONS = 128;
export const MAX_OPTIONS = 255;
export const MAX_LEVELS = 10;

/** A request that passed; `model` is a program's wish, the host decides. */
export type ProgramRequest = Pick<JevRequest, 'state' | 'questions'> & { model?: string };

const says = {
  request: 'Invalid Jev request: provide state, 1–128 questions, and an optional model ID',
  question: 'Invalid Jev question: each question needs a type and complete instructions',
  choice: 'Choice requires 1–255 named options with descriptions or null',
  score: 'Score requires 2–10 ordered descriptive levels',
  noul: 'Noul criteria may describe true and false only',
  kind: 'Jev supports choice, score, and noul—not free-text generation',
} as const;

const MODEL = /^[a-zA-Z0-9._-]{1,128}$/;

function refuse(which: keyof typeof says): never {
  refuseProgram('PROGRAM_INVALID', says[which]);
}

/**
 * @param maxBytes the operator's cap on one request
 * @throws PROGRAM_INVALID with the exact sentence
 */
export function checkJevRequest(request: unknown, maxBytes: number): ProgramRequest {
  jsonText(request, 'Jev request', maxBytes);
  if (!isRecord(request) || !onlyKeys(request, ['state', 'questions', 'model'])) refuse('request');
  if (!isContent(request.state) || !isRecord(request.questions)) refuse('request');
  if (Object.hasOwn(request, 'model') && !(typeof request.model === 'string' && MODEL.test(request.model)))
    refuse('request');
  const questions = Object.entries(request.questions);
  if (questions.length < 1 || questions.length > MAX_QUESTIONS) refuse('request');
  for (const [id, question] of questions) {
    if (id.length < 1 || id.length > 128) refuse('question');
    checkQuestion(question);
  }
  return request as unknown as ProgramRequest;
}

function checkQuestion(question: unknown): void {
  if (!isRecord(question) || typeof question.type !== 'string') refuse('question');
  if (!['choice', 'score', 'noul'].includes(question.type)) refuse('kind');
  if (!onlyKeys(question, ['type', 'instructions', 'criteria']) || !isComplete(question.instructions))
    refuse('question');
  const { criteria } = question;
  switch (question.type) {
    case 'choice': {
      if (!isRecord(criteria)) refuse('choice');
      const options = Object.entries(criteria);
      if (options.length < 1 || options.length > MAX_OPTIONS) refuse('choice');
      for (const [key, description] of options)
        if (key.length < 1 || key.length > 256 || !(description === null || isComplete(description))) refuse('choice');
      return;
    }
    case 'score':
      if (!Array.isArray(criteria) || criteria.length < 2 || criteria.length > MAX_LEVELS) refuse('score');
      if (!criteria.every(isComplete)) refuse('score');
      return;
    default:
      if (criteria === undefined || criteria === null) return;
      if (!isRecord(criteria) || !onlyKeys(criteria, ['true', 'false'])) refuse('noul');
      if (!Object.values(criteria).every(isComplete)) refuse('noul');
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function onlyKeys(value: object, allowed: readonly string[]): boolean {
  return Object.keys(value).every((key) => allowed.includes(key));
}

/** Text, an object or a list; a bare number, a boolean and null say nothing that can be judged. */
function isContent(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

function isComplete(value: unknown): boolean {
  if (typeof value === 'string') return value.trim().length > 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
