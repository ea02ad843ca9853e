/**
 * The address of a provider.
 *
 * Threat: a credential is sent to this address. It therefore must be one that nobody on the way can read (HTTPS, or this
 * machine), that carries nothing hidden (user, password, query, fragment), and that answers itself (redirects are
 * refused in provider-request.ts). Callers can never name one.
 */
export type JevProvider = 'typesafe' | 'upstream';

export const TYPESAFE_BASE = 'https://api.typesafe.ai';
const PATHS: Record<JevProvider, string> = { typesafe: '/v1/systemone', upstream: '/v1/jev/evaluate' };
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** @returns what is wrong with the address, or undefined. The address itself is never part of the message. */
export function baseUrlProblem(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'not an https address';
  if (/[\s\\\p{Cc}]/u.test(text)) return 'an address without white space or backslashes';
  const url = new URL(text);
  if (url.username || url.password) return 'an address without user or password';
  if (url.search || text.includes('?')) return 'an address without a query';
  if (url.hash || text.includes('#')) return 'an address without a fragment';
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) {
    return 'https; http only on localhost, 127.0.0.1 or [::1]';
  }
  return undefined;
}

export function isLoopbackUrl(text: string): boolean {
  return LOOPBACK.has(new URL(text).hostname);
}

export function isTypesafeUrl(text: string): boolean {
  return new URL(text).origin === TYPESAFE_BASE;
}

export interface Endpoint {
  origin: string;
  path: string;
}

/** Where evaluations go: a base, a base that ends in /v1, and the full path all name the same place. */
export function evaluationEndpoint(provider: JevProvider, base: string): Endpoint {
  const url = new URL(base);
  const suffix = PATHS[provider];
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(suffix)) return { origin: url.origin, path };
  return { origin: url.origin, path: path.endsWith('/v1') ? path + suffix.slice('/v1'.length) : path + suffix };
}
