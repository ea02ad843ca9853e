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
/** Questions of one evaluation that are kept: the first ones. A controller's decision has fewer. */
export const MAX_KEPT_QUESTIONS = 16;
/** Characters of a question id or an option key that are kept. */
const MAX_KEY_CHARS = 128;

export interface Decision {
  question: string;
  type: QuestionPlan['type'];
  /** How many options or levels there were. */
  options: number;
  /** The chosen key. A score's value or a noul's probability stands in `probability` alone. */
  chosen?: string;
  /** Of the chosen option; the score of a score; the noul of a noul. */
  probability?: number;
  confidence?: number;
  /** Of every option or level, in the order in which they were asked. */
  probabilities?: number[];
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

/** As it is stored: by place, because there are many. */
export type StoredDecision = [
  question: string,
  type: QuestionPlan['type'],
  options: number,
  chosen: string | null,
  probability: number | null,
  confidence: number | null,
  probabilities?: number[],
];
export type StoredDecisions = Omit<DecisionRecord, 'decisions'> & { decisions: StoredDecision[] };

export interface DecisionLog {
  add(record: StoredDecisions): void;
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
  const log = createBoundedLog<StoredDecisions>({
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
    ofTask: async (taskId, page) => told(await log.list(`task:${taskId}`, page)),
    ofAgent: async (agentId, page) => told(await log.list(`agent:${agentId}`, page)),
    flush: () => log.flush(),
  };
}

function scopeOf(record: Pick<DecisionRecord, 'taskId' | 'agentId'>): string {
  return record.taskId === undefined ? `agent:${record.agentId}` : `task:${record.taskId}`;
}

function told({ records, total }: Page<StoredDecisions>): Page<DecisionRecord> {
  return { records: records.map((record) => ({ ...record, decisions: record.decisions.map(tell) })), total };
}

function tell(stored: StoredDecision): Decision {
  const [question, type, options, chosen, probability, confidence, probabilities] = stored;
  return {
    question,
    type,
    options,
    ...(chosen === null ? {} : { chosen }),
    ...(probability === null ? {} : { probability }),
    ...(confidence === null ? {} : { confidence }),
    ...(probabilities === undefined ? {} : { probabilities }),
  };
}

export function decisionsOf(plan: readonly QuestionPlan[], answers: Record<string, JevAnswer>): StoredDecision[] {
  const count = Math.min(plan.length, MAX_KEPT_QUESTIONS);
  const decisions: StoredDecision[] = [];
  for (let at = 0; at < count; at++) {
    const question = plan[at];
    const answer = question && answers[question.id];
    if (question && answer) decisions.push(decisionOf(question, answer));
  }
  return decisions;
}

function decisionOf(question: QuestionPlan, answer: JevAnswer): StoredDecision {
  const id = cut(question.id);
  switch (answer.type) {
    case 'noul':
      return [id, 'noul', 2, null, answer.noul, null];
    case 'score':
      return [
        id,
        'score',
        question.type === 'score' ? question.levels : 0,
        null,
        answer.score,
        answer.confidence,
        Object.values(answer.probabilities),
      ];
    case 'box':
      return [id, 'box', 0, null, null, answer.confidence ?? null];
    case 'choice':
      break;
  }
  const { choice, probabilities, confidence } = answer;
  const options = question.type === 'choice' ? question.options : [];
  return [
    id,
    'choice',
    options.length,
    cut(choice),
    probabilities[choice] ?? 0,
    confidence,
    options.map((option) => probabilities[option] ?? 0),
  ];
}

function cut(text: string): string {
  return text.length > MAX_KEY_CHARS ? text.slice(0, MAX_KEY_CHARS) : text;
}
