/**
 * A message of the user: to a task, as its next direct command, or to the agent, as a notice.
 *
 * What cannot be applied to the task is never lost: it becomes the agent's, with the code that says why.
 */
import { commandKey } from '../../sdk/commands/normalise.ts';
import { isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import { controlled, MAX_COMMAND_CHARS } from './control.ts';
import type { Room } from './deps.ts';
import type { Dispatcher } from './dispatcher.ts';
import { digestOf, inputEvent, knownInput, newInput, receiptOf } from './input-receipt.ts';
import { ownedForChange } from './ownership.ts';
import type { InputReceipt, UserMessage } from './service.ts';

/** Codes at which the message is refused outright; with any other it becomes the agent's. */
const REFUSED = new Set([
  'TASK_NOT_FOUND',
  'ACCESS_DENIED',
  'EXECUTION_DENIED',
  'INVALID_INPUT',
  'IDEMPOTENCY_CONFLICT',
]);

/** Milliseconds in which a typed message is the echo of the same words that were spoken. */
const ECHO_MS = 10_000;
/** Tasks whose last spoken words are remembered. */
const MAX_SPOKEN = 1000;

export interface Inbox {
  message(caller: Caller, message: UserMessage): Promise<InputReceipt>;
}

export function createInbox(room: Room, dispatcher: Dispatcher): Inbox {
  /** The last words that were spoken to each task. */
  const spoken = new Map<string, { key: string; at: number }>();

  /** Whether these typed words only repeat what was just spoken to the task. One utterance has one echo. */
  function isEcho({ text, executionTaskId = '', modality }: UserMessage): boolean {
    const last = spoken.get(executionTaskId);
    if (modality === 'live_voice' || !last) return false;
    const echo = last.key === commandKey(text) && room.clock.now() - last.at <= ECHO_MS;
    if (echo || room.clock.now() - last.at > ECHO_MS) spoken.delete(executionTaskId);
    return echo;
  }

  return {
    async message(caller, said) {
      const receipt = await receive(room, dispatcher, caller, said, isEcho);
      const { executionTaskId, modality, text } = said;
      const ran = receipt.status === 'applied' || receipt.status === 'queued';
      if (executionTaskId !== undefined && modality === 'live_voice' && ran) {
        if (spoken.size >= MAX_SPOKEN) spoken.clear();
        spoken.set(executionTaskId, { key: commandKey(text), at: room.clock.now() });
      }
      return receipt;
    },
  };
}

async function receive(
  room: Room,
  dispatcher: Dispatcher,
  caller: Caller,
  said: UserMessage,
  isEcho: (said: UserMessage) => boolean,
): Promise<InputReceipt> {
  const { text, executionTaskId, requestId } = said;
  if (!room.authorization.may(caller, 'write')) refuse('ACCESS_DENIED', {});
  if (text.trim() === '' || text.length > MAX_COMMAND_CHARS) refuse('INVALID_INPUT', { path: 'text' });
  if (executionTaskId !== undefined) ownedForChange(room, caller, executionTaskId);
  const scope = `message:${caller.agentId}:${caller.principalId}:${caller.conversationId}`;
  const digest = digestOf([text, executionTaskId ?? null]);
  const inputId = requestId === undefined ? room.ids.uuid() : inputIdOf(scope, requestId);
  const known = knownInput(room, scope, inputId, digest);
  if (known) return executionTaskId === undefined ? known : latest(room, known, executionTaskId);
  if (executionTaskId === undefined)
    return toAgent(room, caller, { scope, digest, text, receipt: { status: 'accepted', inputId } });
  if (isEcho(said)) {
    const receipt: InputReceipt = { status: 'applied', inputId, taskId: executionTaskId, code: 'DUPLICATE_VOICE_ECHO' };
    const input = newInput(room, scope, digest, receipt);
    await room.store.commit(input.changes, input.conditions);
    return receipt;
  }
  try {
    const { receipt } = await controlled(room, dispatcher, caller, {
      id: inputId,
      taskId: executionTaskId,
      action: 'revise',
      expectedRevision: 'current',
      text,
    });
    const input = newInput(room, scope, digest, receipt);
    await room.store.commit(input.changes, input.conditions);
    return receipt;
  } catch (error) {
    if (!isHostError(error) || REFUSED.has(error.code)) throw error;
    const receipt: InputReceipt = { status: 'needs_agent', inputId, taskId: executionTaskId, code: error.code };
    return toAgent(room, caller, { scope, digest, text, receipt });
  }
}

/** The receipt of a command can change after the fact: the task's own record of it is the newest. */
function latest(room: Room, known: InputReceipt, taskId: string): InputReceipt {
  return receiptOf(room, taskId, known.inputId) ?? known;
}

async function toAgent(
  room: Room,
  caller: Caller,
  { scope, digest, text, receipt }: { scope: string; digest: string; text: string; receipt: InputReceipt },
): Promise<InputReceipt> {
  const { taskId, code } = receipt;
  await room.book.notify(
    caller,
    {
      kind: 'message',
      text,
      ...(taskId === undefined ? {} : { taskId }),
      ...(code === undefined ? {} : { code }),
    },
    { ...newInput(room, scope, digest, receipt), events: [inputEvent(receipt)] },
  );
  return receipt;
}

/** A UUID of the caller's key, so that the same request is the same input after a restart too. */
function inputIdOf(scope: string, requestId: string): string {
  const hex = digestOf([scope, requestId]);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
