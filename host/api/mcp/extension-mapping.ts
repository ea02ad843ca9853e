/** The host's tasks in the words of the tasks extension. */
import { HostError } from '../../../sdk/contract/errors.ts';
import type { Caller, TaskSnapshot } from '../../../sdk/contract/task.ts';
import type { TaskService } from '../../tasks/service.ts';
import { atLeast } from '../access.ts';
import { type ExtensionTask, type ExtensionTasks, POLL_MS } from './task-extension.ts';
import { toolResult } from './tool.ts';

export function extensionTasks(caller: Caller, tasks: TaskService): ExtensionTasks {
  const find = async (taskId: string, signal: AbortSignal): Promise<TaskSnapshot | undefined> => {
    try {
      return (await tasks.status(caller, { taskId: taskId.toLowerCase() }, signal)).task;
    } catch (error) {
      if (error instanceof HostError && ['ACCESS_DENIED', 'TASK_NOT_FOUND', 'INVALID_INPUT'].includes(error.code))
        return undefined;
      throw error;
    }
  };
  return {
    async get(taskId, signal) {
      const task = await find(taskId, signal);
      return task && toExtensionTask(task);
    },
    async update(taskId, answers, signal) {
      const task = await find(taskId, signal);
      if (!task || !atLeast(caller.access, 'write')) return false;
      const question = task.pendingQuestion;
      const answer = question && acceptedAnswer(answers[question.questionId]);
      // A declined question stays open: whoever declined may still cancel the task.
      if (question && answer !== undefined)
        await tasks.answer(caller, { taskId: task.taskId, questionId: question.questionId, answer });
      return true;
    },
    async cancel(taskId, signal) {
      const task = await find(taskId, signal);
      if (!task || !atLeast(caller.access, 'write')) return false;
      if (!hasEnded(task)) await tasks.cancel(caller, { taskId: task.taskId });
      return true;
    },
  };
}

export function toExtensionTask(task: TaskSnapshot): ExtensionTask {
  const base = {
    taskId: task.taskId,
    ...(task.latestProgress && { statusMessage: task.latestProgress.text }),
    createdAt: new Date(task.createdAt).toISOString(),
    lastUpdatedAt: new Date(task.updatedAt).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
  if (task.state === 'cancelled') return { ...base, status: 'cancelled' };
  if (task.pendingQuestion && (task.state === 'waiting_input' || task.state === 'running'))
    return { ...base, status: 'input_required', inputRequests: inputRequest(task.pendingQuestion) };
  if (hasEnded(task)) return { ...base, status: 'completed', result: { ...resultOf(task) } };
  return { ...base, status: 'working' };
}

/**
 * Whether there is nothing more to wait for. A candidate and an uncertain round have ended too: what follows is the
 * agent's reading of evidence, not more work of the host.
 */
function hasEnded({ state, pendingQuestion }: TaskSnapshot): boolean {
  return (
    state === 'completed' ||
    state === 'failed' ||
    state === 'cancelled' ||
    state === 'needs_reconciliation' ||
    (state === 'waiting_input' && pendingQuestion === undefined)
  );
}

/** A task that failed is a tool that ran and reports an error; `failed` is the protocol's own. */
function resultOf(task: TaskSnapshot) {
  if (task.state !== 'failed') return toolResult({ task });
  const { code = 'INTERNAL', message = 'The task failed.' } = task.failure ?? {};
  return { ...toolResult({ error: code, message, task }), isError: true };
}

function inputRequest({ questionId, text, fieldLabel }: NonNullable<TaskSnapshot['pendingQuestion']>) {
  return {
    [questionId]: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: text,
        requestedSchema: {
          type: 'object',
          properties: { answer: { type: 'string', ...(fieldLabel !== undefined && { title: fieldLabel }) } },
          required: ['answer'],
        },
      },
    },
  };
}

function acceptedAnswer(response: unknown): string | undefined {
  const { action, content } = (response ?? {}) as { action?: unknown; content?: { answer?: unknown } };
  const answer = content?.answer;
  return (action === undefined || action === 'accept') && typeof answer === 'string' && answer !== ''
    ? answer.slice(0, 8000)
    : undefined;
}
