/**
 * `http.fetch`: requests to hosts on the operator's list.
 *
 * Threat: a plugin would reach what the host can reach: the machine's own services, the cloud's metadata, the operator's
 * network. So only HTTPS on its usual port, and only names on the grant's list; a manifest's wish is not enough, and neither
 * is `true`. What the name resolves to, redirects and bodies are the client's to check (http-client.ts).
 */
import * as v from 'valibot';
import { refuse } from '../../../sdk/contract/errors.ts';
import { FetchRequest } from '../http-client.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

export const httpFetch: Capability<'http.fetch'> = {
  id: 'http.fetch',
  create({ narrowing, cancelled }, { fetch }) {
    if (!fetch || !narrowing.hosts) return undefined;
    const { hosts, credentialFile } = narrowing;
    return {
      async fetch([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        const request = v.safeParse(FetchRequest, parsed(text));
        if (!request.success) {
          const [issue] = request.issues;
          refuse('PLUGIN_CALL_INVALID', { path: v.getDotPath(issue) ?? 'the request', problem: issue.message });
        }
        const { url } = request.output;
        const address = URL.canParse(url) ? new URL(url) : undefined;
        if (address?.protocol !== 'https:' || address.username || address.password || address.port) {
          refuse('PLUGIN_CALL_INVALID', {
            path: 'url',
            problem: 'an https address without credentials and port is needed',
          });
        }
        if (!hosts.some((pattern) => matches(pattern, address.hostname))) {
          refuse('CAPABILITY_DENIED', { capability: `http.fetch ${address.hostname}` });
        }
        return JSON.stringify(await fetch({ ...request.output, url: address.href }, credentialFile, cancelled));
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
