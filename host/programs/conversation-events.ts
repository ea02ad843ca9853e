/**
 * A caller's own conversation as programs hear it: the task service's events, named as programs know them.
 *
 * Threat: what advice causes must not look like news. Advice comes back as a notice; it is left out here, and everything
 * after it counts as its consequence until a person speaks again.
 */
import type { ObservableEvent } from '../../sdk/contract/program.ts';
import type { Notice, TaskSnapshot } from '../../sdk/contract/task.ts';
import type { ConversationEvent } from './conversation-ears.ts';

/** Marks a notice as a program's advice. */
export const ADVICE_CODE = 'PROGRAM_ADVICE';

/** As much of the task service's event as is read here. */
export interface TaskNews {
  id: number;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

export interface ConversationState {
  /** Makes ids of one stream differ from those of any other. */
  epoch: string;
  conversationId: string;
  sequence: number;
  /** How often a person has spoken: advice on what came before their last word is too late. */
  inputs: number;
  advised: boolean;
}

export function newConversation(epoch: string, conversationId: string): ConversationState {
  return { epoch, conversationId, sequence: 0, inputs: 0, advised: false };
}

/** The person stopped the work: nobody goes on listening. */
export type Heard = ConversationEvent[] | 'halted';

/** Reads one event of the task service. Changes the state. */
export function hear(state: ConversationState, news: TaskNews): Heard {
  if (news.type === 'task.notice') return hearNotice(state, news);
  if (news.type === 'task.state') return hearState(state, news);
  return [];
}

function hearNotice(state: ConversationState, news: TaskNews): Heard {
  const notice = news.data.notice as Notice | undefined;
  if (notice?.code === ADVICE_CODE) {
    state.advised = true;
    return [];
  }
  switch (notice?.kind) {
    case 'message':
      state.inputs++;
      state.advised = false;
      return [event(state, news, 'input', { inputText: notice.text ?? '' })];
    case 'settled':
      return [event(state, news, 'agent_end', { assistantText: notice.text ?? '' })];
    default:
      return [];
  }
}

function hearState(state: ConversationState, news: TaskNews): Heard {
  const task = news.data.task as TaskSnapshot | undefined;
  if (!task) return [];
  if (task.state === 'cancelled' && task.cancellation?.requestedBy === 'user') return 'halted';
  const words = task.failure?.message ?? task.latestProgress?.text ?? '';
  const payload = {
    assistantText: words,
    toolResults: JSON.stringify({ state: task.state, outcome: task.outcome ?? null }),
  };
  const kinds: ObservableEvent[] = [];
  if (['waiting_input', 'needs_reconciliation', 'completed', 'failed', 'cancelled'].includes(task.state))
    kinds.push('turn_end');
  if (task.state === 'failed' || task.outcome === 'unknown') kinds.push('tool_error');
  if (['completed', 'failed', 'cancelled'].includes(task.state)) kinds.push('agent_settled');
  return kinds.map((kind) => event(state, news, kind, payload));
}

function event(
  state: ConversationState,
  news: TaskNews,
  kind: ObservableEvent,
  payload: ConversationEvent['payload'],
): ConversationEvent {
  state.sequence++;
  return {
    id: `${state.epoch}:${state.sequence}`,
    sequence: state.sequence,
    event: kind,
    sessionId: state.conversationId,
    revision: state.inputs,
    at: news.at,
    payload,
    inputId: `${state.epoch}:${state.inputs}`,
    feedback: state.advised,
  };
}
