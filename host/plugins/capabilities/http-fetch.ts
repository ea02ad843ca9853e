/**
 * `http.fetch`: requests to hosts on the operator's list.
 *
 * Threat: a plugin would reach what the host can reach: the machine's own services, the cloud's metadata, the operator's
 * network. So only HTTPS, only names that are on the grant's list (a manifest's wish is not enough), no redirects, bodies
 * within limits, and a name that resolves to a private address is refused when the connection is made, not before.
 */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

export const httpFetch: Capability<'http.fetch'> = {
  id: 'http.fetch',
  create({ ports: { fetch }, narrowing, cancelled }) {
    if (!fetch || !narrowing.hosts) return undefined;
    const hosts = narrowing.hosts;
    return {
      async fetch([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        const request = parsed(text);
        const address = typeof request.url === 'string' && URL.canParse(request.url) ? new URL(request.url) : undefined;
        if (address?.protocol !== 'https:' || address.username || address.password) {
          refuse('PLUGIN_CALL_INVALID', { path: 'url', problem: 'an https address without credentials is needed' });
        }
        if (!hosts.some((pattern) => matches(pattern, address.hostname))) {
          refuse('CAPABILITY_DENIED', { capability: `http.fetch ${address.hostname}` });
        }
        return JSON.stringify(await fetch({ ...request, url: address.href }, cancelled));
      },
    };
  },
};

/** `*.example.com` is every name below example.com, not example.com itself. */
export function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.')
    ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1
    : host === pattern;
}
