/** The powers of a call of a plugin's own tool: what the caller has, and no task's target. */
import type { DependencyContainer } from 'tsyringe';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import { stillMay } from '../api/access.ts';
import type { TasksCommand } from '../plugins/capabilities/tasks-control.ts';
import type { RunPorts } from '../plugins/ports.ts';
import { LAUNCHER } from '../programs/program-service.ts';
import { JEV, PROGRAMS, TASKS } from '../tokens.ts';
import { accessOf } from './access.ts';

export function contributedPorts(from: DependencyContainer, caller: Caller, pluginId: string): RunPorts {
  const { principalId, agentId, sessionId, conversationId } = caller;
  const authorized = () => stillMay(accessOf(from), principalId, agentId, 'write');
  return {
    ...(pluginId === LAUNCHER && from.resolve(PROGRAMS).portsFor({ principalId, agentId, conversationId })),
    control: (command) => controlOf(from, caller, command, authorized),
    evaluate: (request, signal) =>
      from
        .resolve(JEV)
        .evaluate(request, { principalId, agentId, sessionId, consumer: 'mcp', pluginId }, { signal, authorized }),
  };
}

/** The task service checks whose tasks they are; whether the caller may still write at all is asked here. */
async function controlOf(
  from: DependencyContainer,
  caller: Caller,
  command: TasksCommand,
  mayWrite: () => boolean,
): Promise<unknown> {
  const tasks = from.resolve(TASKS);
  if (command.action === 'status') {
    const { taskId } = command;
    const { notices: _kept, ...found } = await tasks.status(
      caller,
      taskId === undefined ? {} : { taskId },
      new AbortController().signal,
    );
    return found;
  }
  if (!mayWrite()) refuse('ACCESS_DENIED', {});
  if (command.action === 'cancel') return { task: await tasks.cancel(caller, { taskId: command.taskId, by: 'agent' }) };
  return { task: await tasks.control(caller, command) };
}
