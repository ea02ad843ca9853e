import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { container as root } from 'tsyringe';
import { describe, expect, it } from 'vitest';
import { createAuthorization } from '../../core/authorization/authorization.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import type { TasksCommand } from '../plugins/capabilities/tasks-control.ts';
import { AUTHORIZATION, CONFIG, JEV, TASKS } from '../tokens.ts';
import { contributedPorts } from './contributed-ports.ts';

const { signal } = new AbortController();
const taskId = randomUUID();
const at = () => ({ id: randomUUID(), taskId, expectedRevision: 3 });

/** The ports of a call by one key, with the services behind them played. */
function ports(access: 'read' | 'write' = 'write', agents = ['assistant']) {
  const key = { id: 'laptop', sha256: 'a'.repeat(64), agents: ['assistant'], access };
  const config = { agents: agents.map((id) => ({ id })) };
  const calls: unknown[][] = [];
  const played =
    (name: string, answer: unknown) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args]);
      return answer;
    };
  const container = root.createChildContainer();
  container.register(AUTHORIZATION, { useValue: createAuthorization({ keys: [key], ...config }) });
  container.register(CONFIG, { useValue: { current: config } as never });
  container.register(TASKS, {
    useValue: {
      status: played('status', { tasks: [{ taskId }], notices: [{ text: 'for the agent alone' }] }),
      cancel: played('cancel', { taskId, state: 'cancelling' }),
      control: played('control', { taskId, state: 'paused' }),
    } as never,
  });
  container.register(JEV, { useValue: { evaluate: played('evaluate', { answers: {} }) } as never });
  const caller: Caller = {
    principalId: 'api:laptop',
    agentId: 'assistant',
    sessionId: 'default',
    access,
    conversationId: 'conversation:assistant:api:laptop',
  };
  const made = contributedPorts(container, caller, 'toolbox');
  const control = (command: TasksCommand) => made.control?.(command, signal);
  return { made, control, calls, caller };
}

const changing: TasksCommand[] = [
  { action: 'cancel', taskId },
  { action: 'revise', ...at(), text: 'Only the blue one.' },
  { action: 'pause', ...at() },
  { action: 'resume', ...at() },
  { action: 'agent', ...at() },
  { action: 'user', ...at() },
];

describe('tasks.control of a plugin’s tool', () => {
  it('reads the caller’s tasks, and leaves the notices to the agent whose they are', async () => {
    const { control, calls, caller } = ports('read');
    expect(await control({ action: 'status' })).toEqual({ tasks: [{ taskId }] });
    expect(await control({ action: 'status', taskId })).toEqual({ tasks: [{ taskId }] });
    expect(calls.map(([name, who, what]) => [name, who, what])).toEqual([
      ['status', caller, {}],
      ['status', caller, { taskId }],
    ]);
  });

  it.each(changing)('$action reaches the task service as the caller’s own', async (command) => {
    const { control, calls, caller } = ports();
    expect(await control(command)).toMatchObject({ task: { taskId } });
    expect(calls).toEqual([
      command.action === 'cancel' ? ['cancel', caller, { taskId, by: 'agent' }] : ['control', caller, command],
    ]);
  });

  it.each(changing)('$action is refused to who may only read, and once the agent is gone', async (command) => {
    for (const { control, calls } of [ports('read'), ports('write', ['another'])]) {
      await expect(control(command)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
      expect(calls).toEqual([]);
    }
  });
});

describe('evaluations of a plugin’s tool', () => {
  it('are the caller’s, counted for the plugin, and stop when the caller may no longer write', async () => {
    for (const [access, may] of [
      ['write', true],
      ['read', false],
    ] as const) {
      const { made, calls } = ports(access);
      await made.evaluate?.({ state: {}, questions: {} } as never, signal);
      const [, , who, how] = calls[0] as [string, unknown, object, { authorized(): boolean }];
      expect(who).toMatchObject({
        principalId: 'api:laptop',
        agentId: 'assistant',
        consumer: 'mcp',
        pluginId: 'toolbox',
      });
      expect(how.authorized()).toBe(may);
    }
  });
});
