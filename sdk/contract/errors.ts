/** Typed failures. A `HostError` is the only kind that crosses a room's border on purpose; its code is in the catalogue. */
import { type Code, type CodeDetails, codes, describeCode, isCode } from './codes.ts';

export class HostError extends Error {
  readonly code: Code;
  /** Safe to show and to log: numbers, names and paths only. */
  readonly details: CodeDetails;

  constructor(code: Code, details: CodeDetails = {}, options?: ErrorOptions) {
    super(describeCode(code, details), options);
    this.name = 'HostError';
    this.code = code;
    this.details = details;
  }

  get next(): string {
    return codes[this.code].next;
  }

  get retry(): 'safe' | 'useless' | 'unsafe' {
    return codes[this.code].retry;
  }

  toJSON(): { code: Code; message: string; next: string; details: CodeDetails } {
    return { code: this.code, message: this.message, next: this.next, details: this.details };
  }
}

/** Throws the catalogued refusal. */
export function refuse(code: Code, details: CodeDetails = {}): never {
  throw new HostError(code, details);
}

/** Inside a plugin's sandbox the host's failures arrive as plain errors with the same members, so the class is not asked. */
export function isHostError(error: unknown, code?: Code): error is HostError {
  if (!(error instanceof Error) || error.name !== 'HostError') return false;
  const found = (error as { code?: unknown }).code;
  return code === undefined ? isCode(found) : found === code;
}
