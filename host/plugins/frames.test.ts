import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFrame, encodeFrame, FrameError, framedWires, frameReader, MAX_FRAME_BYTES } from './frames.ts';

const flatValue = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constant('ไ'.repeat(3000)),
  fc.constant(`\ud800${'x'.repeat(3000)}`),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 3000 }),
);
const message = fc.record({ id: fc.string(), type: fc.constant('RAW'), list: fc.array(flatValue, { maxLength: 4 }) });

/** Both ends of a pipe on which the test plays the child. */
function pipe() {
  const written: Buffer[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  return { stream, written };
}

describe('frames', () => {
  it('carry every message unchanged, however the pipe cuts them', () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 5000 }),
        (messages, cut) => {
          const bytes = Buffer.concat(
            messages.map((sent, channel) => encodeFrame({ channel: channel % 2, message: sent })),
          );
          const arrived: unknown[] = [];
          const read = frameReader((frame) => arrived.push(decodeFrame(frame)));
          for (let at = 0; at < bytes.length; at += cut) read(bytes.subarray(at, at + cut));
          expect(arrived).toEqual(messages.map((sent, channel) => ({ channel: channel % 2, message: sent })));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('refuse any other bytes with an error, and nothing worse', () => {
    const valid = encodeFrame({ channel: 1, message: { id: 'a', value: 'x'.repeat(5000), bytes: new Uint8Array(10) } });
    const changes = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.oneof(changes, fc.uint8Array({ maxLength: 60 })), (change) => {
        const bytes = change instanceof Uint8Array ? Buffer.from(change) : Buffer.from(valid);
        if (!(change instanceof Uint8Array)) for (const [at, value] of change) bytes[at] = value;
        const read = frameReader((frame) => decodeFrame(frame));
        try {
          read(bytes);
        } catch (error) {
          expect(error instanceof FrameError || error instanceof SyntaxError || error instanceof RangeError).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('refuse a length over the limit before anything of it is kept', () => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE(MAX_FRAME_BYTES + 1, 0);
    expect(() => frameReader(() => {})(header)).toThrow(FrameError);
    expect(() => encodeFrame({ channel: 0, message: 'x'.repeat(MAX_FRAME_BYTES) })).toThrow(FrameError);
  });

  it.each([
    ['an attachment that is not there', { $attachment: 3 }],
    ['an attachment that is no number', { $attachment: 'length' }],
    ['an attachment from the prototype', { $attachment: '__proto__' }],
  ])('refuse %s', (_what, place) => {
    const head = Buffer.from(JSON.stringify(place));
    const frame = Buffer.concat([Buffer.alloc(6), head]);
    frame.writeUInt32LE(head.length, 1);
    expect(() => decodeFrame(frame)).toThrow(FrameError);
  });
});

describe('a pipe of frames', () => {
  it('ends at the first thing that is not a frame, and tells it once', async () => {
    const { stream } = pipe();
    const faults: string[] = [];
    const [calls] = framedWires(stream, (reason) => faults.push(reason));
    const seen: unknown[] = [];
    calls.listen((arrived) => seen.push(arrived));
    stream.push(encodeFrame({ channel: 0, message: { a: 1 } }));
    stream.push(Buffer.from([5, 0, 0, 0, 1, 2, 3, 4, 5]));
    stream.push(encodeFrame({ channel: 0, message: { a: 2 } }));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(seen).toEqual([{ a: 1 }]);
    expect(faults).toHaveLength(1);
    expect(stream.destroyed).toBe(true);
  });

  it('refuses a channel that does not exist', async () => {
    const { stream } = pipe();
    const faults: string[] = [];
    framedWires(stream, (reason) => faults.push(reason));
    stream.push(encodeFrame({ channel: 2, message: {} }));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(faults).toEqual(['a channel that does not exist']);
  });

  it('keeps messages that come before anybody listens, within a bound', async () => {
    const { stream } = pipe();
    const faults: string[] = [];
    const [, capabilities] = framedWires(stream, (reason) => faults.push(reason));
    stream.push(encodeFrame({ channel: 1, message: 'early' }));
    await new Promise((resolve) => setImmediate(resolve));
    const seen: unknown[] = [];
    capabilities.listen((arrived) => seen.push(arrived));
    expect(seen).toEqual(['early']);
    for (let i = 0; i < 70; i += 1) stream.push(encodeFrame({ channel: 0, message: i }));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(faults).toEqual(['messages before anybody listens']);
  });
});
