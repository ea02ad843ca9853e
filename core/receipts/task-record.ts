/** A task as it is stored. The owner's view of it is sdk/contract/task.ts. */
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import type { TaskOutcome, TaskSnapshot, TaskState } from '../../sdk/contract/task.ts';

export interface QueuedCommand {
  id: string;
  text: string;
  at: number;
}

export interface PendingQuestion {
  questionId: string;
  text: string;
  revision: number;
  /** Label of the page field that the answer fills; absent when the label is ambiguous. */
  fieldLabel?: string;
}

export interface TaskRecord {
  taskId: string;
  conversationId: string;
  agentId: string;
  sessionId: string;
  principalId: string;
  title: string;
  /** The goal as it was given first; guidance and corrections never replace it. */
  goal: string;
  state: TaskState;
  /** Grows with every change of the record. */
  stateVersion: number;
  revision: number;
  appliedRevision: number;
  activeAttemptId?: string;
  target: { adapter: string; targetId: string; name: string; startUrl?: string };
  dispatch?: { requestId: string; submittedAt: number };
  control?: NonNullable<TaskSnapshot['executionControl']>;
  controller: 'user' | 'agent';
  session: {
    idleTimeoutMs: number;
    idleSince?: number;
    closedAt?: number;
    closedReason?: 'user' | 'agent' | 'supervisor' | 'idle_timeout';
  };
  report?: NonNullable<TaskSnapshot['browserReport']>;
  progress?: NonNullable<TaskSnapshot['latestProgress']>;
  /** Lists what was dropped while a run was at work; belongs to the line with which that run ends. */
  notSent?: string;
  question?: PendingQuestion;
  cancellation?: NonNullable<TaskSnapshot['cancellation']>;
  replacedByTaskId?: string;
  result?: NonNullable<TaskSnapshot['result']>;
  failure?: NonNullable<TaskSnapshot['failure']>;
  outcome?: TaskOutcome;
  actionLog: TaskSnapshot['actionLog'];
  queue: QueuedCommand[];
  /** A mutation was dispatched at some time. */
  acted: boolean;
  /** A run was dispatched, so the start address is used up. */
  started: boolean;
  /** The owner paused a run of this task, and it has not gone on since. */
  paused?: true;
  /** The agent's high-impact command that waits for the user's yes or no. */
  confirm?: { command: string; label: string; inputId: string; words: string };
  /** The user's words that were handed to the agent, and whether it has used its one command. */
  handoff?: {
    kind: 'handoff' | 'read_request';
    inputId: string;
    words: string;
    /** The revision at which the words settled. */
    revision: number;
    used: boolean;
  };
  /** What the last rounds did and where they ended: reference for the next one. No typed text, no control references. */
  interaction?: string;
  /** Replans since the last instruction of the user. */
  replans: { used: number; guidance: string[] };
  /** The caller's idempotency key. */
  requestId?: string;
  createdAt: number;
  updatedAt: number;
}

export interface TaskRevision {
  taskId: string;
  revision: number;
  mode: 'spawn' | 'when_ready' | 'interrupt_and_resume' | 'reconcile' | 'answer' | 'command' | 'resume';
  /** What the run is told. */
  instructions: string;
  /** Next-step guidance after a known stop; goes beside the goal, never in its place. */
  guidance?: string;
  /** Every field value that is known by now. */
  fields: BrowserField[];
  /** One command of the user, verbatim. */
  directCommand?: boolean;
  /** The agent's own command for an utterance that was handed to it. */
  agentHandoff?: boolean;
  /** The control command or notice that brought it. */
  origin?: string;
  /** The user's own words that an agent's command stands for. */
  words?: string;
  /** The words are the user's reply to the question whether to carry this out. */
  confirmation?: { command: string; label: string; words: string };
  /** Corrections of an agent's goal, newest first, and the goal that they correct. */
  correction?: { goal: string; texts: string[] };
  answers: { questionId: string; text: string; fieldLabel?: string }[];
  at: number;
}

/** Milliseconds until an idle session closes. */
export const IDLE_TIMEOUT_MS = 30 * 60 * 1000;
/** Rounds that the action log keeps. */
export const ACTION_LOG_LENGTH = 12;

export const taskTables = {
  tasks: { name: 'tasks', version: 1 },
  revisions: { name: 'task-revisions', version: 1 },
  byConversation: { name: 'tasks-by-conversation', version: 1 },
  /** All tasks in the order in which they came. */
  byTime: { name: 'tasks-by-time', version: 1 },
  /** Tasks that wait for a run or have one. */
  unfinished: { name: 'tasks-unfinished', version: 1 },
  /** Tasks of which something may have been done unseen. */
  uncertain: { name: 'tasks-uncertain', version: 1 },
  /** Finished tasks in the order in which they finished. */
  finished: { name: 'tasks-finished', version: 1 },
  /** The last task of each target. */
  byTarget: { name: 'tasks-by-target', version: 1 },
  /** Which of these a store has; see host/tasks/indexes.ts. */
  indexes: { name: 'task-indexes', version: 1 },
  spawnRequests: { name: 'spawn-requests', version: 1 },
  controls: { name: 'task-controls', version: 1 },
  events: { name: 'events', version: 1 },
  notices: { name: 'notices', version: 1 },
  evidence: { name: 'evidence', version: 1 },
} as const;
