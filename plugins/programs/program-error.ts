/** Refusals of this plugin: a code of the catalogue and the exact sentence. */
import { type Code, HostError } from '../../sdk/index.ts';

export type ProgramCode = Extract<Code, `PROGRAM_${string}`>;

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
  return text.toWellFormed().slice(0, MAX_ERROR_CHARS);
}

/** Characters of `error` in a run envelope. */
export const MAX_ERROR_CHARS = 2000;
