/**
 * Jev questions and answers as callers see them. Shapes and limits: wire-contracts 8, jev-facts A.
 * Probabilities and confidence are the provider's own numbers, never renormalised.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** Text, a JSON object or a JSON array. */
export type JevContent = string | Json[] | { [key: string]: Json };

export interface NoulQuestion {
  type: 'noul';
  instructions: JevContent;
  criteria?: { true?: JevContent; false?: JevContent };
}
export interface ChoiceQuestion {
  type: 'choice';
  instructions: JevContent;
  /** 1 to 255 options. A null description means that the key says it all. */
  criteria: Record<string, JevContent | null>;
}
export interface ScoreQuestion {
  type: 'score';
  instructions: JevContent;
  /** 2 to 10 levels, lowest first. */
  criteria: JevContent[];
}
/** Needs the images feature. */
export interface BoxQuestion {
  type: 'box';
  instructions: JevContent;
}
export type JevQuestion = NoulQuestion | ChoiceQuestion | ScoreQuestion | BoxQuestion;

export interface JevAsset {
  type: 'image';
  format: 'png' | 'jpeg';
  data_base64: string;
}

export interface JevRequest {
  state: JevContent;
  questions: Record<string, JevQuestion>;
  /** Images by reference; the reference must appear in state or in a question. Needs the images feature. */
  assets?: Record<string, JevAsset>;
  /** 1 to 256 printable ASCII characters without spaces. Reuse within five minutes is refused. */
  requestId?: string;
}

export interface NoulAnswer {
  type: 'noul';
  noul: number;
}
export interface ChoiceAnswer {
  type: 'choice';
  choice: string;
  probabilities: Record<string, number>;
  confidence: number;
}
export interface ScoreAnswer {
  type: 'score';
  score: number;
  probabilities: Record<string, number>;
  legend: Record<string, string>;
  confidence: number;
}
/** Edges are fractions of the image's height (top, bottom) and width (left, right), from the top left corner. */
export interface BoxAnswer {
  type: 'box';
  box: { top: number; bottom: number; left: number; right: number };
  confidence?: number;
}
export type JevAnswer = NoulAnswer | ChoiceAnswer | ScoreAnswer | BoxAnswer;

export type AnswerTo<Q extends JevQuestion> = Q extends { type: 'noul' }
  ? NoulAnswer
  : Q extends { type: 'choice' }
    ? ChoiceAnswer
    : Q extends { type: 'score' }
      ? ScoreAnswer
      : BoxAnswer;

export interface JevUsage {
  input_tokens: number;
  output_tokens: number;
}
export interface JevBilling {
  charged_credits: number;
  rate_version?: string;
}
export interface JevResult {
  requestId: string;
  requestedModel: string;
  /** The version that the provider says it used. */
  model: string;
  answers: Record<string, JevAnswer>;
  usage: JevUsage;
  billing?: JevBilling;
}

/** Typed by its questions: `answers.route` is a choice when `questions.route` is. */
export interface TypedJevResult<Q extends Record<string, JevQuestion>> extends Omit<JevResult, 'answers'> {
  answers: { [K in keyof Q]: AnswerTo<Q[K]> };
}
