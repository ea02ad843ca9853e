/** Who may use Jev. One rule, asked before an evaluation is sent and again before its answer is used. */
import type { JevConfig } from './config.ts';

/** What an agent's own entry says; it can only narrow. */
export interface AgentJevAccess {
  allow_tools?: boolean | undefined;
  jev?: { enabled?: boolean | undefined } | undefined;
}

/** @param agent undefined when the configuration does not know the agent. */
export function jevAllowed(config: JevConfig | undefined, agentId: string, agent: AgentJevAccess | undefined): boolean {
  if (config?.enabled !== true || agent === undefined) return false;
  if (agent.allow_tools === false || agent.jev?.enabled === false) return false;
  return config.allowedAgentIds === undefined || config.allowedAgentIds.includes(agentId);
}
