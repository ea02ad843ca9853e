/** The suite's task fixtures, behind the host's own handling of the tasks extension. */
import { randomUUID } from 'node:crypto';
import type { ServerContext } from '@modelcontextprotocol/server';
import {
  createTaskResult,
  declaresTasks,
  type ExtensionTask,
  type ExtensionTasks,
  missingTasksExtension,
} from '../../host/api/mcp/task-extension.ts';

type Json = Record<string, unknown>;
type Work = (task: Running) => Promise<Json>;

interface Running extends ExtensionTask {
  /** Resolves when every named question was answered. */
  ask(requests: Json): Promise<Json>;
  stopped: AbortSignal;
}

const tasks = new Map<string, { view: Running; answers: Json; answered: () => void; stop: AbortController }>();
const said = (words: string): Json => ({ content: [{ type: 'text', text: words }] });
const ended = (task: ExtensionTask) => ['completed', 'failed', 'cancelled'].includes(task.status);

export const extensionTasksOfSuite: ExtensionTasks = {
  async get(taskId) {
    const found = tasks.get(taskId);
    if (!found) return undefined;
    const { ask: _ask, stopped: _stopped, ...view } = found.view;
    return view;
  },
  async update(taskId, answers) {
    const found = tasks.get(taskId);
    if (!found) return false;
    const pending = found.view.inputRequests ?? {};
    for (const key of Object.keys(answers))
      if (key in pending) {
        found.answers[key] = answers[key];
        delete pending[key];
      }
    if (Object.keys(pending).length === 0) found.answered();
    return true;
  },
  async cancel(taskId) {
    const found = tasks.get(taskId);
    if (!found) return false;
    if (!ended(found.view)) {
      found.view.status = 'cancelled';
      found.stop.abort();
    }
    return true;
  },
};

function begin(work: Work): Running {
  const stop = new AbortController();
  const now = new Date().toISOString();
  const entry = { answers: {} as Json, answered: () => {}, stop } as {
    view: Running;
    answers: Json;
    answered: () => void;
    stop: AbortController;
  };
  entry.view = {
    taskId: randomUUID(),
    status: 'working',
    createdAt: now,
    lastUpdatedAt: now,
    ttlMs: 60_000,
    pollIntervalMs: 100,
    stopped: stop.signal,
    async ask(requests) {
      entry.answers = {};
      Object.assign(entry.view, { status: 'input_required', inputRequests: requests });
      await new Promise<void>((resolve) => {
        entry.answered = resolve;
      });
      entry.view.status = 'working';
      delete entry.view.inputRequests;
      return entry.answers;
    },
  };
  tasks.set(entry.view.taskId, entry);
  work(entry.view).then(
    (result) => {
      if (!ended(entry.view)) Object.assign(entry.view, { status: 'completed', result });
    },
    (error: Error) => {
      if (!ended(entry.view))
        Object.assign(entry.view, { status: 'failed', error: { code: -32603, message: error.message } });
    },
  );
  return entry.view;
}

const sleep = (seconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

const confirm = (message: string) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] },
  },
});

const works: Record<string, (args: Json) => Work> = {
  slow_compute:
    ({ seconds }) =>
    async (task) => {
      await sleep(Number(seconds ?? 1), task.stopped);
      return said('Computed.');
    },
  failing_job: () => async (task) => {
    await sleep(0.3, task.stopped);
    return { ...said('The job failed.'), isError: true };
  },
  protocol_error_job: () => async (task) => {
    await sleep(0.1, task.stopped);
    throw new Error('The job broke.');
  },
  confirm_delete: () => async (task) => {
    await task.ask({ [randomUUID()]: confirm('Delete it?') });
    return said('Deleted.');
  },
  multi_input: () => async (task) => {
    await task.ask({ [randomUUID()]: confirm('First?'), [randomUUID()]: confirm('Second?') });
    return said('Both answered.');
  },
  test_tool_with_task:
    ({ name }) =>
    async () =>
      said(`Hello, ${String(name)}!`),
};
/** Tools that cannot work without the extension. */
const REQUIRED = new Set(['failing_job', 'test_tool_with_task']);

export const taskToolNames = Object.keys(works);

export async function callTaskTool(name: string, args: Json, ctx: ServerContext): Promise<Json | undefined> {
  const make = works[name];
  if (!make) return undefined;
  const declared = declaresTasks(ctx);
  if (!declared && REQUIRED.has(name)) throw missingTasksExtension();
  let given = args;
  if (name === 'test_tool_with_task') {
    const answer = ctx.mcpReq.inputResponses?.user_name as { content?: { name?: unknown } } | undefined;
    if (answer?.content?.name === undefined)
      return {
        resultType: 'input_required',
        inputRequests: {
          user_name: {
            method: 'elicitation/create',
            params: {
              mode: 'form',
              message: 'What is your name?',
              requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
            },
          },
        },
      };
    given = { name: answer.content.name };
  }
  if (declared) {
    const { ask: _ask, stopped: _stopped, ...view } = begin(make(given));
    return createTaskResult(view);
  }
  const task = begin(make(given));
  while (!ended(task)) await sleep(0.05, ctx.mcpReq.signal);
  return task.result ?? { ...said('Failed.'), isError: true };
}
