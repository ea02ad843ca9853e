/**
 * Takes queued tasks to their runs, in the order in which they came, one run per tab at a time, and brings the ends of
 * runs into the book.
 */
import type { RunReceipt } from '../../core/receipts/receipt.ts';
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import { isHostError } from '../../sdk/contract/errors.ts';
import { withDropped, withoutQueue } from './command-queue.ts';
import type { Room } from './deps.ts';
import { concludeRound } from './direct-round.ts';
import type { TaskTarget } from './ports.ts';
import { type RunningTask, type StopReason, startRun } from './run.ts';
import { judge } from './run-end.ts';
import { failureOf, settle } from './settlement.ts';
import { step } from './task-book.ts';

export interface Dispatcher {
  /** A task was queued, or a target became free. Returns at once. */
  wake(): void;
  begin(): void;
  running(taskId: string): boolean;
  stop(taskId: string, reason: StopReason): void;
  /** Resolves when nothing runs. Starts nothing more. */
  shutdown(): Promise<void>;
}

/** What a settled task means for the rest of the room: applied in the same turn, before the next dispatch. */
export type AfterSettle = (task: TaskRecord) => Promise<void>;

export function createDispatcher(room: Room, afterSettle: AfterSettle): Dispatcher {
  const { book, receipts, clock, ids } = room;
  const live = new Map<string, RunningTask>();
  /** Tabs with a run, by connector and exact scope: two targets can be the same tab. */
  const busy = new Set<string>();
  const waiting = new Map<string, true>();
  const works = new Set<Promise<void>>();
  let open = false;
  let passing: Promise<void> | undefined;
  let again = false;

  function wake(): void {
    if (!open) return;
    if (passing) {
      again = true;
      return;
    }
    passing = pass().finally(() => {
      passing = undefined;
      if (again) {
        again = false;
        wake();
      }
    });
  }

  async function pass(): Promise<void> {
    for (const taskId of [...book.queued()]) {
      if (!open || works.size >= room.runLimits.concurrentRuns) return;
      const task = live.has(taskId) || waiting.has(taskId) ? undefined : book.get(taskId);
      if (task?.state !== 'queued') continue;
      const plan = planOf(task);
      if ('code' in plan) {
        await refuseDispatch(task, plan.code).catch((error: unknown) => report('dispatch', task, error));
        continue;
      }
      if (busy.has(plan.tab)) continue;
      busy.add(plan.tab);
      waiting.set(task.taskId, true);
      const work = execute(task.taskId, plan)
        .catch((error: unknown) => report('run', task, error))
        .finally(() => {
          waiting.delete(task.taskId);
          busy.delete(plan.tab);
          works.delete(work);
          wake();
        });
      works.add(work);
    }
  }

  function report(where: string, task: TaskRecord, error: unknown): void {
    room.log?.(`task_${where}_failed`, { taskId: task.taskId, code: isHostError(error) ? error.code : 'INTERNAL' });
  }

  function planOf(task: TaskRecord): Plan | { code: string } {
    const { adapter, targetId } = task.target;
    if (!room.authorization.may(task, 'write', task)) return { code: 'ACCESS_DENIED' };
    const features = room.features();
    const enabled = adapter === 'browser' ? features.browserTasks : features.computerTasks;
    if (!enabled || !room.jev.allowed(task.agentId)) return { code: 'BROWSER_NOT_ALLOWED' };
    const target = room.targets.resolve(task, targetId);
    if (!target) return { code: 'BROWSER_TARGET_NOT_AVAILABLE' };
    const pluginId = room.plugins.controllerFor(adapter);
    if (!pluginId) return { code: 'GATEWAY_ADAPTER_UNAVAILABLE' };
    return { target, pluginId, tab: JSON.stringify([target.connectorId, Object.entries(target.scope).sort()]) };
  }

  const refuseDispatch = (task: TaskRecord, code: string) =>
    book.change(task.taskId, (current) => {
      if (current.state !== 'queued') return undefined;
      const failure = failureOf(code, undefined, clock.now());
      const dropped = withoutQueue(room, current);
      const text = withDropped(`Not done: ${failure.message}`, dropped.text);
      const record: TaskRecord = {
        ...step(dropped.record, 'refuseDispatch'),
        failure,
        outcome: code === 'ACCESS_DENIED' || code === 'BROWSER_NOT_ALLOWED' ? 'blocked_by_policy' : 'device_failure',
        session: { ...current.session, idleSince: clock.now() },
        progress: { text, observedAt: clock.now(), source: 'runtime' },
      };
      const { taskId, revision } = record;
      const notices = [{ kind: 'settled' as const, taskId, revision, text, code }];
      const { events, changes } = dropped;
      return { record, notices, events, changes, audit: 'task.refused', auditData: { code } };
    });

  async function execute(taskId: string, plan: Plan): Promise<void> {
    const attempt = ids.uuid();
    const requestId = `task-${attempt}`;
    let begun: { task: TaskRecord; revision: TaskRevision; receipt: RunReceipt } | undefined;
    const task = await book.change(taskId, (current) => {
      begun = undefined;
      const revision = book.revision(taskId, current.revision);
      if (current.state !== 'queued' || !revision || !open) return undefined;
      const receipt = receiptOf(current, requestId, plan, clock.now());
      const { outcome: _, failure: __, question: ___, ...kept } = step(current, 'dispatch');
      const record: TaskRecord = {
        ...kept,
        appliedRevision: current.revision,
        activeAttemptId: attempt,
        started: true,
        dispatch: { requestId, submittedAt: clock.now() },
      };
      // The start address is decided by the task as it was before this dispatch.
      begun = { task: { ...record, started: current.started }, revision, receipt };
      return { record, ...receipts.begin(receipt), audit: 'task.dispatched', auditData: { requestId } };
    });
    if (!begun || task.activeAttemptId !== attempt) return;
    await supervise(begun, plan);
  }

  async function supervise(
    begun: { task: TaskRecord; revision: TaskRevision; receipt: RunReceipt },
    plan: Plan,
  ): Promise<void> {
    const { taskId } = begun.task;
    let launching: Promise<unknown> = Promise.resolve();
    const run = startRun(room, {
      ...begun,
      ...{ target: plan.target, pluginId: plan.pluginId },
      launched: () => {
        launching = launch(taskId).catch(() => {});
      },
    });
    live.set(taskId, run);
    // What was asked for between the receipt and this moment.
    const now = book.get(taskId);
    if (now?.state === 'cancel_requested') run.stop('cancel');
    if (now?.state === 'interrupting') run.stop(now.control?.action === 'pause' ? 'pause' : 'supersede');
    const { end, context } = await run.ended;
    await launching;
    const judgement = judge(end, context);
    const settled = await book.change(taskId, (current) => {
      const receipt = receipts.get(taskId, begun.receipt.requestId);
      if (receipt?.status !== 'running') return undefined;
      const settlement = settle({
        ...{ task: current, revision: begun.revision, receipt, mutations: context.mutations, judgement },
        ...{ now: clock.now(), questionId: ids.uuid() },
      });
      const recorded = end.kind === 'result' ? [recordResult(room, receipt, end.value)] : [];
      const change = concludeRound(room, {
        ...{ before: current, revision: begun.revision, judgement, mutations: context.mutations },
        change: settlement.change,
      });
      return {
        ...change,
        changes: [
          ...(change.changes ?? []),
          ...receipts.replace(settlement.receipt, context.mutations, 'run.ended'),
          ...recorded,
        ],
      };
    });
    live.delete(taskId);
    await afterSettle(settled);
  }

  const launch = (taskId: string) =>
    book.change(taskId, (current) =>
      current.state === 'starting' ? { record: step(current, 'launch'), audit: 'task.launched' } : undefined,
    );

  return {
    wake,
    begin() {
      open = true;
      wake();
    },
    running: (taskId) => live.has(taskId),
    stop: (taskId, reason) => live.get(taskId)?.stop(reason),
    async shutdown() {
      open = false;
      await passing;
      for (const run of live.values()) run.stop('shutdown');
      while (works.size > 0) await Promise.all(works);
    },
  };
}

interface Plan {
  target: TaskTarget;
  pluginId: string;
  tab: string;
}

function receiptOf(task: TaskRecord, requestId: string, { target, pluginId }: Plan, now: number): RunReceipt {
  const { taskId, revision, agentId, principalId, conversationId } = task;
  return {
    ...{ taskId, requestId, revision, agentId, principalId, conversationId, pluginId },
    ...{ adapter: target.adapter, targetId: target.id, connectorId: target.connectorId },
    ...{ status: 'running', startedAt: now },
  };
}

/** Characters of a result that are kept for investigation. */
const MAX_RECORDED_CHARS = 1024 * 1024;

function recordResult(room: Room, receipt: RunReceipt, value: unknown) {
  const text = JSON.stringify(value) ?? 'null';
  const kept: unknown = text.length > MAX_RECORDED_CHARS ? null : JSON.parse(text);
  const key = [receipt.taskId, receipt.requestId];
  return room.store
    .table<RecordedResult>({ name: 'evidence', version: 1 })
    .put(key, { at: room.clock.now(), result: kept, tooLarge: kept === null && text !== 'null' });
}

/** The controller's full result with its last observation: private, for the owner and authorized investigation. */
export interface RecordedResult {
  at: number;
  result: unknown;
  tooLarge: boolean;
}
