/**
 * The decision ledger: what was chosen from how many, and how sure the provider was. It shows why a controller did what it
 * did, without the page: question ids, option keys and numbers only.
 */
import type { JevAnswer } from '../../sdk/contract/jev.ts';
import type { Store } from '../store/store.ts';
import { createBoundedLog, type Page } from './bounded-log.ts';
import type { QuestionPlan } from './request-validation.ts';
import type { JevCaller } from './service.ts';

/** Evaluations that are kept, over all tasks. */
export const MAX_DECISION_RECORDS = 10_000;
/** Options of one question whose probability is kept: the most probable. */
export const MAX_KEPT_OPTIONS = 5;
/** Questions of one evaluation that are kept. */
export const MAX_KEPT_QUESTIONS = 64;
/** Characters of a question id or an option key that are kept. */
const MAX_KEY_CHARS = 128;

export interface Decision {
  question: string;
  type: QuestionPlan['type'];
  /** How many options or levels there were. */
  options: number;
  /** The chosen key; for a score its value, for a noul its probability, as text. */
  chosen: string;
  /** The most probable options, highest first. */
  probabilities: [string, number][];
  confidence?: number;
}

export interface DecisionRecord {
  requestId: string;
  agentId: string;
  taskId?: string;
  pluginId?: string;
  consumer: JevCaller['consumer'];
  model: string;
  startedAt: number;
  decisions: Decision[];
}

export interface DecisionLog {
  add(record: DecisionRecord): void;
  /** Decisions of one task, newest first. */
  ofTask(taskId: string, page: { limit: number; offset: number }): Promise<Page<DecisionRecord>>;
  /** Decisions of an agent that belong to no task, newest first. */
  ofAgent(agentId: string, page: { limit: number; offset: number }): Promise<Page<DecisionRecord>>;
  flush(): Promise<void>;
  readonly size: number;
}

export function createDecisionLog(deps: {
  store: Store;
  ids(): string;
  max?: number;
  onError?: (error: unknown) => void;
}): DecisionLog {
  const log = createBoundedLog<DecisionRecord>({
    store: deps.store,
    table: 'jev.decisions',
    version: 1,
    max: deps.max ?? MAX_DECISION_RECORDS,
    ...(deps.onError ? { onError: deps.onError } : {}),
  });
  return {
    get size() {
      return log.size;
    },
    add: (record) => log.add(scopeOf(record), deps.ids(), record),
    ofTask: (taskId, page) => log.list(`task:${taskId}`, page),
    ofAgent: (agentId, page) => log.list(`agent:${agentId}`, page),
    flush: () => log.flush(),
  };
}

function scopeOf(record: DecisionRecord): string {
  return record.taskId === undefined ? `agent:${record.agentId}` : `task:${record.taskId}`;
}

export function decisionsOf(plan: readonly QuestionPlan[], answers: Record<string, JevAnswer>): Decision[] {
  const decisions: Decision[] = [];
  for (const question of plan.slice(0, MAX_KEPT_QUESTIONS)) {
    const answer = answers[question.id];
    if (answer) decisions.push(decisionOf(question, answer));
  }
  return decisions;
}

function decisionOf(question: QuestionPlan, answer: JevAnswer): Decision {
  const base = { question: cut(question.id), type: question.type };
  switch (answer.type) {
    case 'noul':
      return { ...base, options: 2, chosen: String(answer.noul), probabilities: [] };
    case 'choice': {
      const options = question.type === 'choice' ? question.options.length : 0;
      const probabilities = mostProbable(answer.probabilities);
      return { ...base, options, chosen: cut(answer.choice), probabilities, confidence: answer.confidence };
    }
    case 'score': {
      const options = question.type === 'score' ? question.levels : 0;
      const probabilities = mostProbable(answer.probabilities);
      return { ...base, options, chosen: String(answer.score), probabilities, confidence: answer.confidence };
    }
    case 'box':
      return {
        ...base,
        options: 0,
        chosen: '',
        probabilities: [],
        ...(answer.confidence === undefined ? {} : { confidence: answer.confidence }),
      };
  }
}

/** A short insertion sort: most options lie below the last kept one and cost one comparison. */
function mostProbable(probabilities: Record<string, number>): [string, number][] {
  const best: [string, number][] = [];
  for (const key in probabilities) {
    const value = probabilities[key] ?? 0;
    const last = best[best.length - 1];
    if (best.length === MAX_KEPT_OPTIONS && last && value <= last[1]) continue;
    if (best.length === MAX_KEPT_OPTIONS) best.pop();
    let at = best.length;
    while (at > 0 && (best[at - 1]?.[1] ?? 0) < value) at -= 1;
    best.splice(at, 0, [cut(key), value]);
  }
  return best;
}

function cut(text: string): string {
  return text.length > MAX_KEY_CHARS ? text.slice(0, MAX_KEY_CHARS) : text;
}
