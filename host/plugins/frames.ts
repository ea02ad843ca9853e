/**
 * Messages as frames on one pipe between the host and a plugin's process.
 *
 * Threat: the other end may write any bytes. Node's own serialised channels parse them outside any try and without a size
 * limit, which ends the host. So: a length that is refused before anything is buffered, offsets that are checked against it,
 * JSON for the structure, and long texts and bytes beside it. A frame that is not right ends the pipe; it is never skipped,
 * because what follows a wrong length means nothing.
 *
 * `u32 length | u8 channel | u32 head length | u8 n | n × (u32 length, u8 kind) | head | attachments`, little endian.
 */
import type { Duplex } from 'node:stream';
import type { Wire } from './guarded-endpoint.ts';
import { MAX_WIRE_SIZE } from './protocol.ts';

/** Bytes of one frame: text may take up to three bytes a character. */
export const MAX_FRAME_BYTES = 3 * MAX_WIRE_SIZE;
const MAX_ATTACHMENTS = 64;
/** Texts longer than this travel beside the head: JSON would escape and copy them. */
const LONG_TEXT = 2048;
/** Bytes that may wait in our own outgoing buffer before the reader is told to pause. */
const MAX_BACKLOG_BYTES = 64 * 1024 * 1024;

const HEADER = 10;
const [BYTES, UTF8, UTF16] = [0, 1, 2];
/** Marks an attachment's place in the head. A message of ours never has this key. */
const PLACE = '$attachment';

export class FrameError extends Error {}

export interface Frame {
  channel: number;
  message: unknown;
}

export function encodeFrame({ channel, message }: Frame): Buffer {
  const parts: { kind: number; data: Uint8Array }[] = [];
  const attach = (kind: number, data: Uint8Array) => ({ [PLACE]: parts.push({ kind, data }) - 1 });
  const head = Buffer.from(
    JSON.stringify(message, (_key, value) => {
      if (value instanceof Uint8Array) return attach(BYTES, value);
      if (typeof value !== 'string' || value.length <= LONG_TEXT) return value;
      return isWellFormed(value)
        ? attach(UTF8, Buffer.from(value, 'utf8'))
        : attach(UTF16, Buffer.from(value, 'utf16le'));
    }) ?? 'null',
  );
  if (parts.length > MAX_ATTACHMENTS) throw new FrameError('too many attachments');
  const index = Buffer.allocUnsafe(HEADER + 5 * parts.length);
  const body = parts.reduce((sum, { data }) => sum + data.byteLength, head.length);
  index.writeUInt32LE(index.length - 4 + body, 0);
  index.writeUInt8(channel, 4);
  index.writeUInt32LE(head.length, 5);
  index.writeUInt8(parts.length, 9);
  parts.forEach(({ kind, data }, at) => {
    index.writeUInt32LE(data.byteLength, HEADER + 5 * at);
    index.writeUInt8(kind, HEADER + 5 * at + 4);
  });
  if (index.length + body > MAX_FRAME_BYTES) throw new FrameError('a frame over the size limit');
  return Buffer.concat([index, head, ...parts.map(({ data }) => data)]);
}

/** @param frame without its length word. @throws FrameError, SyntaxError. */
export function decodeFrame(frame: Buffer): Frame {
  const bad = (): never => {
    throw new FrameError('a frame that is not one');
  };
  if (frame.length < HEADER - 4) bad();
  const headLength = frame.readUInt32LE(1);
  const count = frame.readUInt8(5);
  let offset = HEADER - 4 + 5 * count;
  if (count > MAX_ATTACHMENTS || offset + headLength > frame.length) bad();
  const head = frame.toString('utf8', offset, offset + headLength);
  offset += headLength;
  const parts: (string | Uint8Array)[] = [];
  for (let at = 0; at < count; at += 1) {
    const length = frame.readUInt32LE(HEADER - 4 + 5 * at);
    const kind = frame.readUInt8(HEADER - 4 + 5 * at + 4);
    if (offset + length > frame.length || kind > UTF16) bad();
    const data = frame.subarray(offset, offset + length);
    // Bytes get a buffer of their own: a view would keep, and measure as, the whole frame.
    parts.push(kind === BYTES ? new Uint8Array(data) : data.toString(kind === UTF8 ? 'utf8' : 'utf16le'));
    offset += length;
  }
  if (offset !== frame.length) bad();
  const message = JSON.parse(head, (_key, value) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, PLACE)) return value;
    // A text such as "length" is a member of the list as well.
    const at: unknown = value[PLACE];
    const part = typeof at === 'number' ? parts[at] : undefined;
    return part === undefined ? bad() : part;
  });
  return { channel: frame.readUInt8(0), message };
}

/**
 * The two directions of a plugin (0: host calls plugin, 1: plugin calls host) on one stream.
 *
 * @param fault called once, when the other end wrote what is not a frame or the stream broke.
 */
export function framedWires(stream: Duplex, fault: (reason: string) => void): [Wire, Wire] {
  const listeners: (((message: unknown) => void) | undefined)[] = [undefined, undefined];
  const early: unknown[][] = [[], []];
  let broken = false;
  const fail = (reason: string): void => {
    if (broken) return;
    broken = true;
    stream.destroy();
    fault(reason);
  };
  const deliver = ({ channel, message }: Frame): void => {
    if (channel > 1) throw new FrameError('a channel that does not exist');
    const listener = listeners[channel];
    if (listener) listener(message);
    else if ((early[channel]?.push(message) ?? 0) > 64) throw new FrameError('messages before anybody listens');
  };
  const reader = frameReader((frame) => deliver(decodeFrame(frame)));
  stream.on('data', (chunk: Buffer) => {
    if (broken) return;
    try {
      reader(chunk);
    } catch (error) {
      fail(error instanceof FrameError ? error.message : 'a frame that cannot be read');
    }
  });
  stream.on('error', () => fail('the pipe broke'));
  stream.on('close', () => fail('the pipe closed'));

  const wire = (channel: number): Wire => ({
    post: (message) => {
      if (broken) return;
      stream.write(encodeFrame({ channel, message }));
      // The other end does not read: what waits here is our memory, so its messages wait as well.
      if (stream.writableLength > MAX_BACKLOG_BYTES && !stream.isPaused()) {
        stream.pause();
        stream.once('drain', () => stream.resume());
      }
    },
    listen: (listener) => {
      listeners[channel] = listener;
      for (const message of early[channel]?.splice(0) ?? []) listener(message);
    },
    close: () => {
      broken = true;
      stream.destroy();
    },
  });
  return [wire(0), wire(1)];
}

/** Cuts a stream of chunks into frames. Buffers at most one frame of the allowed size, and the chunk it ends in. */
export function frameReader(each: (frame: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let have = 0;
  let need = -1;
  const take = (length: number): Buffer => {
    const all = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, have);
    have -= length;
    chunks = have > 0 ? [all.subarray(length)] : [];
    return all.subarray(0, length);
  };
  return (chunk) => {
    chunks.push(chunk);
    have += chunk.length;
    for (;;) {
      if (need < 0) {
        if (have < 4) return;
        need = take(4).readUInt32LE(0);
        if (need > MAX_FRAME_BYTES) throw new FrameError('a frame over the size limit');
      }
      if (have < need) return;
      const frame = take(need);
      need = -1;
      each(frame);
    }
  };
}

const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);
