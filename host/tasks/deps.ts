/** Everything that the parts of this room share. */
import type { AuditLog } from '../../core/receipts/audit-log.ts';
import type { Receipts } from '../../core/receipts/receipts.ts';
import type { Store } from '../../core/store/store.ts';
import type { RetentionConfig } from './config.ts';
import type { EventLog } from './event-log.ts';
import type { OwnerQuestions } from './owner-questions.ts';
import type { Assistance, Authorization, ControllerRunner, Evaluations, Features, Targets } from './ports.ts';
import type { TaskBook } from './task-book.ts';
import type { Turns } from './turns.ts';

export interface TaskServiceDeps {
  store: Store;
  authorization: Authorization;
  targets: Targets;
  plugins: ControllerRunner;
  jev: Evaluations;
  thinking?: Assistance;
  /** Read at every use, so that a reload counts at once. */
  features(): Features;
  clock: { now(): number };
  ids: { uuid(): string };
  /** `retention`, live; without it nothing goes. */
  retention?: () => RetentionConfig;
  /** What went wrong where nobody waits for an answer. */
  log?: (event: string, details: Record<string, unknown>) => void;
  /** Milliseconds; tests shorten them. */
  limits?: Partial<RunLimits>;
}

export interface RunLimits {
  /** One run, whatever its own budget says. */
  runMs: number;
  /** How long a controller may take to stop. */
  graceMs: number;
  /** How long words that were handed to the agent wait for it (DECISIONS 9). */
  handoffMs: number;
  /** Runs at the same time, over all targets. */
  concurrentRuns: number;
}

export const DEFAULT_LIMITS: RunLimits = { runMs: 610_000, graceMs: 5000, handoffMs: 30_000, concurrentRuns: 16 };

/** The shared parts, made once by `createTaskService`. */
export interface Room extends TaskServiceDeps {
  book: TaskBook;
  events: EventLog;
  receipts: Receipts;
  audit: AuditLog;
  turns: Turns;
  questions: OwnerQuestions;
  runLimits: RunLimits;
}
