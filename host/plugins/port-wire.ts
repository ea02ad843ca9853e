/** A `MessagePort` as a wire of the guarded endpoint. */
import type { MessagePort } from 'node:worker_threads';
import type { Wire } from './guarded-endpoint.ts';

export function portWire(port: MessagePort): Wire {
  return {
    post: (message, transfer) => port.postMessage(message, transfer),
    listen: (listener) => {
      port.on('message', listener);
      // A message that cannot be deserialised is told as one that cannot be read.
      port.on('messageerror', () => listener(undefined));
    },
    close: () => port.close(),
  };
}
