/** What became of one input of the user: stored under its id, so that sending it again changes nothing and says the same. */
import { createHash } from 'node:crypto';
import { taskTables } from '../../core/receipts/task-record.ts';
import type { Change, Condition } from '../../core/store/store.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Room } from './deps.ts';
import type { NewEvent } from './event-log.ts';
import type { InputReceipt } from './service.ts';

interface StoredInput {
  digest: string;
  at: number;
  receipt: InputReceipt;
}

const tableOf = (room: Pick<Room, 'store'>) => room.store.table<StoredInput>(taskTables.controls);

export const digestOf = (contents: unknown): string =>
  createHash('sha256').update(JSON.stringify(contents)).digest('hex');

/**
 * @param scope the task, or the conversation, in which the id is unique.
 * @throws IDEMPOTENCY_CONFLICT when the id was used with other contents.
 */
export function knownInput(room: Room, scope: string, inputId: string, digest: string): InputReceipt | undefined {
  const stored = tableOf(room).get([scope, inputId]);
  if (stored && stored.digest !== digest) refuse('IDEMPOTENCY_CONFLICT', {});
  return stored?.receipt;
}

export const receiptOf = (room: Pick<Room, 'store'>, scope: string, inputId: string): InputReceipt | undefined =>
  tableOf(room).get([scope, inputId])?.receipt;

export function newInput(
  room: Room,
  scope: string,
  digest: string,
  receipt: InputReceipt,
): { changes: Change[]; conditions: Condition[] } {
  const key = [scope, receipt.inputId];
  return {
    changes: [tableOf(room).put(key, { digest, at: room.clock.now(), receipt })],
    conditions: [tableOf(room).unchanged(key, 0)],
  };
}

/** A receipt that changed after the fact, with the event that tells of it. */
export function changedInput(
  room: Pick<Room, 'store'>,
  scope: string,
  inputId: string,
  change: Pick<InputReceipt, 'status'> & Partial<InputReceipt>,
): { changes: Change[]; events: NewEvent[] } {
  const stored = tableOf(room).get([scope, inputId]);
  if (!stored) return { changes: [], events: [] };
  const { code: _, ...before } = stored.receipt;
  const receipt = { ...before, ...change };
  return { changes: [tableOf(room).put([scope, inputId], { ...stored, receipt })], events: [inputEvent(receipt)] };
}

export const inputEvent = (receipt: InputReceipt): NewEvent => ({
  type: 'input.execution_control',
  ...(receipt.taskId === undefined ? {} : { taskId: receipt.taskId }),
  data: { receipt },
});
