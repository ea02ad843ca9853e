/** Tasks over HTTP: the same bodies as the tools, and the direct control of wire-contracts 4.5. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Caller } from '../../../sdk/contract/task.ts';
import { callerOf, principalFor } from '../authenticate.ts';
import { checked, Uuid } from '../input.ts';
import type { AccessLevel, ApiDeps } from '../ports.ts';
import { SESSION_ID, type Sessions } from '../sessions.ts';
import {
  AnswerBody,
  CancelBody,
  ControlBody,
  SpawnInput,
  spawnRequest,
  taskAnswer,
  taskCancel,
  taskUpdate,
  UpdateBody,
} from '../task-input.ts';

interface SessionParams {
  agentId: string;
  sessionId: string;
}
interface TaskParams extends SessionParams {
  taskId: string;
}

const SESSION = '/api/v1/agents/:agentId/sessions/:sessionId';
const TASK = `${SESSION}/tasks/:taskId`;

export function taskRoutes(app: FastifyInstance, deps: ApiDeps, sessions: Sessions): void {
  const callerFor = (request: FastifyRequest, need: AccessLevel): Caller => {
    const { agentId, sessionId } = request.params as SessionParams;
    const principal = principalFor(request, deps.access, agentId, need);
    if (!SESSION_ID.test(sessionId)) refuse('INVALID_INPUT', { path: 'sessionId', problem: 'is not a session id' });
    return callerOf(principal, sessions, agentId, sessionId);
  };
  const taskOf = (request: FastifyRequest): string => {
    const { taskId } = request.params as TaskParams;
    return checked(Uuid, taskId).toLowerCase();
  };

  app.get(`${SESSION}/tasks`, async (request) => {
    const { tasks, notices } = await deps.tasks.status(callerFor(request, 'read'), {}, request.gone);
    return { tasks: tasks ?? [], notices };
  });

  app.post(`${SESSION}/tasks`, async (request, reply) => {
    const caller = callerFor(request, 'write');
    const task = await deps.tasks.spawn(caller, spawnRequest(checked(SpawnInput, request.body)), request.gone);
    reply.status(202);
    return { task };
  });

  app.get(TASK, async (request) => {
    const caller = callerFor(request, 'read');
    const { task, notices } = await deps.tasks.status(caller, { taskId: taskOf(request) }, request.gone);
    return { task, notices };
  });

  app.get(`${TASK}/receipts`, async (request) => {
    const caller = callerFor(request, 'read');
    const taskId = taskOf(request);
    if (!deps.receipts) return refuse('NOT_FOUND');
    return { receipts: await deps.receipts.receipts(caller, taskId) };
  });

  app.post(`${TASK}/updates`, async (request, reply) => {
    const caller = callerFor(request, 'write');
    const task = await deps.tasks.update(caller, taskUpdate(taskOf(request), checked(UpdateBody, request.body)));
    reply.status(202);
    return { task };
  });

  app.post(`${TASK}/answers`, async (request, reply) => {
    const caller = callerFor(request, 'write');
    const task = await deps.tasks.answer(caller, taskAnswer(taskOf(request), checked(AnswerBody, request.body)));
    reply.status(202);
    return { task };
  });

  app.post(`${TASK}/cancel`, async (request, reply) => {
    const caller = callerFor(request, 'write');
    const cancel = taskCancel(taskOf(request), checked(CancelBody, request.body ?? {}));
    // Over HTTP it is the user's own word; an agent cancels with its tool.
    const task = await deps.tasks.cancel(caller, { ...cancel, by: 'user' });
    reply.status(202);
    return { task };
  });

  app.post(`${TASK}/control`, async (request, reply) => {
    const caller = callerFor(request, 'write');
    const taskId = taskOf(request);
    const command = checked(ControlBody, request.body);
    if (command.action === 'revise' ? command.text === undefined : command.text !== undefined)
      refuse('INVALID_INPUT', { path: 'text', problem: 'is needed for revise, and for nothing else' });
    const { text, ...rest } = command;
    const task = await deps.tasks.control(caller, { ...rest, taskId, ...(text !== undefined && { text }) });
    reply.status(202);
    return { task };
  });
}
