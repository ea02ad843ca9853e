/**
 * The agent's turn for words of the user that came to nothing, or that only asked.
 *
 * Threat: an agent that was handed one utterance must not make more of it. While the hand-off stands, its next call on the
 * task is exactly one command at the revision at which the words settled, or, for a question, no change at all. A newer
 * word of the user ends the hand-off.
 */
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Notice } from '../../sdk/contract/task.ts';
import type { Room } from './deps.ts';
import { reviseChange } from './revise.ts';
import type { TaskUpdate } from './service.ts';
import type { TaskChange } from './task-book.ts';

/** Refuses what a pending hand-off or read request does not allow. For every change by an agent that is not an update. */
export function refuseUnderHandoff(task: TaskRecord): void {
  const { handoff } = task;
  if (!handoff || handoff.revision !== task.revision || handoff.used) return;
  refuse(handoff.kind === 'read_request' ? 'READ_REQUEST_ONLY' : 'AGENT_HANDOFF_ONE_COMMAND', {});
}

/**
 * The agent's one command for the words that were handed to it.
 *
 * @returns undefined where nothing is handed over: the update is an ordinary one.
 * @throws READ_REQUEST_ONLY, AGENT_HANDOFF_USED, AGENT_HANDOFF_ONE_COMMAND, INVALID_INPUT, REVISION_CONFLICT.
 */
export function handoffChange(
  room: Room,
  task: TaskRecord,
  request: TaskUpdate,
  notice: Notice | undefined,
): TaskChange | undefined {
  const { handoff } = task;
  if (!handoff) return undefined;
  // Under a newer message of its user the agent acts as that user says.
  if (notice?.kind === 'message' && handoff.used) return undefined;
  if (handoff.kind === 'read_request')
    return handoff.revision === task.revision ? refuse('READ_REQUEST_ONLY', {}) : undefined;
  if (handoff.used) return refuse('AGENT_HANDOFF_USED', {});
  if (request.expectedRevision !== task.revision) refuse('REVISION_CONFLICT', { revision: task.revision });
  if (request.mode !== 'when_ready') refuse('INVALID_INPUT', { path: 'mode' });
  if (request.fields && request.fields.length > 0) refuse('INVALID_INPUT', { path: 'browser_fields' });
  const instructions = request.instruction.trim();
  if (instructions === '' || instructions.length > 4000) refuse('INVALID_INPUT', { path: 'instruction' });
  const change = reviseChange(room, task, {
    mode: 'when_ready',
    instructions,
    directCommand: true,
    agentHandoff: true,
    origin: handoff.inputId,
    words: handoff.words,
  });
  const { record } = change;
  return {
    ...change,
    record: {
      ...record,
      handoff: { ...handoff, used: true },
      control: {
        id: handoff.inputId,
        action: 'revise',
        revision: record.revision,
        phase: 'applied',
        requestedAt: room.clock.now(),
        agentHandoff: true,
      },
    },
    audit: 'task.handoff_used',
  };
}
