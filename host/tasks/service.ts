/** The task service as the surfaces see it. One method per thing a caller can ask; each checks the caller first. */
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import type { Caller, Evidence, Notice, SpawnRequest, Target, TaskSnapshot } from '../../sdk/contract/task.ts';

export interface TaskUpdate {
  taskId: string;
  expectedRevision: number;
  instruction: string;
  mode: 'when_ready' | 'interrupt_and_resume' | 'verify_browser' | 'reconcile_browser';
  fields?: BrowserField[];
  expectedRequestId?: string;
  evidenceId?: string;
  noticeId?: string;
}

export interface ControlCommand {
  /** The caller's unique command id (UUID); repeating it with the same contents changes nothing. */
  id: string;
  taskId: string;
  action: 'pause' | 'revise' | 'resume' | 'agent' | 'user';
  expectedRevision: number;
  text?: string;
}

export type SpeechRule = 'pauses' | 'queues' | 'runs';

export interface UserMessage {
  /** 1 to 4000 characters. */
  text: string;
  executionTaskId?: string;
  /** How it was said. A typed echo of words that were just spoken to the same task runs nothing. Default `text`. */
  modality?: 'text' | 'live_voice';
  /** The caller's idempotency key; the same message again answers the same receipt, as it stands by then. */
  requestId?: string;
}

/** What became of one input of the user. It can change later: an applied command may be handed to the agent. */
export interface InputReceipt {
  /** `applied` to the task, `queued` behind its running command, `needs_agent`, or `accepted` as a message to the agent. */
  status: 'applied' | 'queued' | 'needs_agent' | 'accepted';
  inputId: string;
  taskId?: string;
  revision?: number;
  code?: string;
}

export interface TaskEvent {
  /** Grows by one per event of a conversation; survives restarts. */
  id: number;
  conversationId: string;
  agentId: string;
  type: string;
  taskId?: string;
  at: number;
  data: Record<string, unknown>;
}

export interface ReceiptView {
  requestId: string;
  revision: number;
  status: 'running' | 'ended';
  startedAt: number;
  endedAt?: number;
  outcome?: string;
  code?: string;
  mutations: { operationId: string; operation: string; recordedAt: number; outcome?: string }[];
}

export interface StatusReply {
  task?: TaskSnapshot;
  tasks?: TaskSnapshot[];
  notices: Notice[];
  evidence?: Evidence;
}

export interface TaskService {
  /** Recovers what a previous process left, then begins to work. Reads only, until recovery has settled. */
  start(): Promise<void>;
  discover(
    caller: Caller,
    /** `adapter` keeps one kind of target; `text` is part of a name; pages of 25. */
    query: { adapter?: string; text?: string; offset?: number },
    signal: AbortSignal,
  ): Promise<{ targets: Target[]; nextOffset: number | null }>;
  spawn(caller: Caller, request: SpawnRequest, signal: AbortSignal): Promise<TaskSnapshot>;
  status(
    caller: Caller,
    query: {
      taskId?: string;
      waitMs?: number;
      afterVersion?: number;
      evidence?: 'recorded' | 'fresh' | 'screenshot';
      acknowledge?: string[];
    },
    signal: AbortSignal,
  ): Promise<StatusReply>;
  update(caller: Caller, update: TaskUpdate): Promise<TaskSnapshot>;
  answer(
    caller: Caller,
    answer: {
      taskId: string;
      questionId: string;
      answer: string;
      fieldText?: string;
      fields?: BrowserField[];
      noticeId?: string;
    },
  ): Promise<TaskSnapshot>;
  cancel(
    caller: Caller,
    cancel: { taskId: string; replacedByTaskId?: string; by?: 'user' | 'agent' },
  ): Promise<TaskSnapshot>;
  control(caller: Caller, command: ControlCommand): Promise<TaskSnapshot>;
  /**
   * A message of the user: to a task as its next direct command, or to the agent as a notice. A command that cannot be
   * applied becomes the agent's, with the code that says why.
   */
  message(caller: Caller, message: UserMessage): Promise<InputReceipt>;
  /** What confirmed speech does to the task now: it pauses it, waits behind the running command, or simply runs. */
  speechRule(caller: Caller, taskId: string): SpeechRule;
  /** Events of the caller's conversation after the given id, then live ones, until the signal aborts. */
  events(caller: Caller, afterId: number, signal: AbortSignal): AsyncIterable<TaskEvent>;
  /** Settles running work (grace, then the watchdog's verdict) and closes. Remote sessions go on. */
  stop(): Promise<void>;
}

/** For other rooms that have something to tell an agent in its conversation. */
export interface TaskNotices {
  /** Queues a notice of kind `message` that belongs to no task. */
  notify(where: { agentId: string; conversationId: string }, notice: { text: string; code?: string }): Promise<void>;
}

export interface TaskReceipts {
  /** What was written about each run of a task, oldest first. */
  receipts(caller: Caller, taskId: string): Promise<ReceiptView[]>;
}
