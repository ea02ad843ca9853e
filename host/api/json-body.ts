/**
 * JSON bodies.
 *
 * Threat: a body that is small to send and dear to read. Bytes are capped by the server before they are kept, and nesting
 * is counted before anything is built, because a parser recurses where we cannot stop it.
 */
import { refuse } from '../../sdk/contract/errors.ts';

/** Levels of nesting in any body. */
export const MAX_DEPTH = 64;

/** @throws INVALID_INPUT when the text is not JSON or is nested too deeply. */
export function parseJsonBody(text: string): unknown {
  if (depthOf(text) > MAX_DEPTH) refuse('INVALID_INPUT', { problem: `nested deeper than ${MAX_DEPTH} levels` });
  try {
    return JSON.parse(text);
  } catch {
    return refuse('INVALID_INPUT', { problem: 'the body is not JSON' });
  }
}

/** The deepest nesting of brackets outside of strings, up to one more than is allowed. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth += 1;
      if (depth > deepest) deepest = depth;
      if (deepest > MAX_DEPTH) return deepest;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
