/**
 * What is written about one run: the receipt before anything is sent, one checkpoint per mutation before it leaves, and
 * the outcome. Never arguments, text, credentials or leases.
 */

export type RunOutcome = 'completed' | 'paused' | 'stopped' | 'failed' | 'unknown';
export type MutationOutcome = 'confirmed' | 'not_executed' | 'unknown';

export interface RunReceipt {
  taskId: string;
  requestId: string;
  revision: number;
  agentId: string;
  principalId: string;
  conversationId: string;
  adapter: string;
  targetId: string;
  connectorId: string;
  pluginId: string;
  status: 'running' | 'ended';
  startedAt: number;
  endedAt?: number;
  outcome?: RunOutcome;
  /** The exact code of the stop. */
  code?: string;
  /** Fresh evidence that was read for this run; proof for five minutes. */
  inspection?: { id: string; at: number; operationState?: 'completed' | 'not_executed' | 'unknown' | 'none' };
  verification?: { evidenceId: string; at: number; statement: string };
}

export interface Mutation {
  taskId: string;
  requestId: string;
  sequence: number;
  operationId: string;
  /** Tool name. */
  operation: string;
  recordedAt: number;
  outcome?: MutationOutcome;
  settledAt?: number;
}

/** Longest statement of a verification that is kept. */
export const MAX_STATEMENT_CHARS = 4000;

const OPERATION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isOperationId(value: unknown): value is string {
  return typeof value === 'string' && OPERATION_ID.test(value);
}
