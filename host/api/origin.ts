/**
 * Which Host and Origin a request may carry.
 *
 * Threat: a web page in the user's browser reaches loopback. A name that resolves to 127.0.0.1 (DNS rebinding) shows in
 * Host; a page of another site shows in Origin. Both are checked before the key, so that a page learns nothing.
 */
import { refuse } from '../../sdk/contract/errors.ts';

export interface OriginRules {
  /** Names that requests may use in Host, without ports, lower case; IPv6 in brackets. */
  hosts: ReadonlySet<string>;
  /** Origins of pages that may call, besides those that the host serves itself. */
  origins: ReadonlySet<string>;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

export function originRules(config: {
  host: string;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  publicUrl?: string | undefined;
}): OriginRules {
  const hosts = new Set([...LOOPBACK, ...config.allowedHosts.map(withBrackets)]);
  // Listening on everything names no host; the operator lists the names that clients use.
  if (!['0.0.0.0', '::', '[::]'].includes(config.host)) hosts.add(withBrackets(config.host));
  const origins = new Set(config.allowedOrigins);
  if (config.publicUrl !== undefined) {
    const url = new URL(config.publicUrl);
    hosts.add(url.hostname);
    origins.add(url.origin);
  }
  return { hosts, origins };
}

function withBrackets(host: string): string {
  const name = host.toLowerCase();
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

/** @throws HOST_NOT_ALLOWED or ORIGIN_NOT_ALLOWED. */
export function checkOrigin(
  rules: OriginRules,
  headers: { host?: string | undefined; origin?: string | undefined },
): void {
  const host = hostName(headers.host);
  if (host === undefined || !rules.hosts.has(host)) refuse('HOST_NOT_ALLOWED');
  if (headers.origin === undefined) return;
  // A page that the host served itself calls the host that it came from.
  const own = URL.canParse(headers.origin) ? new URL(headers.origin) : undefined;
  const sameHost = own !== undefined && /^https?:$/.test(own.protocol) && own.host === headers.host?.toLowerCase();
  const local = own !== undefined && /^https?:$/.test(own.protocol) && LOOPBACK.includes(own.hostname);
  if (!sameHost && !local && !rules.origins.has(headers.origin)) refuse('ORIGIN_NOT_ALLOWED');
}

/** The name in a Host header without its port; undefined when it is not one. */
export function hostName(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/.exec(header?.toLowerCase() ?? '');
  return match?.[1];
}
