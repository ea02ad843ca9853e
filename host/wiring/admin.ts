/** What an operator reads across all principals. */
import type { DependencyContainer } from 'tsyringe';
import { createAuditLog } from '../../core/receipts/audit-log.ts';
import { verifyAuditInTurns } from '../../core/receipts/audit-verification.ts';
import { createReceipts, type Receipts } from '../../core/receipts/receipts.ts';
import { type TaskRecord, type TaskRevision, taskTables } from '../../core/receipts/task-record.ts';
import type { Store } from '../../core/store/store.ts';
import { HostError, isHostError } from '../../sdk/contract/errors.ts';
import type { TaskSnapshot } from '../../sdk/contract/task.ts';
import type { Admin } from '../api/ports.ts';
import type { ReceiptView } from '../tasks/service.ts';
import { snapshotOf } from '../tasks/snapshot.ts';
import { PLUGINS, STORE } from '../tokens.ts';

/** Keys that are walked over before others get a turn. */
const TURN = 500;

export function adminReads(from: DependencyContainer): Admin {
  const store = from.resolve(STORE);
  const plugins = from.resolve(PLUGINS);
  const audit = createAuditLog(store);
  const receipts = createReceipts({ store, audit, clock: { now: Date.now } });
  const tasks = store.table<TaskRecord>(taskTables.tasks);
  const revisions = store.table<TaskRevision>(taskTables.revisions);
  const snapshot = (task: TaskRecord): TaskSnapshot =>
    snapshotOf(task, revisions.get([task.taskId, task.revision]), Date.now());

  return {
    async tasks({ limit, offset }) {
      const page = await newest(store, { limit, offset });
      return { tasks: page.map(snapshot), total: tasks.count() };
    },
    async receipts(taskId) {
      const task = tasks.get([taskId]);
      return task && { task: snapshot(task), receipts: views(receipts, taskId) };
    },
    verifyAudit: (head) => verifyAuditInTurns(store, head),
    audit: async (range) => [...audit.entries(range)],
    async backup(directory) {
      try {
        await store.backup(directory);
      } catch (error) {
        if (isHostError(error)) throw error;
        const problem = (error as NodeJS.ErrnoException).code ?? 'unknown';
        throw new HostError('BACKUP_FAILED', { directory, problem }, { cause: error });
      }
    },
    plugins: () => plugins.list(),
    approvePlugin: (pluginId) => plugins.approve(pluginId),
    enablePlugin: (pluginId) => plugins.enable(pluginId),
  };
}

/** The newest tasks, newest first. A far page walks over many keys, so others get their turn. */
async function newest(store: Store, { limit, offset }: { limit: number; offset: number }): Promise<TaskRecord[]> {
  const tasks = store.table<TaskRecord>(taskTables.tasks);
  const found: TaskRecord[] = [];
  let walked = 0;
  for (const { key } of store.table<null>(taskTables.byTime).range({ reverse: true })) {
    if (++walked % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const task = walked > offset ? tasks.get([String(key[1])]) : undefined;
    if (task) found.push(task);
    if (found.length >= limit) break;
  }
  return found;
}

function views(receipts: Receipts, taskId: string): ReceiptView[] {
  return receipts.list(taskId).map(({ requestId, revision, status, startedAt, endedAt, outcome, code }) => ({
    requestId,
    revision,
    status,
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    ...(outcome && { outcome }),
    ...(code && { code }),
    mutations: receipts.mutations(taskId, requestId).map(({ operationId, operation, recordedAt, outcome: ended }) => ({
      operationId,
      operation,
      recordedAt,
      ...(ended && { outcome: ended }),
    })),
  }));
}
