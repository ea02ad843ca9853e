/**
 * Evidence of a task's page: what the last run recorded, or a fresh look under a short lease. Reading never acts, and
 * asks the device about exactly those operations that the task's own receipt names.
 *
 * Threat: everything that comes back is page data of a stranger. It is bounded, marked as untrusted, and never becomes
 * part of an instruction, a log or a list.
 */
import * as v from 'valibot';
import type { Mutation, RunReceipt } from '../../core/receipts/receipt.ts';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { Caller, Evidence } from '../../sdk/contract/task.ts';
import { Observation, type OperationStatus } from '../../sdk/devices/remote-browser-contract.ts';
import { isObject, readReply } from '../../sdk/devices/remote-browser-reply.ts';
import type { Room } from './deps.ts';
import type { RecordedResult } from './dispatcher.ts';
import { isOpen } from './known-stops.ts';
import { knownOutcome, type ReadStatus, readStatuses } from './operation-status.ts';
import { owned } from './ownership.ts';
import type { TargetTools } from './ports.ts';
import { isActive } from './transitions.ts';

export const MAX_EVIDENCE_BYTES = 262_144;
const ACQUIRE_TIMEOUT_MS = 10_000;
const OBSERVE_TIMEOUT_MS = 35_000;
const RELEASE_TIMEOUT_MS = 3000;
/** Waits for a page that is still being loaded: 250 ms times the attempt (wire-contracts 1.5). */
const NAVIGATION_WAITS = 6;

export type EvidenceKind = 'recorded' | 'fresh' | 'screenshot';

export async function readEvidence(
  room: Room,
  caller: Caller,
  taskId: string,
  kind: EvidenceKind,
  signal: AbortSignal,
): Promise<Evidence> {
  const task = owned(room, caller, taskId);
  const requestId = task.dispatch?.requestId ?? refuse('BROWSER_EVIDENCE_UNAVAILABLE', {});
  const receipt = room.receipts.get(taskId, requestId) ?? refuse('BROWSER_EVIDENCE_UNAVAILABLE', {});
  if (kind === 'recorded' || isActive(task.state) || receipt.status === 'running') return recorded(room, receipt);
  const evidence = await freshEvidence(room, caller, task, receipt, kind === 'screenshot', signal);
  // Access that was withdrawn during the read takes the result with it.
  if (!room.authorization.may(caller, 'read', task)) refuse('BROWSER_EVIDENCE_UNAVAILABLE', {});
  return evidence;
}

function recorded(room: Room, receipt: RunReceipt): Evidence {
  const { taskId, requestId } = receipt;
  const stored = room.store.table<RecordedResult>({ name: 'evidence', version: 1 }).get([taskId, requestId]);
  const result = stored?.result as { observation?: Record<string, unknown> } | null | undefined;
  return {
    ...{ requestId, recordedOnly: true, untrustedPageContent: true },
    ...(stored ? { observedAt: stored.at } : {}),
    ...(result?.observation ? { observation: result.observation } : {}),
    ...lastDispatched(room.receipts.lastMutation(taskId, requestId)),
  };
}

const lastDispatched = (mutation: Mutation | undefined): Pick<Evidence, 'lastDispatchedMutation'> =>
  mutation
    ? {
        lastDispatchedMutation: {
          operationId: mutation.operationId,
          operation: mutation.operation,
          recordedAt: mutation.recordedAt,
        },
      }
    : {};

async function freshEvidence(
  room: Room,
  caller: Caller,
  task: TaskRecord,
  receipt: RunReceipt,
  screenshot: boolean,
  signal: AbortSignal,
): Promise<Evidence> {
  const target = room.targets.resolve(caller, task.target.targetId) ?? refuse('BROWSER_EVIDENCE_UNAVAILABLE', {});
  const allowed = () => room.authorization.may(caller, 'read', task) && room.jev.allowed(caller.agentId);
  if (!allowed()) refuse('BROWSER_EVIDENCE_UNAVAILABLE', {});
  try {
    const tools = await room.targets.open(target, undefined, allowed);
    const looked = await inspect(room, tools, target.scope, receipt, screenshot, signal);
    return await recordInspection(room, task, receipt, looked);
  } catch (error) {
    if (isHostError(error) && KEPT.has(error.code)) throw error;
    throw new HostError('BROWSER_INSPECTION_UNAVAILABLE', {}, { cause: error });
  }
}

/** Codes that say what is wrong; every other failure is "not now". */
const KEPT = new Set([
  'BROWSER_INSPECTION_FAILED',
  'BROWSER_INSPECTION_DENIED',
  'BROWSER_EVIDENCE_INVALID',
  'BROWSER_EVIDENCE_TOO_LARGE',
  'BROWSER_EVIDENCE_UNAVAILABLE',
  'ACCESS_DENIED',
  'STORE_WRITE_FAILED',
  'STORE_DAMAGED',
]);

interface Inspection {
  observation: Record<string, unknown>;
  screenshot?: Record<string, unknown>;
  statuses: ReadStatus[];
}

/** The last operation, and every one that is still open. */
function asked(room: Room, { taskId, requestId }: RunReceipt): Mutation[] {
  const mutations = room.receipts.mutations(taskId, requestId);
  const last = mutations.at(-1);
  return mutations.filter((mutation) => isOpen(mutation) || mutation === last);
}

async function inspect(
  room: Room,
  tools: TargetTools,
  scope: Record<string, string>,
  receipt: RunReceipt,
  screenshot: boolean,
  signal: AbortSignal,
): Promise<Inspection> {
  const within = (ms: number) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const acquired = await tools.call(
    'browser_task_acquire',
    { ...scope, operation_id: room.ids.uuid() },
    within(ACQUIRE_TIMEOUT_MS),
  );
  const lease = readReply(acquired);
  const token = lease.kind === 'value' ? leaseToken(lease.value) : undefined;
  if (typeof token !== 'string') refuse('BROWSER_INSPECTION_DENIED', {});
  const here = { ...scope, lease_token: token };
  try {
    const observation = await observe(tools, here, within);
    const image = screenshot ? await picture(tools, here, observation, within) : undefined;
    const statuses = await readStatuses(tools, asked(room, receipt), within);
    return { observation, statuses, ...(image ? { screenshot: image } : {}) };
  } finally {
    const args = { ...here, operation_id: room.ids.uuid() };
    await tools.call('browser_task_release', args, AbortSignal.timeout(RELEASE_TIMEOUT_MS)).catch(() => {});
    await tools.close().catch(() => {});
  }
}

/** The token stands in the reply itself or, as with mutations, in its result. */
function leaseToken(value: Record<string, unknown>): unknown {
  return value.lease_token ?? (isObject(value.result) ? value.result.lease_token : undefined);
}

async function observe(
  tools: TargetTools,
  here: Record<string, unknown>,
  within: (ms: number) => AbortSignal,
): Promise<Record<string, unknown>> {
  for (let attempt = 1; ; attempt++) {
    const reply = await tools.call('page_observe', { ...here, detail: 'full' }, within(OBSERVE_TIMEOUT_MS));
    const reading = readReply(reply);
    if (reading.kind === 'refused' && reading.cause === 'NAVIGATION_PENDING' && attempt <= NAVIGATION_WAITS) {
      await new Promise((resolve) => setTimeout(resolve, 250 * attempt));
      continue;
    }
    if (reading.kind === 'refused') refuse('BROWSER_INSPECTION_FAILED', { code: reading.code });
    if (reading.kind === 'invalid') refuse('BROWSER_EVIDENCE_INVALID', {});
    if (Buffer.byteLength(JSON.stringify(reading.value)) > MAX_EVIDENCE_BYTES) refuse('BROWSER_EVIDENCE_TOO_LARGE', {});
    const checked = v.safeParse(Observation, reading.value);
    return checked.success ? checked.output : refuse('BROWSER_EVIDENCE_INVALID', {});
  }
}

async function picture(
  tools: TargetTools,
  here: Record<string, unknown>,
  observation: Record<string, unknown>,
  within: (ms: number) => AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const args = { ...here, generation: observation.generation, format: 'jpeg', max_side: 1280 };
  const reading = readReply(await tools.call('page_screenshot', args, within(OBSERVE_TIMEOUT_MS)));
  return reading.kind === 'value' ? reading.value : undefined;
}

/** Writes the evidence's id into the receipt, and what the device knows of open operations into their records. */
async function recordInspection(
  room: Room,
  task: TaskRecord,
  receipt: RunReceipt,
  looked: Inspection,
): Promise<Evidence> {
  const { receipts, clock, store, audit } = room;
  const { taskId, requestId } = receipt;
  const id = room.ids.uuid();
  const last = looked.statuses.at(-1)?.status;
  await room.turns.take(task.conversationId, async () => {
    const current = receipts.get(taskId, requestId);
    if (current?.status !== 'ended') refuse('BROWSER_INSPECTION_UNAVAILABLE', {});
    const settled = looked.statuses.flatMap(({ mutation, status }) => {
      const outcome = knownOutcome(status);
      return outcome && isOpen(mutation) ? [receipts.settleMutation(mutation, outcome, clock.now())] : [];
    });
    const mutations = receipts
      .mutations(taskId, requestId)
      .map((one) => settled.find(({ mutation }) => mutation.sequence === one.sequence)?.mutation ?? one);
    const inspection = { id, at: clock.now(), operationState: stateOf(last) };
    await store.commit([
      ...receipts.replace({ ...current, inspection }, mutations, 'receipt.inspected'),
      ...settled.map(({ change }) => change),
    ]);
    audit.kick();
  });
  return {
    ...{ requestId, evidenceId: id, recordedOnly: false, untrustedPageContent: true, observedAt: clock.now() },
    observation: looked.screenshot ? { ...looked.observation, screenshot: looked.screenshot } : looked.observation,
    ...lastDispatched(receipts.lastMutation(taskId, requestId)),
    ...(last ? { operationStatus: last } : {}),
  };
}

function stateOf(status: OperationStatus | undefined): 'completed' | 'not_executed' | 'unknown' | 'none' {
  if (!status) return 'none';
  return status.state === 'completed' || status.state === 'not_executed' ? status.state : 'unknown';
}
