/**
 * What an observing program may hear of its caller's conversation, and where its advice goes.
 *
 * Threat: texts that the program did not ask for must not leave the host, and several observers of one conversation must
 * not answer the same input of a person one after the other.
 */
import type { ObservableEvent } from '../../sdk/contract/program.ts';
import type { RunnerObserve } from '../../sdk/contract/program-runner.ts';
import { refuseProgram } from '../../sdk/programs/program-error.ts';
import type { RunAuthority } from '../plugins/ports.ts';

/** Something that happened in a conversation, as the host tells it. */
export interface ConversationEvent {
  id: string;
  sequence: number;
  event: ObservableEvent;
  sessionId: string;
  revision: number;
  at: number;
  payload: { inputText?: string; assistantText?: string; toolResults?: string };
  /** The person's input that this event follows from; advice is taken once for each. */
  inputId: string;
  /** It is the consequence of advice. */
  feedback: boolean;
}

export interface Conversations {
  /** Events of the caller's conversation from now on, until the signal aborts or the conversation is halted. */
  listen(caller: RunAuthority, signal: AbortSignal): AsyncIterable<ConversationEvent>;
  /** @returns false when it could not be delivered */
  deliver(
    caller: RunAuthority,
    advice: { text: string; eventId: string; delivery: 'steer' | 'followUp'; triggerTurn: boolean },
  ): Promise<boolean>;
  /** Takes the one piece of advice that an input may get. @returns false when it was given already */
  claim(caller: RunAuthority, inputId: string): boolean;
}

export interface Ears {
  next(): Promise<unknown>;
  advise(advice: unknown): Promise<unknown>;
  close(): void;
}

/** Inputs that events were told of, by event; older ones are too old to be advised on. */
const MAX_REMEMBERED = 256;

export function openEars(wanted: RunnerObserve, caller: RunAuthority, conversations: Conversations): Ears {
  const closed = new AbortController();
  const events = conversations.listen(caller, closed.signal)[Symbol.asyncIterator]();
  const inputs = new Map<string, string>();

  return {
    async next() {
      for (;;) {
        const { done, value } = await events.next();
        if (done) return refuseProgram('PROGRAM_CANCELLED', 'The conversation was halted');
        if (!wanted.events.includes(value.event)) continue;
        inputs.set(value.id, value.inputId);
        const [oldest] = inputs.keys();
        if (inputs.size > MAX_REMEMBERED && oldest !== undefined) inputs.delete(oldest);
        const { inputId: _, payload, ...event } = value;
        return { ...event, payload: chosen(payload, wanted) };
      }
    },
    async advise(given) {
      const { eventId, message } = given as { eventId?: unknown; message?: unknown };
      if (!wanted.delivery) return { delivered: false, reason: 'disabled' };
      if (typeof eventId !== 'string' || typeof message !== 'string') return { delivered: false, reason: 'stale' };
      const inputId = inputs.get(eventId);
      if (inputId === undefined) return { delivered: false, reason: 'stale' };
      if (!conversations.claim(caller, inputId)) return { delivered: false, reason: 'duplicate' };
      const { delivery, triggerTurn } = wanted;
      const text = escaped(message.slice(0, 2000));
      const delivered = await conversations
        .deliver(caller, { text, eventId, delivery, triggerTurn })
        .catch(() => false);
      return delivered ? { delivered: true } : { delivered: false, reason: 'delivery_failed' };
    },
    close() {
      closed.abort();
    },
  };
}

function chosen(payload: ConversationEvent['payload'], wanted: RunnerObserve): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const part of ['inputText', 'assistantText', 'toolResults'] as const) {
    const text = payload[part];
    if (text !== undefined && wanted.include.includes(part)) kept[part] = text.slice(0, wanted.maxChars + 1);
  }
  return kept;
}

/** Advice is a program's text: shown as text wherever it lands, never as markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
