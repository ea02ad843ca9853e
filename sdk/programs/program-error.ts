/** Refusals of programs, as plugin and host make them: a code of the catalogue and the exact sentence. */
import type { Code } from '../contract/codes.ts';
import { HostError } from '../contract/errors.ts';

export type ProgramCode = Extract<Code, `PROGRAM_${string}`>;

/** Half a character, which is not valid in JSON text of UTF-8. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function programError(code: ProgramCode, message: string): HostError {
  return new HostError(code, { message });
}

export function refuseProgram(code: ProgramCode, message: string): never {
  throw programError(code, message);
}

/** The sentence of any failure, within the envelope's limit. Never throws, whatever was thrown. */
export function sentenceOf(error: unknown): string {
  let text = 'Unknown failure';
  try {
    if (error instanceof Error) text = error.message;
    else if (typeof error === 'string') text = error;
    else if (error && typeof error === 'object' && typeof (error as { message?: unknown }).message === 'string')
      text = (error as { message: string }).message;
  } catch {
    // A hostile getter; the fixed text stands.
  }
  return text.slice(0, MAX_ERROR_CHARS).replace(LONE_SURROGATE, '\ufffd');
}

/** Characters of `error` in a run envelope. */
export const MAX_ERROR_CHARS = 2000;
