/**
 * The host's log: JSON lines on stderr, one event each.
 *
 * Threat: a credential reaches the log inside an error of a library. Every line passes the redactor as the last step, so
 * that no caller has to think of it.
 */
import { pino } from 'pino';
import type { Redactor } from '../core/credentials/redaction.ts';

export interface HostLog {
  debug(details: Record<string, unknown>, text: string): void;
  info(details: Record<string, unknown>, text: string): void;
  warn(details: Record<string, unknown>, text: string): void;
  error(details: Record<string, unknown>, text: string): void;
  setLevel(level: string): void;
}

export function createLog(sink: NodeJS.WritableStream, redactor: Redactor, level: string): HostLog {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void sink.write(redactor.redact(line)) },
  );
  return {
    debug: (details, text) => log.debug(details, text),
    info: (details, text) => log.info(details, text),
    warn: (details, text) => log.warn(details, text),
    error: (details, text) => log.error(details, text),
    setLevel(next) {
      log.level = next;
    },
  };
}
