/** What a session keeps so that a client whose stream broke can ask for the rest (`Last-Event-ID`). Bounded. */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

/** Messages that one session keeps. */
export const MAX_EVENTS = 200;
/** Characters of all messages together. */
export const MAX_CHARS = 2 * 1024 * 1024;

interface Kept {
  id: string;
  streamId: string;
  message: JSONRPCMessage;
  chars: number;
}

export function createEventBuffer(): EventStore {
  const kept: Kept[] = [];
  let chars = 0;
  let next = 1;
  return {
    async storeEvent(streamId, message) {
      const event = { id: String(next++), streamId, message, chars: JSON.stringify(message).length };
      kept.push(event);
      chars += event.chars;
      while (kept.length > MAX_EVENTS || (chars > MAX_CHARS && kept.length > 1)) chars -= kept.shift()?.chars ?? 0;
      return event.id;
    },
    async getStreamIdForEventId(id) {
      return kept.find((event) => event.id === id)?.streamId;
    },
    async replayEventsAfter(lastId, { send }) {
      const at = kept.findIndex((event) => event.id === lastId);
      const last = kept[at];
      if (!last) return '';
      const rest = kept.slice(at + 1).filter((event) => event.streamId === last.streamId);
      for (const event of rest) await send(event.id, event.message);
      return last.streamId;
    },
  };
}
