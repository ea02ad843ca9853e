/**
 * The evaluation service: one request, checked, queued, sent once, and its answer held against the questions.
 *
 * Threat: access is withdrawn while a request waits or is on its way. It is therefore asked four times (before queueing,
 * after it, after the credential, before the answer is handed out), always of the live configuration, while everything
 * else of the request keeps the generation it began with. An answer that comes too late is dropped.
 */
import type { Dispatcher } from 'undici';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { JevRequest, JevResult } from '../../sdk/contract/jev.ts';
import { type AgentJevAccess, jevAllowed } from './access.ts';
import { validateAnswer } from './answer-validation.ts';
import { type JevConfig, questionsAllowed } from './config.ts';
import { type ConnectionSources, connect } from './connection.ts';
import { Deadline, type EndSignal } from './deadline.ts';
import { type DecisionLog, decisionsOf } from './decisions.ts';
import { sendToProvider } from './provider-request.ts';
import { createQueue } from './queue.ts';
import { createRequestLedger, type LedgerEntry } from './request-ledger.ts';
import { type QuestionPlan, validateRequest } from './request-validation.ts';
import type { EvaluateOptions, JevCaller, JevService } from './service.ts';
import { hashPrincipal, type UsageLog, type UsageRecord } from './usage.ts';
import { wireBody, wireRequestId } from './wire-request.ts';

export interface JevServiceDeps {
  /** The live section; each evaluation captures it once. */
  config(): JevConfig | undefined;
  /** The agent's live entry, or undefined when there is no such agent. */
  agent(agentId: string): AgentJevAccess | undefined;
  sources: ConnectionSources;
  dispatcher: Dispatcher;
  /** `now`: milliseconds since the epoch. `elapsed`: milliseconds that never go back. */
  clock: { now(): number; elapsed(): number };
  ids(): string;
  usage?: UsageLog;
  decisions?: DecisionLog;
  /** One line per evaluation that failed; metadata only. */
  log?(event: Record<string, unknown>): void;
}

export interface JevStats {
  active: number;
  waiting: number;
  completed: number;
  /** How many failed, by code. */
  failed: Readonly<Record<string, number>>;
  /** How many answers were refused, by reason. */
  refused: Readonly<Record<string, number>>;
}

export interface JevEvaluationService extends JevService {
  stats(): JevStats;
}

interface Running {
  config: JevConfig;
  caller: JevCaller;
  /** What the answer is held against. */
  plan: readonly QuestionPlan[];
  images: boolean;
  /** The texts of state and questions stand here alone, so that a waiting request holds them once. */
  body: Buffer;
  wireId: string;
  requestId: string;
  model: string;
  authorized: (() => boolean) | undefined;
  signal: EndSignal;
  startedAt: number;
  began: number;
  /** When the request left, by the clock that never goes back. */
  sentAt?: number;
}

export function createJevService(deps: JevServiceDeps): JevEvaluationService {
  const idle = { maxConcurrentRequests: 1, maxQueueSize: 0 };
  const queue = createQueue(() => deps.config() ?? idle);
  const ledger = createRequestLedger(deps.clock.elapsed);
  const failed: Record<string, number> = {};
  const refused: Record<string, number> = {};
  let completed = 0;

  const allowed = (agentId: string): boolean => jevAllowed(deps.config(), agentId, deps.agent(agentId));
  const checkAccess = (run: Pick<Running, 'caller' | 'authorized'>): void => {
    if (!allowed(run.caller.agentId) || run.authorized?.() === false) refuse('JEV_ACCESS_DENIED');
  };

  async function evaluate(request: JevRequest, caller: JevCaller, options: EvaluateOptions = {}): Promise<JevResult> {
    const startedAt = deps.clock.now();
    const began = deps.clock.elapsed();
    let run: Running | undefined;
    let entry: LedgerEntry | undefined;
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    let leave: (() => void) | undefined;
    try {
      if (options.signal?.aborted) refuse('JEV_CANCELLED');
      const config = deps.config();
      if (config?.enabled !== true) refuse('JEV_DISABLED');
      checkAccess({ caller, authorized: options.authorized });
      const { maxInputBytes, images } = config;
      const maxQuestions = questionsAllowed(config, caller.consumer === 'program');
      const valid = validateRequest(request, { maxInputBytes, maxQuestions, images });
      if (config.provider === 'upstream' && valid.needsImages) {
        refuse('JEV_INVALID_REQUEST', { problem: 'images are for the typesafe provider' });
      }
      const model = valid.needsImages ? config.images.model : config.model;
      if (model === undefined) refuse('JEV_INVALID_CONFIG', { problem: 'model is missing' });
      if (valid.requestId !== undefined) entry = ledger.begin(caller, valid.requestId);

      const deadline = new Deadline();
      timer = setTimeout(() => deadline.abort(new HostError('JEV_DEADLINE_EXCEEDED')), config.timeoutMs);
      onAbort = () => deadline.abort(new HostError('JEV_CANCELLED'));
      options.signal?.addEventListener('abort', onAbort, { once: true });

      const requestId = valid.requestId ?? deps.ids();
      const { authorized } = options;
      const wireId = wireRequestId(caller.principalId, caller.agentId, requestId);
      const base: Running = {
        config,
        caller,
        plan: valid.plan,
        images: valid.needsImages,
        body: wireBody(config.provider, model, wireId, valid),
        wireId,
        requestId,
        model,
        authorized,
        signal: deadline,
        startedAt,
        began,
      };
      const slot = queue.enter(config, deadline);
      leave = typeof slot === 'function' ? slot : await slot;
      run = base;
      const result = await send(run);
      completed += 1;
      record(run, result);
      return result;
    } catch (error) {
      const failure = asJevError(error);
      settleFailure(failure, run, caller, startedAt, began);
      throw failure;
    } finally {
      leave?.();
      clearTimeout(timer);
      if (onAbort) options.signal?.removeEventListener('abort', onAbort);
      if (run?.sentAt === undefined) entry?.release();
      else entry?.settle();
    }
  }

  async function send(run: Running): Promise<JevResult> {
    const { config, plan, images, body, wireId, requestId, model, signal } = run;
    checkAccess(run);
    const connection = await orAborted(connect(config, deps.sources, signal), signal);
    checkAccess(run);
    run.sentAt = deps.clock.elapsed();
    const answer = await sendToProvider(deps.dispatcher, {
      provider: config.provider,
      connection,
      wireRequestId: wireId,
      body,
      images,
      signal,
    });
    const valid = validateAnswer(answer, { plan, requestedModel: model, wireRequestId: wireId });
    // A deadline or a cancellation that came while the answer was being read still counts.
    if (signal.aborted) throw signal.reason;
    checkAccess(run);
    return { requestId, requestedModel: model, ...valid };
  }

  function record(run: Running, result: JevResult): void {
    deps.usage?.add({
      ...measured(run),
      outcome: 'completed',
      model: result.model,
      usage: result.usage,
      ...(result.billing ? { billing: result.billing } : {}),
    });
    const { caller } = run;
    deps.decisions?.add({
      requestId: run.requestId,
      agentId: caller.agentId,
      ...(caller.taskId === undefined ? {} : { taskId: caller.taskId }),
      ...(caller.pluginId === undefined ? {} : { pluginId: caller.pluginId }),
      consumer: caller.consumer,
      model: result.model,
      startedAt: run.startedAt,
      decisions: decisionsOf(run.plan, result.answers),
    });
  }

  function settleFailure(
    failure: HostError,
    run: Running | undefined,
    caller: JevCaller,
    startedAt: number,
    began: number,
  ): void {
    const { validationReason } = failure.details;
    failed[failure.code] = (failed[failure.code] ?? 0) + 1;
    const reason = typeof validationReason === 'string' ? { validationReason } : {};
    if (typeof validationReason === 'string') refused[validationReason] = (refused[validationReason] ?? 0) + 1;
    // Only what held a slot is a measurement; otherwise refused callers could push the real ones out.
    if (run) deps.usage?.add({ ...measured(run), outcome: 'failed', errorCode: failure.code, ...reason });
    deps.log?.({
      event: 'jev_evaluation_failed',
      requestId: run?.requestId,
      consumer: caller.consumer,
      agentId: caller.agentId,
      taskId: caller.taskId,
      errorCode: failure.code,
      ...reason,
      startedAt,
      elapsedMs: round(deps.clock.elapsed() - began),
    });
  }

  function measured(run: Running): Omit<UsageRecord, 'outcome'> {
    const { caller, config } = run;
    const now = deps.clock.elapsed();
    const record: Omit<UsageRecord, 'outcome'> = {
      requestId: run.requestId,
      principalId: hashPrincipal(caller.principalId),
      agentId: caller.agentId,
      consumer: caller.consumer,
      provider: config.provider,
      requestedModel: run.model,
      startedAt: run.startedAt,
      elapsedMs: round(now - run.began),
      questions: run.plan.length,
    };
    if (caller.sessionId !== undefined) record.sessionId = caller.sessionId;
    if (caller.taskId !== undefined) record.taskId = caller.taskId;
    if (caller.pluginId !== undefined) record.pluginId = caller.pluginId;
    if (run.sentAt !== undefined) record.providerMs = round(now - run.sentAt);
    return record;
  }

  return {
    evaluate,
    allowed,
    stats: () => ({
      active: queue.active,
      waiting: queue.waiting,
      completed,
      failed: { ...failed },
      refused: { ...refused },
    }),
  };
}

/** A credential on a dead network drive must not outlast the deadline. */
function orAborted<T>(work: Promise<T>, signal: EndSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Anything unforeseen is a failure of the provider side; its text stays inside. */
function asJevError(error: unknown): HostError {
  if (isHostError(error)) return error;
  return new HostError('JEV_PROVIDER_UNAVAILABLE', {}, { cause: error });
}

const round = (ms: number): number => Math.round(ms * 100) / 100;
