/** A task as its owner sees it (wire-contracts 4.6, camelCase) and what callers may ask of it. */
import type { BrowserField, BrowserRunResult } from './browser-run.ts';

export type TaskState =
  | 'queued'
  | 'starting'
  | 'running'
  | 'waiting_input'
  | 'interrupting'
  | 'cancel_requested'
  | 'recovering'
  | 'needs_reconciliation'
  | 'completed'
  | 'failed'
  | 'cancelled';

/** What happened, told apart for people and agents (DECISIONS 34). */
export type TaskOutcome =
  | 'verified'
  | 'candidate'
  | 'needs_field'
  | 'needs_decision'
  | 'sign_in_wall'
  | 'captcha'
  | 'blocked_by_policy'
  | 'provider_failure'
  | 'device_failure'
  | 'interrupted'
  | 'unknown'
  | 'cancelled'
  | 'stopped';

export interface TaskSnapshot {
  taskId: string;
  conversationId: string;
  agentId: string;
  agentSessionId: string;
  ownerPrincipalId: string;
  title: string;
  targetProfile: 'gateway-managed';
  state: TaskState;
  stateVersion: number;
  revision: number;
  appliedRevision: number;
  activeAttemptId?: string;
  gatewayTarget: { adapter: string; sessionId: string; name: string; startUrl?: string };
  gatewayDispatch?: { requestId: string; submittedAt: number };
  executionControl?: {
    id: string;
    action: 'pause' | 'revise' | 'resume' | 'agent' | 'user';
    revision: number;
    phase: 'pending' | 'applied' | 'paused' | 'blocked';
    requestedAt: number;
    agentHandoff?: boolean;
  };
  automationController: 'user' | 'agent';
  automationSession: {
    status: 'active' | 'idle' | 'blocked' | 'closed';
    idleTimeoutMs: number;
    idleSince?: number;
    closedAt?: number;
    closedReason?: 'user' | 'agent' | 'supervisor' | 'idle_timeout';
  };
  /** The controller's last report without observation and trace: advice, not proof. */
  browserReport?: Omit<BrowserRunResult, 'observation' | 'trace'> & {
    verification?: { source: 'parent' | 'independent'; evidence: string; at: number };
  };
  latestProgress?: { text: string; observedAt: number; source: 'worker' | 'runtime' };
  pendingQuestion?: { questionId: string; text: string; revision: number; fieldLabel?: string };
  cancellation?: { requestedBy: 'user' | 'agent'; requestedAt: number };
  replacedByTaskId?: string;
  result?: { summary: string; artifactIds: string[] };
  failure?: { code: string; message: string; observedAt: number };
  outcome?: TaskOutcome;
  actionLog: { command: string; result: string; at: number }[];
  queuedCommands?: string[];
  currentInstructions: string;
  createdAt: number;
  updatedAt: number;
}

/** Who asks, always from the authenticated key or ticket, never from arguments. */
export interface Caller {
  principalId: string;
  agentId: string;
  sessionId: string;
  conversationId: string;
  access: 'read' | 'write' | 'admin';
}

export interface SpawnRequest {
  title: string;
  instructions: string;
  adapter: string;
  /** The id of a discovered target. */
  targetId: string;
  startUrl?: string;
  fields?: BrowserField[];
  /** The caller's idempotency key. */
  requestId?: string;
}

export interface Target {
  adapter: string;
  session_id: string;
  name: string;
  version?: number;
}

export interface Notice {
  noticeId: string;
  taskId?: string;
  revision?: number;
  kind: 'settled' | 'question' | 'needs_move' | 'read_request' | 'handoff' | 'message';
  text?: string;
  code?: string;
  createdAt: number;
}

/** Fresh or recorded page evidence: private, bounded, untrusted page data. */
export interface Evidence {
  requestId: string;
  evidenceId?: string;
  recordedOnly: boolean;
  untrustedPageContent: true;
  observedAt?: number;
  observation?: Record<string, unknown>;
  lastDispatchedMutation?: { operationId: string; operation: string; recordedAt: number };
  operationStatus?: Record<string, unknown>;
}
