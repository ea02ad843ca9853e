/**
 * Checks one image before it is sent: what it really is, its size in pixels and bytes.
 *
 * Threat: an image is the caller's bytes, paid for by size. It is judged by its content, not by what the caller calls it,
 * and only its header is read; nothing is decoded here.
 */

/** Pixels that each side must and may have; the provider does not scale. */
export const MIN_SIDE = 280;
export const MAX_SIDE = 1568;

export type ImageCheck = { bytes: number; width: number; height: number } | { problem: string };

export function checkImage(asset: unknown, maxBytes: number): ImageCheck {
  if (typeof asset !== 'object' || asset === null) return { problem: 'an image is an object' };
  const { type, format, data_base64: data, ...rest } = asset as Record<string, unknown>;
  const [unknownKey] = Object.keys(rest);
  if (unknownKey !== undefined) return { problem: `unknown key ${unknownKey.slice(0, 40)}` };
  if (type !== 'image') return { problem: 'its type is not "image"' };
  if (format !== 'png' && format !== 'jpeg') return { problem: 'its format is neither "png" nor "jpeg"' };
  if (typeof data !== 'string' || data.length === 0) return { problem: 'its data is missing' };
  if (data.length > Math.ceil(maxBytes / 3) * 4) return { problem: `it has more than ${maxBytes} bytes` };
  const bytes = Buffer.from(data, 'base64');
  // Node skips what is not base64; a second encoding shows whether it did.
  if (bytes.toString('base64') !== data) return { problem: 'its data is not base64' };
  if (bytes.length > maxBytes) return { problem: `it has more than ${maxBytes} bytes` };

  const found = readHeader(bytes);
  if (!found) return { problem: 'its data is neither a PNG nor a JPEG' };
  if (found.format !== format) return { problem: `it is a ${found.format}, not a ${format}` };
  if (found.animated) return { problem: 'it is animated' };
  const { width, height } = found;
  if (Math.min(width, height) < MIN_SIDE || Math.max(width, height) > MAX_SIDE) {
    return { problem: `it is ${width} x ${height} pixels; each side needs ${MIN_SIDE} to ${MAX_SIDE}` };
  }
  return { bytes: bytes.length, width, height };
}

interface ImageHeader {
  format: 'png' | 'jpeg';
  width: number;
  height: number;
  animated: boolean;
}

function readHeader(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length > 33 && bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return readPng(bytes);
  if (bytes.length > 4 && bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return readJpeg(bytes);
  return undefined;
}

function readPng(bytes: Buffer): ImageHeader | undefined {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  let animated = false;
  // Animation is announced before the first image data.
  for (let at = 8; at + 12 <= bytes.length; ) {
    const kind = bytes.toString('latin1', at + 4, at + 8);
    if (kind === 'acTL') animated = true;
    if (kind === 'acTL' || kind === 'IDAT') break;
    at += 12 + bytes.readUInt32BE(at);
  }
  return { format: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), animated };
}

/** Markers of a frame header; C4, C8 and CC in their range are tables and reserved. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function readJpeg(bytes: Buffer): ImageHeader | undefined {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrameHeader(marker)) {
      return {
        format: 'jpeg',
        height: bytes.readUInt16BE(at + 5),
        width: bytes.readUInt16BE(at + 7),
        animated: false,
      };
    }
    const standsAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (marker === 0xd9 || marker === 0xda) return undefined;
    at += standsAlone ? 2 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
