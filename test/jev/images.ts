/** Headers of images: enough for a check that reads no more. */

/** A PNG's signature and first chunks. */
export function png(width: number, height: number, animated = false): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const chunks = [chunk('IHDR', header)];
  if (animated) chunks.push(chunk('acTL', Buffer.alloc(8)));
  chunks.push(chunk('IDAT', Buffer.alloc(4)), chunk('IEND', Buffer.alloc(0)));
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks]);
}

function chunk(kind: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(kind, 'latin1'), data, Buffer.alloc(4)]);
}

/** A JPEG's first segments: an application segment, a table, a frame header. */
export function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.alloc(19);
  frame.set([0xff, 0xc2, 0, 17, 8]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const app = Buffer.from('ffe000104a46494600010100000100010000', 'hex');
  const table = Buffer.concat([Buffer.from('ffdb0043', 'hex'), Buffer.alloc(65, 1)]);
  return Buffer.concat([Buffer.from('ffd8', 'hex'), app, table, frame, Buffer.from('ffd9', 'hex')]);
}
