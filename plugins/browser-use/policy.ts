/** What a decision leads to: the gates in their order (wire-contracts 3.10), as one pure function. */

import type { Target } from './candidates.ts';
import type { Decision } from './decision.ts';
import { isTargetOperation } from './decision.ts';

export interface Gates {
  operationConfidence: number;
  targetConfidence: number;
  /** The agent's first words for a new session, and nothing confirmed yet. */
  sessionStart: boolean;
  steps: number;
  maxSteps: number;
}

export type Verdict =
  | { stop: string }
  /** The session is open and the words held no action. */
  | { ready: true }
  | { done: true }
  | { blocked: true }
  | { wait: true }
  | { scroll: 'up' | 'down' }
  | { act: Target }
  /** An operation that this goal loop does not carry out itself. */
  | { other: string };

const scrolls: Readonly<Record<string, 'up' | 'down'>> = { SCROLL_UP: 'up', SCROLL_DOWN: 'down' };

export function judge(decision: Decision, gates: Gates): Verdict {
  const { operation, target } = decision;
  if (operation.confidence < gates.operationConfidence) return { stop: 'LOW_OPERATION_CONFIDENCE' };
  const idle = operation.key === 'BLOCKED' || operation.key === 'UNCLEAR' || operation.key === 'READ_REQUEST';
  if (idle && gates.sessionStart) return { ready: true };
  if (operation.key === 'BLOCKED') return { blocked: true };
  if (operation.key === 'UNCLEAR' || operation.key === 'READ_REQUEST') return { stop: operation.key };
  if (operation.key === 'DONE') return { done: true };
  if (gates.steps >= gates.maxSteps) return { stop: 'ACTION_BUDGET' };
  if (operation.key === 'WAIT') return { wait: true };
  const direction = Object.hasOwn(scrolls, operation.key) ? scrolls[operation.key] : undefined;
  if (direction) return { scroll: direction };
  if (!isTargetOperation(operation.key)) return { other: operation.key };
  if (!target || target.choice.confidence < gates.targetConfidence) return { stop: 'LOW_TARGET_CONFIDENCE' };
  return { act: target.target };
}
