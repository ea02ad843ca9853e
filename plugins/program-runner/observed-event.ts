/** Reads an event as the host sends it, and keeps only what this program asked to hear. */
import { type Json, type ObservedEvent, observableEvents, type RunnerObserve } from '../../sdk/index.ts';

/** Parts of a payload, and the option that includes each. */
const parts = ['inputText', 'assistantText', 'toolResults'] as const;

export interface ReadEvent {
  event: ObservedEvent;
  /** The event is the consequence of earlier advice. */
  feedback: boolean;
}

/** @returns undefined for what the program did not ask for, or what is not an event */
export function readObservedEvent(given: unknown, wanted: RunnerObserve): ReadEvent | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { id, sequence, event, sessionId, revision, at, payload, truncated, feedback } = given as Record<
    string,
    unknown
  >;
  const kind = observableEvents.find((known) => known === event);
  if (!kind || !wanted.events.includes(kind)) return undefined;
  if (typeof id !== 'string' || typeof sessionId !== 'string') return undefined;
  if (typeof sequence !== 'number' || typeof revision !== 'number' || typeof at !== 'number') return undefined;
  const kept = keepPayload(payload, wanted);
  return {
    event: {
      id,
      sequence,
      event: kind,
      source: 'main',
      sessionId,
      revision,
      at,
      payload: kept.payload,
      truncated: truncated === true || kept.truncated,
    },
    feedback: feedback === true,
  };
}

function keepPayload(
  payload: unknown,
  wanted: RunnerObserve,
): { payload: { [key: string]: Json }; truncated: boolean } {
  const given = (typeof payload === 'object' && payload !== null ? payload : {}) as Record<string, unknown>;
  const kept: { [key: string]: Json } = {};
  let room = wanted.maxChars;
  let truncated = false;
  for (const part of parts) {
    const value = given[part];
    if (value === undefined || !wanted.include.includes(part)) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text.length <= room) kept[part] = value as Json;
    else {
      kept[part] = text.slice(0, room);
      truncated = true;
    }
    room = Math.max(0, room - text.length);
  }
  return { payload: kept, truncated };
}
