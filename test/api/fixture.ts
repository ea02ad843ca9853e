/** A real HTTP server with the rooms behind it played by small fakes. For tests of the surfaces alone. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { createAuthorization } from '../../core/authorization/authorization.ts';
import { createMemoryStore, type MemoryStore } from '../../core/store/memory-store.ts';
import { type Api, type ApiOptions, createApi } from '../../host/api/api.ts';
import { ApiConfig } from '../../host/api/config.ts';
import { createSessions } from '../../host/api/sessions.ts';
import { createTickets } from '../../host/api/tickets.ts';
import type { TaskEvent, TaskService } from '../../host/tasks/service.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import type { JevRequest } from '../../sdk/contract/jev.ts';
import type { Caller, SpawnRequest, TaskSnapshot } from '../../sdk/contract/task.ts';

export const KEYS = { reader: 'reader-key', writer: 'writer-key', admin: 'admin-key', both: 'both-key' };

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export interface Fixture {
  url: string;
  api: Api;
  tasks: FakeTasks;
  store: MemoryStore;
  logged: string[];
  /** Calls of the fake evaluation service. */
  evaluations: { request: JevRequest; principalId: string; agentId: string; signal: AbortSignal | undefined }[];
  http(
    method: string,
    path: string,
    options?: HttpOptions,
  ): Promise<{ status: number; body: ReturnType<typeof JSON.parse>; headers: Headers }>;
  close(): Promise<void>;
}

export interface HttpOptions {
  key?: string;
  body?: unknown;
  raw?: string;
  headers?: Record<string, string>;
}

export async function apiFixture(
  config: Partial<v.InferInput<typeof ApiConfig>> = {},
  options: Partial<ApiOptions> = {},
): Promise<Fixture> {
  const section = v.parse(ApiConfig, {
    port: 0,
    keys: [
      { id: 'reader', sha256: sha256(KEYS.reader), agents: ['assistant'], access: 'read' },
      { id: 'writer', sha256: sha256(KEYS.writer), agents: ['assistant'], access: 'write' },
      { id: 'admin', sha256: sha256(KEYS.admin), agents: ['assistant'], access: 'admin' },
      { id: 'both', sha256: sha256(KEYS.both), agents: '*', access: 'write' },
    ],
    ...config,
  });
  const agents = [{ id: 'assistant' }, { id: 'other' }];
  const authorization = createAuthorization({ keys: section.keys, agents });
  const access = {
    authenticate: authorization.authenticate,
    principal: authorization.principal,
    agents: () => agents.map(({ id }) => id),
    agentName: () => ({}),
  };
  const store = createMemoryStore();
  const tasks = createFakeTasks();
  const logged: string[] = [];
  const evaluations: Fixture['evaluations'] = [];
  const log = (level: string) => (details: Record<string, unknown>, text: string) =>
    void logged.push(`${level} ${text} ${JSON.stringify(details)}`);
  const api = createApi({
    config: () => section,
    access,
    store,
    sessions: createSessions(store, { now: Date.now, uuid: randomUUID }),
    tickets: createTickets(access, { now: Date.now, randomBytes }),
    jev: {
      allowed: () => true,
      async evaluate(request, caller, { signal } = {}) {
        evaluations.push({ request, principalId: caller.principalId, agentId: caller.agentId, signal });
        if (request.state === 'hang')
          await new Promise((_resolve, reject) =>
            signal?.addEventListener('abort', () => reject(new HostError('JEV_CANCELLED'))),
          );
        if (request.state === 'limited')
          throw new HostError('JEV_RATE_LIMITED', { status: 429, retryAfter: '7', resetAt: 'soon' });
        if (typeof request.state !== 'string') throw new HostError('JEV_INVALID_REQUEST', { path: 'state' });
        return {
          requestId: request.requestId ?? 'r1',
          requestedModel: 'm',
          model: 'm',
          answers: { a: { type: 'noul', noul: 1 } },
          usage: { input_tokens: 1, output_tokens: 1 },
        };
      },
    },
    usage: { list: async () => ({ records: [], total: 0 }) },
    tasks,
    plugins: { list: () => [], call: async () => ({}) },
    health: { ready: () => true, metrics: () => ['jev_host_tasks 0'] },
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    now: Date.now,
    randomBytes,
    uuid: randomUUID,
    version: '0.0.0',
    ...options,
  });
  const url = await api.listen();
  return {
    url,
    api,
    tasks,
    store,
    logged,
    evaluations,
    async http(method, path, { key, body, raw, headers } = {}) {
      const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(text !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(text !== undefined && { body: text }),
      });
      const answer = await response.text();
      return { status: response.status, headers: response.headers, body: parse(answer) };
    },
    close: () => api.close(),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface FakeTasks extends TaskService {
  spawned: { caller: Caller; request: SpawnRequest }[];
  calls: { method: string; args: unknown }[];
  emit(conversationId: string, type: string, data?: Record<string, unknown>): void;
  waiting: AbortSignal[];
  /** Event streams that were opened, and events that were pulled by all of them. */
  readers: number;
  pulled: number;
}

/** Keeps what it was asked; owns nothing, so that whatever reaches it has passed the surface. */
export function createFakeTasks(): FakeTasks {
  const spawned: FakeTasks['spawned'] = [];
  const calls: FakeTasks['calls'] = [];
  const waiting: AbortSignal[] = [];
  const known = new Map<string, { caller: Caller; task: TaskSnapshot; key: string | undefined; text: string }>();
  const events: TaskEvent[] = [];
  const wake = new Set<() => void>();

  const own = (caller: Caller, taskId: string) => {
    const found = known.get(taskId);
    if (!found || found.caller.conversationId !== caller.conversationId) throw new HostError('ACCESS_DENIED');
    return found.task;
  };
  const touch = (caller: Caller, method: string, args: { taskId: string }) => {
    calls.push({ method, args });
    const task = own(caller, args.taskId);
    task.stateVersion += 1;
    return task;
  };
  const fake: FakeTasks = {
    spawned,
    calls,
    waiting,
    readers: 0,
    pulled: 0,
    async start() {},
    async stop() {},
    async discover(_caller, query) {
      calls.push({ method: 'discover', args: query });
      return { targets: [{ adapter: 'browser', session_id: 'tab', name: 'A tab' }], nextOffset: null };
    },
    async spawn(caller, request) {
      const text = JSON.stringify(request);
      for (const earlier of known.values())
        if (request.requestId !== undefined && earlier.key === request.requestId) {
          if (earlier.text !== text) throw new HostError('IDEMPOTENCY_CONFLICT' as never);
          return earlier.task;
        }
      spawned.push({ caller, request });
      const task = snapshot(caller, request);
      known.set(task.taskId, { caller, task, key: request.requestId, text });
      return task;
    },
    async status(caller, query, signal) {
      calls.push({ method: 'status', args: query });
      if (query.waitMs) {
        waiting.push(signal);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, query.waitMs);
          signal.addEventListener('abort', () => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
      if (query.taskId === undefined)
        return {
          tasks: [...known.values()]
            .filter((entry) => entry.caller.conversationId === caller.conversationId)
            .map((entry) => entry.task),
          notices: [],
        };
      const task = own(caller, query.taskId);
      if (!query.evidence) return { task, notices: [] };
      return {
        task,
        notices: [],
        evidence: { requestId: 'task-1', recordedOnly: query.evidence === 'recorded', untrustedPageContent: true },
      };
    },
    update: async (caller, update) => touch(caller, 'update', update),
    answer: async (caller, answer) => touch(caller, 'answer', answer),
    cancel: async (caller, cancel) => touch(caller, 'cancel', cancel),
    control: async (caller, command) => touch(caller, 'control', command),
    speechRule: () => 'runs',
    message: async (caller, message) => {
      calls.push({ method: 'message', args: message });
      const taskId = message.executionTaskId;
      if (taskId === undefined) return { status: 'accepted', inputId: '00000000-0000-4000-8000-000000000001' };
      const { revision } = touch(caller, 'message', { taskId });
      return { status: 'applied', inputId: '00000000-0000-4000-8000-000000000002', taskId, revision };
    },
    async *events(caller, afterId, signal) {
      let last = afterId;
      fake.readers += 1;
      while (!signal.aborted) {
        const next = events.find((event) => event.id > last && event.conversationId === caller.conversationId);
        if (next) {
          last = next.id;
          fake.pulled += 1;
          yield next;
          continue;
        }
        await new Promise<void>((resolve) => {
          wake.add(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
    emit(conversationId, type, data = {}) {
      events.push({ id: events.length + 1, conversationId, agentId: 'assistant', type, at: Date.now(), data });
      for (const resolve of wake) resolve();
      wake.clear();
    },
  };
  return fake;
}

function snapshot(caller: Caller, request: SpawnRequest): TaskSnapshot {
  const now = Date.now();
  return {
    taskId: randomUUID(),
    conversationId: caller.conversationId,
    agentId: caller.agentId,
    agentSessionId: caller.sessionId,
    ownerPrincipalId: caller.principalId,
    title: request.title,
    targetProfile: 'gateway-managed',
    state: 'queued',
    stateVersion: 1,
    revision: 1,
    appliedRevision: 0,
    gatewayTarget: { adapter: request.adapter, sessionId: request.targetId, name: 'A tab' },
    automationController: 'agent',
    automationSession: { status: 'active', idleTimeoutMs: 1_800_000 },
    actionLog: [],
    currentInstructions: request.instructions,
    createdAt: now,
    updatedAt: now,
  };
}

export const SPAWN = {
  title: 'Buy',
  instructions: 'Buy one.',
  target_profile: 'gateway-managed',
  gateway_target: { adapter: 'browser', session_id: 'tab' },
};
