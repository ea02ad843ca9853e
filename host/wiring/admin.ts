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

/** Records that are read before others get a turn. */
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
      const page = await newest(store, offset + limit);
      return { tasks: page.slice(offset).map(snapshot), total: tasks.count() };
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

/** The newest tasks, newest first. Reads every record, in turns: for an operator's eye, not for a hot path. */
async function newest(store: Store, count: number): Promise<TaskRecord[]> {
  let found: TaskRecord[] = [];
  let read = 0;
  const trim = () => {
    found = found.sort((a, b) => b.createdAt - a.createdAt).slice(0, count);
  };
  for (const { value } of store.table<TaskRecord>(taskTables.tasks).range()) {
    found.push(value);
    read += 1;
    if (read % TURN !== 0) continue;
    trim();
    await new Promise((resolve) => setImmediate(resolve));
  }
  trim();
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
