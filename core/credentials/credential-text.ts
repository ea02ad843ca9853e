/** What may be used as a credential: one line of printable characters, as it goes into a header. */
import { refuse } from '../../sdk/contract/errors.ts';

/** Characters that a credential may have. */
export const MAX_CREDENTIAL_CHARS = 16_384;

/**
 * @param source words for the message: where the text came from. Never the text.
 * @returns the text without surrounding white space.
 * @throws CREDENTIAL_UNUSABLE when it is empty, too long, or has a line break or another control character, which would
 *   let it end one header and begin another.
 */
export function credentialText(text: string, source: string): string {
  const trimmed = text.trim();
  if (trimmed === '') refuse('CREDENTIAL_UNUSABLE', { source, problem: 'it is empty' });
  if (trimmed.length > MAX_CREDENTIAL_CHARS) {
    refuse('CREDENTIAL_UNUSABLE', { source, problem: `it has more than ${MAX_CREDENTIAL_CHARS} characters` });
  }
  if (!/^[\x20-\x7e]+$/.test(trimmed)) {
    refuse('CREDENTIAL_UNUSABLE', { source, problem: 'it is not one line of plain characters' });
  }
  return trimmed;
}
