/**
 * What the device has on record of an operation: a read that needs no lease and settles what is in doubt. Anything but its
 * plain word for exactly the operation that was asked about settles nothing.
 */
import * as v from 'valibot';
import { isOperationId, type Mutation } from '../../core/receipts/receipt.ts';
import { OperationStatus } from '../../sdk/devices/remote-browser-contract.ts';
import { readReply } from '../../sdk/devices/remote-browser-reply.ts';
import type { TargetTools } from './ports.ts';

/** Open operations of one receipt that are asked about, the newest. */
export const MAX_OPERATIONS = 8;
const STATUS_TIMEOUT_MS = 5000;

export interface ReadStatus {
  mutation: Mutation;
  status: OperationStatus;
}

/** @param within a signal that also ends after so many milliseconds. */
export async function readStatuses(
  tools: TargetTools,
  mutations: readonly Mutation[],
  within: (ms: number) => AbortSignal,
): Promise<ReadStatus[]> {
  const statuses: ReadStatus[] = [];
  for (const mutation of mutations.slice(-MAX_OPERATIONS)) {
    const args = { operation_id: mutation.operationId };
    const reading = readReply(await tools.call('operation_status', args, within(STATUS_TIMEOUT_MS)));
    const status = reading.kind === 'value' ? v.safeParse(OperationStatus, reading.value) : undefined;
    const mine = status?.success && status.output.operation_id.toLowerCase() === mutation.operationId;
    if (status?.success && mine) statuses.push({ mutation, status: status.output });
  }
  return statuses;
}

export function knownOutcome(status: OperationStatus): 'confirmed' | 'not_executed' | undefined {
  if (!isOperationId(status.operation_id)) return undefined;
  if (status.state === 'completed') return 'confirmed';
  return status.state === 'not_executed' ? 'not_executed' : undefined;
}
