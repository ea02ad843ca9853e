/** The two ways to a Chromium: the pipe of a browser that this device started, and the socket of one that its owner did. */
import type { Readable, Writable } from 'node:stream';
import WebSocket from 'ws';
import type { Wire } from './protocol.ts';

/** Bytes of one message over the socket. */
const MAX_SOCKET_MESSAGE = 256 * 1024 * 1024;

/** Messages end with a zero byte; `--remote-debugging-pipe` reads descriptor 3 and writes descriptor 4. */
export function pipeWire(toChromium: Writable, fromChromium: Readable): Wire {
  return {
    send: (message) => {
      toChromium.write(`${message}\0`);
    },
    listen(onMessage, onEnd) {
      let parts: Buffer[] = [];
      fromChromium.on('data', (chunk: Buffer) => {
        let start = 0;
        for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
          const last = chunk.subarray(start, end);
          onMessage(parts.length === 0 ? last.toString('utf8') : Buffer.concat([...parts, last]).toString('utf8'));
          parts = [];
          start = end + 1;
        }
        if (start < chunk.length) parts.push(chunk.subarray(start));
      });
      fromChromium.once('close', () => onEnd('Chromium closed its pipe'));
      fromChromium.on('error', () => onEnd('the pipe from Chromium broke'));
      toChromium.on('error', () => onEnd('the pipe to Chromium broke'));
    },
    close() {
      toChromium.end();
    },
  };
}

/**
 * @param url the browser's `ws://…/devtools/browser/…` address.
 * @param limit ends the wait for the socket to open.
 */
export async function socketWire(url: string, limit: AbortSignal): Promise<Wire> {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: MAX_SOCKET_MESSAGE,
  });
  const giveUp = () => socket.terminate();
  limit.addEventListener('abort', giveUp, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      if (limit.aborted) giveUp();
    });
  } finally {
    limit.removeEventListener('abort', giveUp);
  }
  return {
    send: (message) => socket.send(message),
    listen(onMessage, onEnd) {
      socket.on('message', (data) => onMessage(data.toString()));
      socket.once('close', () => onEnd('Chromium closed its socket'));
      socket.on('error', () => onEnd('the socket to Chromium broke'));
    },
    close: () => socket.close(),
  };
}
