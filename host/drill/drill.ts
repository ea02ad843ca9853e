/**
 * The drill: one task on a fixture page, again and again, with the host killed at each moment around each call it makes.
 * After every kill a new host on the same data has to know where the task stands, and the page must never see an action
 * twice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyAudit } from '../../core/receipts/audit-verification.ts';
import { openLmdbStore } from '../../core/store/lmdb-store.ts';
import type { TaskSnapshot } from '../../sdk/contract/task.ts';
import type { ReceiptView, StatusReply } from '../tasks/service.ts';
import { isActive } from '../tasks/transitions.ts';
import { type Call, type FixtureDevice, type Moment, startFixtureDevice } from './fixture-device.ts';
import { startThrowawayHost, type ThrowawayProcess } from './throwaway-process.ts';

const BUTTONS = ['first', 'second'];
export interface DrillRow {
  /** Where the host was killed, in words. */
  point: string;
  /** State and outcome that the next host found. */
  found: string;
  /** Presses that reached the page before the kill, and after it. */
  sent: string;
  /** What did not hold; empty when all is well. */
  broken: string[];
}

export interface DrillOptions {
  /** Told each row as it is known. */
  row?(row: DrillRow): void;
  signal?: AbortSignal;
  /** The built throwaway-host.js; default: the one beside this file. */
  entry?: string;
}

export async function drill({ row = () => {}, signal, entry }: DrillOptions = {}): Promise<DrillRow[]> {
  let at: (moment: Moment, call: Call) => Promise<void> = async () => {};
  const device = await startFixtureDevice({ buttons: BUTTONS, at: (moment, call) => at(moment, call) });
  const rows: DrillRow[] = [];
  try {
    const moments: string[] = [];
    at = async (moment, call) => void moments.push(`${call.name}, ${WORDS[moment]}`);
    await undisturbed(device, entry);
    const points = ['the task was accepted', ...moments];
    for (const [index, point] of points.entries()) {
      if (signal?.aborted) break;
      const done = await killedAt(
        device,
        index,
        `${index}. ${point}`,
        (hook) => {
          at = hook;
        },
        entry,
      );
      rows.push(done);
      row(done);
    }
  } finally {
    await device.close();
  }
  return rows;
}

const WORDS: Record<Moment, string> = {
  arrived: 'sent, nothing done yet',
  done: 'done, not answered',
  answered: 'answered',
};

async function undisturbed(device: FixtureDevice, entry: string | undefined): Promise<void> {
  await inDirectory(async (directory) => {
    device.reset();
    const host = await startThrowawayHost(directory, device.url, entry);
    const task = await settledTask(host, await spawn(host));
    await host.stop();
    if (task.outcome !== 'candidate') throw new Error(`The undisturbed run ended as ${task.state} (${task.outcome}).`);
  });
}

/** @param index 0: right after the task was accepted; n: at the n-th moment of the undisturbed run. */
async function killedAt(
  device: FixtureDevice,
  index: number,
  point: string,
  hook: (at: () => Promise<void>) => void,
  entry: string | undefined,
): Promise<DrillRow> {
  return inDirectory(async (directory) => {
    device.reset();
    hook(async () => {});
    const victim = await startThrowawayHost(directory, device.url, entry);
    let left = index;
    if (index > 0) {
      hook(async () => {
        left -= 1;
        if (left === 0) await victim.kill();
      });
    }
    const taskId = await spawn(victim).catch(() => '');
    const over = index === 0 || taskId === '' ? undefined : settledTask(victim, taskId).catch(() => {});
    if (over) await Promise.race([victim.gone, over]);
    await victim.kill();
    hook(async () => {});
    // A dead host's lease lasts a minute on a real device; the drill does not wait for it.
    device.dropLease();
    const before = pressed(device);

    const host = await startThrowawayHost(directory, device.url, entry);
    const known = await host.ask<StatusReply>('status', {});
    const task = known.tasks?.[0];
    const broken: string[] = [];
    if (task) broken.push(...(await finish(host, task)));
    else if (taskId !== '') broken.push('the accepted task is gone');
    const receipts = task ? await host.ask<ReceiptView[]>('receipts', { taskId: task.taskId }) : [];
    await host.stop();
    broken.push(...against(device, receipts), ...(await chain(directory)));
    const found = task ? `${task.state}${task.outcome ? ` (${task.outcome})` : ''}` : 'no task';
    return { point, found, sent: `${before} before, ${pressed(device) - before} after`, broken };
  });
}

/** Brings the task to its end as an agent may: by reading, and by what reading allows. */
async function finish(host: ThrowawayProcess, found: TaskSnapshot): Promise<string[]> {
  const task = found.state === 'queued' || isActive(found.state) ? await settledTask(host, found.taskId) : found;
  const { taskId, revision: expectedRevision } = task;
  if (task.state !== 'needs_reconciliation') return [];
  const { evidence } = await host.ask<StatusReply>('status', { taskId, evidence: 'fresh' });
  const proof = { expectedRequestId: evidence?.requestId, evidenceId: evidence?.evidenceId };
  const mode = task.outcome === 'candidate' ? 'verify_browser' : 'reconcile_browser';
  const order = { taskId, expectedRevision, mode, instruction: 'Press what is left', ...proof };
  const accepted = await host.ask<TaskSnapshot>('update', order).catch(() => undefined);
  if (!accepted) return [];
  const last = await settledTask(host, taskId);
  return last.outcome === 'candidate' || last.outcome === 'verified'
    ? []
    : [`ended as ${last.state} (${last.outcome})`];
}

async function spawn(host: ThrowawayProcess): Promise<string> {
  const { targets } = await host.ask<{ targets: { session_id: string }[] }>('discover');
  const request = { title: 'Drill', instructions: 'Press every button once', adapter: 'browser', requestId: 'drill' };
  const { taskId } = await host.ask<TaskSnapshot>('spawn', { ...request, targetId: targets[0]?.session_id });
  return taskId;
}

async function settledTask(host: ThrowawayProcess, taskId: string): Promise<TaskSnapshot> {
  let afterVersion = 0;
  for (;;) {
    const { task } = await host.ask<StatusReply>('status', { taskId, waitMs: 10_000, afterVersion });
    if (!task) throw new Error('The task is gone.');
    if (task.state !== 'queued' && !isActive(task.state)) return task;
    afterVersion = task.stateVersion;
  }
}

const pressed = (device: FixtureDevice): number => [...device.presses.values()].reduce((sum, times) => sum + times, 0);

function against(device: FixtureDevice, receipts: readonly ReceiptView[]): string[] {
  const recorded = new Set(receipts.flatMap((receipt) => receipt.mutations.map((one) => one.operationId)));
  return [
    ...[...device.presses].filter(([, times]) => times > 1).map(([button]) => `"${button}" was pressed twice`),
    ...[...device.effects].filter(([, times]) => times > 1).map(([id]) => `operation ${id} took effect twice`),
    ...[...device.effects.keys()].filter((id) => !recorded.has(id)).map((id) => `operation ${id} is not on record`),
  ];
}

async function chain(directory: string): Promise<string[]> {
  const store = await openLmdbStore({ directory: join(directory, 'store') });
  const { whole, problems } = verifyAudit(store);
  await store.close();
  return whole ? [] : problems.map((problem) => problem.says);
}

async function inDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'jev-host-drill-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
