/** The powers of a call of a plugin's own tool: what the caller has, and no task's target. */
import type { DependencyContainer } from 'tsyringe';
import type { Caller } from '../../sdk/contract/task.ts';
import { stillMay } from '../api/access.ts';
import type { RunPorts } from '../plugins/ports.ts';
import { LAUNCHER } from '../programs/program-service.ts';
import { JEV, PROGRAMS } from '../tokens.ts';
import { accessOf } from './access.ts';

export function contributedPorts(from: DependencyContainer, caller: Caller, pluginId: string): RunPorts {
  const { principalId, agentId, sessionId, conversationId } = caller;
  const authorized = () => stillMay(accessOf(from), principalId, agentId, 'write');
  return {
    ...(pluginId === LAUNCHER && from.resolve(PROGRAMS).portsFor({ principalId, agentId, conversationId })),
    evaluate: (request, signal) =>
      from
        .resolve(JEV)
        .evaluate(request, { principalId, agentId, sessionId, consumer: 'mcp', pluginId }, { signal, authorized }),
  };
}
