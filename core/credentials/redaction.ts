/**
 * Takes credentials out of text that is about to be written somewhere: a log line, an error of a library, a crash report.
 *
 * Threat: a library puts the request it failed on into its error. Every value that this process resolved is known here
 * and is masked wherever it stands; what merely looks like a credential (a bearer header, a key with a known prefix, a
 * password in a URL) is masked as well. Only as much as the last line of defence: nothing should put one there.
 */
const MASK = '[private]';

/** A short value would mask ordinary words. */
const MIN_SECRET_CHARS = 6;
/** Rotated keys are remembered too, but not without end. */
const MAX_SECRETS = 256;

const LOOKS_PRIVATE: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${MASK}`],
  [/\b((?:sk|pk|ts|jev|key|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{12,})/g, MASK],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]+@/gi, `$1${MASK}@`],
  [
    /("?(?:authorization|x-api-key|api[_-]?key|password|secret|token)"?\s*[:=]\s*"?)(?!\[private\])[^\s",;}]{6,}/gi,
    `$1${MASK}`,
  ],
];

export interface Redactor {
  /** From now on this value is masked. */
  learn(secret: string): void;
  redact(text: string): string;
}

export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  return {
    learn(secret) {
      if (secret.length < MIN_SECRET_CHARS || secrets.has(secret)) return;
      if (secrets.size >= MAX_SECRETS) {
        const [oldest] = secrets;
        if (oldest !== undefined) secrets.delete(oldest);
      }
      secrets.add(secret);
    },
    redact(text) {
      let clean = text;
      for (const secret of secrets) {
        if (clean.includes(secret)) clean = clean.replaceAll(secret, MASK);
      }
      for (const [pattern, mask] of LOOKS_PRIVATE) clean = clean.replace(pattern, mask);
      return clean;
    },
  };
}
