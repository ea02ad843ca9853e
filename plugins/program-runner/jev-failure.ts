/** A failed evaluation in the words that programs know. Never a body, a header or an address of the provider. */
import { type Code, type HostError, isCode } from '../../sdk/index.ts';
import { programError, sentenceOf } from '../../sdk/programs/program-error.ts';

const unavailable = 'Jev credentials unavailable: set TYPESAFE_API_KEY or configure jev.credentialCommand';

const sentences: Partial<Record<Code, string>> = {
  JEV_CANCELLED: 'Jev request cancelled or timed out',
  JEV_DEADLINE_EXCEEDED: 'Jev request cancelled or timed out',
  JEV_PROVIDER_UNAVAILABLE: 'Jev network request failed',
  JEV_INVALID_RESPONSE: 'TypeSafe returned an invalid typed response',
  JEV_INVALID_CONFIG: unavailable,
};

/** Statuses at which asking again at once makes it worse. */
const SLOW_DOWN = [429, 529];

/** What the program sees for a rejected `jev.evaluate`. The status is the provider's, where one came. */
export function jevFailure(error: unknown): HostError {
  const { code, details } = parts(error);
  // The host's own sentence for programs.
  if (code?.startsWith('PROGRAM_')) return programError('PROGRAM_CALL_FAILED', sentenceOf(error));
  const status = details.status;
  if (code === 'JEV_INVALID_RESPONSE' && details.empty === true)
    return programError('PROGRAM_CALL_FAILED', 'TypeSafe returned an empty response');
  if (details.phase === 'response' && (code === 'JEV_DEADLINE_EXCEEDED' || code === 'JEV_CANCELLED'))
    return programError('PROGRAM_CALL_FAILED', 'Jev response cancelled or timed out');
  // What came back with a good status was too large, or no JSON at all.
  if (code === 'JEV_INVALID_RESPONSE' && typeof status === 'number' && status < 300)
    return programError('PROGRAM_CALL_FAILED', 'TypeSafe returned an invalid or oversized typed response');
  if (typeof status === 'number') {
    const hint = SLOW_DOWN.includes(status) ? ': rate limited; back off before retrying' : '';
    return programError('PROGRAM_CALL_FAILED', `TypeSafe HTTP ${status}${hint}`);
  }
  if (code === 'JEV_RATE_LIMITED')
    return programError('PROGRAM_CALL_FAILED', 'Jev rate limited; back off before retrying');
  if (code === 'JEV_AUTHENTICATION_FAILED') return programError('PROGRAM_CALL_FAILED', credentialSentence(details));
  const sentence = code && sentences[code];
  return programError('PROGRAM_CALL_FAILED', sentence ?? (code ? `${code}: ${sentenceOf(error)}` : unknownFailure));
}

/** What went wrong with the operator's credential command; never what it printed. */
function credentialSentence({ source, problem }: Record<string, unknown>): string {
  if (typeof source !== 'string' || !source.startsWith('command ')) return unavailable;
  if (typeof problem === 'string' && UNUSABLE.test(problem))
    return 'Jev credential resolver returned an invalid credential';
  return 'Jev credential resolver failed';
}

/** Problems of what the command printed, rather than of the command. */
const UNUSABLE = /^it (?:is empty|is not one line|has more than)/;

const unknownFailure = 'Jev network request failed';

function parts(error: unknown): { code?: Code; details: Record<string, unknown> } {
  if (typeof error !== 'object' || error === null) return { details: {} };
  const { code, details } = error as { code?: unknown; details?: unknown };
  return {
    ...(isCode(code) ? { code } : {}),
    details: typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {},
  };
}
