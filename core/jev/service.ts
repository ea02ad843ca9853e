/** The evaluation service as its callers see it. */
import type { JevRequest, JevResult } from '../../sdk/contract/jev.ts';

/** Who asks. Derived from the authenticated key, ticket or run; never from arguments. */
export interface JevCaller {
  principalId: string;
  agentId: string;
  sessionId?: string;
  taskId?: string;
  consumer: 'http' | 'mcp' | 'controller' | 'program';
  /** Names the deciding plugin in the decision ledger. */
  pluginId?: string;
}

export interface EvaluateOptions {
  /** Aborts the evaluation and the request. */
  signal?: AbortSignal;
  /**
   * Whether the caller itself still may ask: asked with every access check, so that a key that was taken away while the
   * request was on its way gets no answer.
   */
  authorized?: () => boolean;
}

export interface JevService {
  /**
   * @throws a `JEV_…` HostError. Its details carry `status`, `retryAfter`, `resetAt` and `validationReason` where known,
   *   `phase: 'response'` when it was stopped while the answer came, `empty` when there was nothing in it.
   */
  evaluate(request: JevRequest, caller: JevCaller, options?: EvaluateOptions): Promise<JevResult>;
  /** Whether the agent may use Jev now (wire-contracts 5.1). */
  allowed(agentId: string): boolean;
}
