/**
 * The whole task service against the table of states: random orders of calls, ends of runs, lost replies and kills, on a
 * device in memory. Every write of every task is looked at as it is made, whoever made it.
 *
 * `JEV_HOST_MODEL_RUNS=20000 JEV_HOST_SEED=5 npx vitest run test/tasks/model.test.ts` is a longer run.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAuditLog } from '../../core/receipts/audit-log.ts';
import { verifyAudit } from '../../core/receipts/audit-verification.ts';
import type { Mutation, RunReceipt } from '../../core/receipts/receipt.ts';
import { receiptTables } from '../../core/receipts/receipts.ts';
import { type TaskRecord, taskTables } from '../../core/receipts/task-record.ts';
import { asWrite, type Write } from '../../core/store/change.ts';
import { createMemoryStore } from '../../core/store/memory-store.ts';
import { decodeRecord } from '../../core/store/record-encoding.ts';
import type { Store } from '../../core/store/store.ts';
import { pressAll } from '../../host/drill/fixture-controller.ts';
import { createFixtureTab, FIXTURE_SCOPE } from '../../host/drill/fixture-device.ts';
import { isOpen, isUncertain } from '../../host/tasks/known-stops.ts';
import { isActive, transitions } from '../../host/tasks/transitions.ts';
import { HostError, isHostError } from '../../sdk/contract/errors.ts';
import { type Controller, caller, createTestRoom, result, settled } from './room.ts';

const RUNS = Number(process.env.JEV_HOST_MODEL_RUNS ?? 250);
const SEED = Number(process.env.JEV_HOST_SEED ?? 20_261_201);

const RUN_ENDS = ['all', 'one', 'claims', 'asks', 'fails', 'throws', 'waits', 'deaf'] as const;
type RunEnd = (typeof RUN_ENDS)[number];
const CALLS = [
  ...['cancel', 'go on', 'interrupt', 'verify', 'reconcile', 'answer', 'pause', 'resume', 'say', 'to agent', 'to user'],
  ...['kill', 'restart', 'lose a reply', 'half an hour', 'spawn again', 'settle'],
] as const;
type Step = { run: RunEnd } | { call: (typeof CALLS)[number] } | { turns: number };

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ run: fc.constantFrom(...RUN_ENDS) }) },
    { weight: 10, arbitrary: fc.record({ call: fc.constantFrom(...CALLS) }) },
    { weight: 6, arbitrary: fc.record({ turns: fc.integer({ min: 1, max: 40 }) }) },
  ) as fc.Arbitrary<Step>,
  { minLength: 4, maxLength: 24 },
);

const REACHED = [
  ...['queued > starting', 'starting > running', 'starting > interrupting', 'starting > needs_reconciliation'],
  ...['running > interrupting', 'running > cancel_requested', 'running > waiting_input', 'running > failed'],
  ...['running > needs_reconciliation', 'interrupting > queued', 'interrupting > waiting_input'],
  ...['cancel_requested > cancelled', 'cancel_requested > needs_reconciliation', 'waiting_input > queued'],
  ...['needs_reconciliation > completed', 'needs_reconciliation > queued', 'needs_reconciliation > cancelled'],
  ...['failed > queued', 'completed > queued', 'end completed', 'end cancelled', 'end waiting_input'],
];

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** Looks at each change of a task as it is committed. */
function watched(store: Store, seen: Set<string>): Store {
  const tasks = store.table<TaskRecord>(taskTables.tasks);
  const mutations = store.table<Mutation>(receiptTables.mutations);
  const stored = <T>(write: Write, name: string): T =>
    decodeRecord<T>(write.record?.(1) ?? Buffer.alloc(0), { name, version: 1 }).value;

  function check(before: TaskRecord | undefined, after: TaskRecord, writes: readonly Write[]): void {
    const of = <T>(name: string) =>
      writes.filter(({ table, record }) => table === name && record).map((write) => stored<T>(write, name));
    const told = of<{ type: string; taskId?: string; data: { task?: { stateVersion: number } } }>('events');
    const receipts = of<RunReceipt>('receipts').filter(({ taskId }) => taskId === after.taskId);
    const kinds = of<{ kind: string; taskId?: string }>('audit-outbox').map(({ kind }) => kind);
    const states = told.filter(({ type, taskId }) => type === 'task.state' && taskId === after.taskId);
    expect(states.map(({ data }) => data.task?.stateVersion)).toEqual([after.stateVersion]);
    expect(kinds.some((kind) => kind.startsWith('task.'))).toBe(true);
    if (!before) {
      expect(after).toMatchObject({ state: 'queued', stateVersion: 1, revision: 1 });
      return;
    }

    const way = `${before.state} > ${after.state}`;
    seen.add(way);
    expect(after.stateVersion).toBe(before.stateVersion + 1);
    expect(after.revision).toBeGreaterThanOrEqual(before.revision);
    expect(after.appliedRevision).toBeLessThanOrEqual(after.revision);
    if (after.state !== before.state)
      expect([way, Object.values(transitions[before.state])]).toEqual([way, expect.arrayContaining([after.state])]);
    // Nothing is at work without a receipt that was written with it, and no receipt is left open by what ends.
    if (!isActive(before.state) && isActive(after.state))
      expect(receipts.map(({ status }) => status)).toEqual(['running']);
    if (isActive(before.state) && !isActive(after.state))
      expect(receipts.map(({ status }) => status)).toEqual(['ended']);
    // Doubt is left only by reading, and by nothing while an operation is open.
    if (isUncertain(before) && !isUncertain(after)) {
      expect([way, kinds]).toEqual(['needs_reconciliation > queued', expect.arrayContaining(['task.reconciled'])]);
      const { requestId = '' } = before.dispatch ?? {};
      const open = [...mutations.range({ prefix: [before.taskId, requestId] })].filter(({ value }) => isOpen(value));
      expect(open).toEqual([]);
    }
    // No verifier is set up, so only the word of the agent under fresh evidence completes a task.
    if (after.state === 'completed' && before.state !== 'completed') expect(kinds).toContain('task.verified');
  }

  return {
    ...store,
    commit(changes, conditions) {
      const writes = changes.map(asWrite);
      const looked = writes
        .filter(({ table, record }) => table === 'tasks' && record)
        .map((write) => stored<TaskRecord>(write, 'tasks'))
        .map((after) => ({ after, before: tasks.get([after.taskId]) }));
      return store.commit(changes, conditions).then((done) => {
        if (done) for (const { before, after } of looked) check(before, after, writes);
        return done;
      });
    },
  };
}

/** A process on the store: once it is killed, none of its writes ends and none of its calls arrives. */
function processOn(store: Store) {
  const state = { alive: true };
  const never = new Promise<never>(() => {});
  const own: Store = { ...store, commit: (...args) => (state.alive ? store.commit(...args) : never) };
  return { state, own, never };
}

async function play(sequence: readonly Step[], seen: Set<string>): Promise<void> {
  const base = createMemoryStore();
  const broken: unknown[] = [];
  const looked = watched(base, seen);
  // A broken rule is a fault of this test's subject, not an error that the subject may handle.
  const store: Store = {
    ...looked,
    commit: (...args) =>
      looked.commit(...args).catch((error: unknown) => {
        if (!isHostError(error)) broken.push(error);
        throw error;
      }),
  };
  const tab = createFixtureTab({ buttons: Array.from({ length: 9 }, (_, n) => `b${n}`), leasesEndAtOnce: true });
  let now = 1_800_000_000_000;
  let loseNext = false;
  let over = false;
  const runEnds: RunEnd[] = [];

  const begin = () => {
    const { state, own, never } = processOn(store);
    const controller: Controller = async (input, ports, signal) => {
      const end = over ? 'all' : (runEnds.shift() ?? 'all');
      let presses = 0;
      const call = (name: string, args: Record<string, unknown>) => {
        if (name === 'page_click' && end === 'one' && ++presses > 1) throw new HostError('ADAPTER_FAILURE');
        return ports.callTool(name, args, signal);
      };
      if (end === 'throws') throw new Error('bug');
      if (end === 'asks')
        return result({
          ...{ status: 'blocked', reason: 'FIELD_TEXT_REQUIRED' },
          fieldRequest: { label: 'Name', ref: 'e', reason: 'missing' },
        });
      if (end === 'fails') return result({ status: 'blocked', reason: 'NO_PROGRESS' });
      for (let n = 0; (end === 'waits' || end === 'deaf') && !over && n < 400; n++) {
        if (end === 'waits' && signal.aborted) return result({ status: 'cancelled', reason: 'REVISION_SUPERSEDED' });
        await turns(1);
      }
      const ended = await pressAll(input.scope, call);
      return end === 'claims' ? { ...ended, status: 'succeeded', reason: 'VERIFIED' } : ended;
    };
    const room = createTestRoom({
      ...{ store: own, controller, scope: FIXTURE_SCOPE, now: () => now, limits: { graceMs: 3 } },
      async callTool(name, args) {
        if (!state.alive) return never;
        const reply = await tab.serve({ name, args });
        const lost = loseNext && name === 'page_click';
        if (lost) loseNext = false;
        if (!state.alive) return never;
        if (lost || reply === 'dropped') throw new HostError('ADAPTER_FAILURE');
        return { content: [{ type: 'text', text: JSON.stringify(reply.body) }], isError: reply.isError };
      },
    });
    return { room, kill: () => (state.alive = false) };
  };

  let host = begin();
  await host.room.service.start();
  const none = new AbortController().signal;
  let { taskId } = await host.room.spawn();
  const look = async () => (await host.room.service.status(caller(), { taskId }, none)).task!;
  const update = async (mode: string, more: object = {}) =>
    host.room.service.update(caller(), {
      ...{ taskId, expectedRevision: (await look()).revision, instruction: randomUUID(), mode: mode as 'when_ready' },
      ...more,
    });
  const proven = async (mode: string) => {
    const { evidence } = await host.room.service.status(caller(), { taskId, evidence: 'fresh' }, none);
    await update(mode, { expectedRequestId: evidence?.requestId, evidenceId: evidence?.evidenceId });
  };
  const control = async (action: 'pause' | 'resume' | 'revise' | 'agent' | 'user', text?: string) =>
    host.room.service.control(caller(), {
      ...{ id: randomUUID(), taskId, action, expectedRevision: (await look()).revision, ...(text && { text }) },
    });
  const calls: Record<(typeof CALLS)[number], () => unknown> = {
    cancel: () => host.room.service.cancel(caller(), { taskId, by: 'user' }),
    'go on': () => update('when_ready'),
    interrupt: () => update('interrupt_and_resume'),
    verify: () => proven('verify_browser'),
    reconcile: () => proven('reconcile_browser'),
    answer: async () =>
      host.room.service.answer(caller(), {
        ...{ taskId, questionId: (await look()).pendingQuestion?.questionId ?? randomUUID(), answer: 'Ada' },
      }),
    pause: () => control('pause'),
    resume: () => control('resume'),
    say: () => control('revise', 'press what is left'),
    'to agent': () => control('agent'),
    'to user': () => control('user'),
    async kill() {
      host.kill();
      host = begin();
      await host.room.service.start();
    },
    async restart() {
      await host.room.service.stop();
      host = begin();
      await host.room.service.start();
    },
    'lose a reply': () => {
      loseNext = true;
    },
    'half an hour': () => {
      now += 31 * 60_000;
    },
    'spawn again': async () => {
      ({ taskId } = await host.room.spawn());
    },
    settle: () => host.room.until(taskId, settled),
  };

  for (const step of sequence) {
    if ('run' in step) runEnds.push(step.run);
    else if ('turns' in step) await turns(step.turns);
    else
      try {
        await calls[step.call]();
      } catch (error) {
        // A refusal says why; anything else is a fault of this host.
        if (!isHostError(error)) throw error;
      }
  }
  over = true;
  const end = await host.room.until(taskId, settled);
  await host.room.service.stop();
  expect(broken).toEqual([]);

  const rows = [...base.table<Mutation>(receiptTables.mutations).range()].map(({ value }) => value);
  const recorded = new Map(rows.map((one) => [one.operationId, one.outcome]));
  for (const [id, times] of tab.effects) expect([times, recorded.has(id)]).toEqual([1, true]);
  for (const [button, times] of tab.presses) expect([button, times]).toEqual([button, 1]);
  for (const [id, outcome] of recorded) {
    if (outcome === 'confirmed') expect(tab.effects.has(id)).toBe(true);
    if (outcome === 'not_executed') expect(tab.effects.has(id)).toBe(false);
  }
  const receipts = [...base.table<RunReceipt>(receiptTables.receipts).range()].map(({ value }) => value);
  expect(receipts.filter(({ status }) => status === 'running')).toEqual([]);
  seen.add(`end ${end.state}`);
  await createAuditLog(base).drain();
  expect(verifyAudit(base)).toMatchObject({ whole: true, problems: [] });
}

it(
  `${RUNS} random orders of events keep to the table of states, whole and provable (seed ${SEED})`,
  async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(steps, (sequence) => play(sequence, seen)),
      { numRuns: RUNS, seed: SEED },
    );
    // The orders reached what they are meant to try.
    for (const way of REACHED) expect([...seen]).toContain(way);
    if (process.env.JEV_HOST_MODEL_RUNS) console.log([...seen].sort().join('\n'));
  },
  60_000 + RUNS * 500,
);
