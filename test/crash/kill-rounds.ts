/**
 * Kills a host at random moments while it works, and checks what must hold anyway. Everything random comes from one seed,
 * which the failing run names.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyAudit } from '../../core/receipts/audit-verification.ts';
import type { Mutation } from '../../core/receipts/receipt.ts';
import { receiptTables } from '../../core/receipts/receipts.ts';
import { type TaskRecord, taskTables } from '../../core/receipts/task-record.ts';
import { openLmdbStore } from '../../core/store/lmdb-store.ts';
import { startFixtureDevice } from '../../host/drill/fixture-device.ts';
import { NoAnswer, startThrowawayHost, type ThrowawayProcess } from '../../host/drill/throwaway-process.ts';
import type { StatusReply } from '../../host/tasks/service.ts';
import { isActive } from '../../host/tasks/transitions.ts';
import type { TaskSnapshot } from '../../sdk/contract/task.ts';

const ENTRY = join(import.meta.dirname, '../../dist/host/drill/throwaway-host.js');
/** Lives of the host in which nothing gets done before the run counts as stuck. */
const MAX_IDLE_LIVES = 60;

export interface KillReport {
  kills: number;
  orders: number;
  confirmed: number;
  inDoubt: number;
  /** What did not hold; empty when all is well. */
  broken: string[];
}

export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export async function killRounds(seed: number, kills: number): Promise<KillReport> {
  const random = randomFrom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const directory = mkdtempSync(join(tmpdir(), 'kill-'));
  const executed = new Map<string, number>();
  const broken: string[] = [];
  let victim: ThrowawayProcess | undefined;
  let countdown = Number.POSITIVE_INFINITY;
  const device = await startFixtureDevice({
    buttons: [],
    // A killed host cannot give its lease back. Real time would decide whether a living one keeps its own, so it does not.
    leasesEndAtOnce: true,
    fault: () => (random() < 0.15 ? 'delay' : undefined),
    async at() {
      if (--countdown === 0) await victim?.kill();
    },
  });

  let order = 0;
  let inDoubt = 0;
  const begin = () => {
    order += 1;
    device.reset(Array.from({ length: 1 + pick(4) }, (_, i) => `order-${order}-${i}`));
  };
  /** Takes what the device counted into the books of the whole run. */
  const collect = () => {
    for (const [id, times] of device.effects) {
      executed.set(id, (executed.get(id) ?? 0) + times);
      if (times > 1) broken.push(`operation ${id} took effect ${times} times`);
    }
    for (const [button, times] of device.presses) if (times > 1) broken.push(`${button} was pressed ${times} times`);
  };

  begin();
  let killed = 0;
  let idle = 0;
  let last = '';
  while (killed < kills && broken.length === 0) {
    countdown = Number.POSITIVE_INFINITY;
    const host = await startThrowawayHost(directory, device.url, ENTRY);
    victim = host;
    const kind = pick(3);
    if (kind === 0) countdown = 1 + pick(24);
    const timer = kind === 1 ? setTimeout(() => void host.kill(), pick(120)) : undefined;
    let answers = kind === 2 ? 1 + pick(10) : Number.POSITIVE_INFINITY;
    try {
      for (let life = 0; life < 200; life++) {
        const done = await advance(host, `order-${order}`);
        if (done === 'finished') {
          collect();
          begin();
        }
        if (done === 'doubt') {
          inDoubt += 1;
          collect();
          begin();
        }
        if (--answers <= 0) await host.kill();
      }
    } catch (error) {
      if (!(error instanceof NoAnswer) || error.code !== 'GONE') broken.push(`order ${order}: ${String(error)}`);
    }
    clearTimeout(timer);
    await host.kill();
    killed += 1;
    idle = last === `${order}` ? idle + 1 : 0;
    last = `${order}`;
    if (idle > MAX_IDLE_LIVES) broken.push(`order ${order} does not get on`);
  }
  collect();
  await device.close();
  broken.push(...(await inspectStore(join(directory, 'store'), device.url, executed, directory)));
  return {
    kills: killed,
    orders: order,
    confirmed: executed.size,
    inDoubt,
    broken: broken.map((one) => `seed ${seed}: ${one}`),
  };
}

/** One step of an agent that wants its order done and never repeats what is in doubt. */
async function advance(host: ThrowawayProcess, requestId: string): Promise<'on' | 'finished' | 'doubt'> {
  const task = await currentTask(host, requestId);
  const { taskId, revision: expectedRevision } = task;
  if (isActive(task.state) || task.state === 'queued') {
    await host.ask('status', { taskId, waitMs: 5000, afterVersion: task.stateVersion });
    return 'on';
  }
  if (task.state === 'failed' || task.state === 'waiting_input') {
    await acknowledge(host);
    await host.ask('update', { taskId, expectedRevision, instruction: 'Press what is left', mode: 'when_ready' });
    return 'on';
  }
  if (task.state !== 'needs_reconciliation') throw new Error(`unexpected state ${task.state}`);
  const { evidence } = await host.ask<StatusReply>('status', { taskId, evidence: 'fresh' });
  const proof = { expectedRequestId: evidence?.requestId, evidenceId: evidence?.evidenceId };
  const update = (mode: string, instruction: string) =>
    host.ask('update', { taskId, expectedRevision, mode, instruction, ...proof });
  if (task.outcome === 'candidate') {
    await update('verify_browser', String(evidence?.observation?.text));
    return 'finished';
  }
  try {
    await update('reconcile_browser', 'Press what is left');
    return 'on';
  } catch (error) {
    if (!(error instanceof NoAnswer) || error.code !== 'BROWSER_VERIFICATION_UNAVAILABLE') throw error;
    await host.ask('cancel', { taskId });
    return 'doubt';
  }
}

async function currentTask(host: ThrowawayProcess, requestId: string): Promise<TaskSnapshot> {
  const discovered = await host.ask<{ targets: { session_id: string }[] }>('discover');
  const targetId = discovered.targets[0]?.session_id ?? '';
  const spawned = await host.ask<TaskSnapshot>('spawn', {
    ...{ title: requestId, instructions: 'Press every button once', adapter: 'browser', targetId, requestId },
  });
  return spawned;
}

async function acknowledge(host: ThrowawayProcess): Promise<void> {
  const { notices } = await host.ask<StatusReply>('status', {});
  await host.ask('status', { acknowledge: notices.map((notice) => notice.noticeId) });
}

/** The books against what the device counted. */
async function inspectStore(
  path: string,
  url: string,
  executed: Map<string, number>,
  directory: string,
): Promise<string[]> {
  const broken: string[] = [];
  // One more start, so that recovery has seen the last kill.
  const host = await startThrowawayHost(directory, url, ENTRY);
  await host.stop();
  const store = await openLmdbStore({ directory: path });
  const mutations = [...store.table<Mutation>(receiptTables.mutations).range()].map((row) => row.value);
  const recorded = new Set(mutations.map((one) => one.operationId));
  for (const id of executed.keys()) if (!recorded.has(id)) broken.push(`effect ${id} is not on record`);
  for (const one of mutations) {
    const happened = executed.has(one.operationId);
    if (one.outcome === 'confirmed' && !happened) broken.push(`${one.operationId} is confirmed and never happened`);
    if (one.outcome === 'not_executed' && happened)
      broken.push(`${one.operationId} happened and is recorded as not executed`);
  }
  const tasks = [...store.table<TaskRecord>(taskTables.tasks).range()].map((row) => row.value);
  for (const task of tasks) if (isActive(task.state)) broken.push(`task ${task.taskId} is ${task.state} in no process`);
  const titles = tasks.map((task) => task.title);
  if (new Set(titles).size !== titles.length) broken.push('a request made two tasks');
  const audit = verifyAudit(store);
  if (!audit.whole) broken.push(`the audit chain: ${JSON.stringify(audit)}`);
  await store.close();
  return broken;
}
