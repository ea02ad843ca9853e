/**
 * The tasks extension of the current protocol revision (`io.modelcontextprotocol/tasks`): the same tasks, for clients that
 * would rather poll than call `task_status`.
 *
 * Threat: a client that never declared the extension gets something that it cannot read. Every request is checked for the
 * declaration by itself, since nothing is remembered between requests.
 */
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as v from 'valibot';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Milliseconds that a client may wait between two looks. */
export const POLL_MS = 1000;

export interface ExtensionTask {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  statusMessage?: string;
  /** ISO times. */
  createdAt: string;
  lastUpdatedAt: string;
  /** null: the host's retention decides. */
  ttlMs: number | null;
  pollIntervalMs: number;
  /** With `completed`: the tool's result. */
  result?: Record<string, unknown>;
  /** With `failed`: the protocol error. */
  error?: { code: number; message: string };
  /** With `input_required`: what is asked, by the id to answer under. */
  inputRequests?: Record<string, unknown>;
}

export interface ExtensionTasks {
  /** @returns undefined for a task that does not exist for this caller. */
  get(taskId: string, signal: AbortSignal): Promise<ExtensionTask | undefined>;
  /** Takes the answers it knows and ignores the others. @returns false for a task that does not exist. */
  update(taskId: string, answers: Record<string, unknown>, signal: AbortSignal): Promise<boolean>;
  /** Cooperative; a task that has ended stays as it is. @returns false for a task that does not exist. */
  cancel(taskId: string, signal: AbortSignal): Promise<boolean>;
}

/** Whether this very request declares the extension. */
export function declaresTasks(ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  const declared = envelope?.['io.modelcontextprotocol/clientCapabilities'] as { extensions?: object } | undefined;
  return declared?.extensions !== undefined && Object.hasOwn(declared.extensions, TASKS_EXTENSION);
}

/** What a `tools/call` answers when it started a task. */
export function createTaskResult(task: ExtensionTask): Record<string, unknown> {
  const { result: _result, error: _error, inputRequests: _requests, ...created } = task;
  return { resultType: 'task', ...created };
}

const TaskId = v.object({ taskId: v.pipe(v.string(), v.maxLength(256)) });
const Answers = v.object({ ...TaskId.entries, inputResponses: v.optional(v.record(v.string(), v.unknown()), {}) });

export function attachTasks(server: Server, tasks: ExtensionTasks): void {
  server.registerCapabilities({ extensions: { [TASKS_EXTENSION]: {} } });

  server.setRequestHandler('tasks/get', { params: TaskId }, async ({ taskId }, ctx) => {
    needDeclaration(ctx);
    return { ...((await tasks.get(taskId, ctx.mcpReq.signal)) ?? unknownTask()) };
  });
  server.setRequestHandler('tasks/update', { params: Answers }, async ({ taskId, inputResponses }, ctx) => {
    needDeclaration(ctx);
    // The protocol layer lifts answers out of the parameters where it knows them.
    const answers = { ...inputResponses, ...(ctx.mcpReq.inputResponses as Record<string, unknown> | undefined) };
    if (!(await tasks.update(taskId, answers, ctx.mcpReq.signal))) unknownTask();
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: TaskId }, async ({ taskId }, ctx) => {
    needDeclaration(ctx);
    if (!(await tasks.cancel(taskId, ctx.mcpReq.signal))) unknownTask();
    return {};
  });
}

export function missingTasksExtension(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}

function needDeclaration(ctx: ServerContext): void {
  if (!declaresTasks(ctx)) throw missingTasksExtension();
}

function unknownTask(): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such task.');
}
