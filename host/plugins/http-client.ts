/**
 * The requests behind `http.fetch`.
 *
 * Threat: a name that is on the operator's list may resolve to the host's own network, now or at the second look. So the
 * address is checked in the connection's own look-up, once, and that address is the one that is connected to. Redirects are
 * not followed: the next address would be the server's choice. Bodies and time are bounded. The credential is added here,
 * and goes nowhere but to the host that the operator listed beside it.
 */
import { lookup } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import * as v from 'valibot';
import { isPublic } from '../../core/authorization/addresses.ts';
import { HostError, refuse } from '../../sdk/contract/errors.ts';

/** Bytes of one answer's body. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_REQUEST_CHARS = 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_CREDENTIAL_CHARS = 8192;

/** Headers that the host, not the plugin, decides. */
const OWN_HEADERS =
  /^(?:host|authorization|cookie|proxy-.*|connection|transfer-encoding|content-length|upgrade|te|trailer|expect)$/i;

export const FetchRequest = v.strictObject({
  url: v.pipe(v.string(), v.maxLength(8192)),
  method: v.optional(v.picklist(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']), 'GET'),
  headers: v.optional(
    v.pipe(
      v.record(
        v.pipe(v.string(), v.regex(/^[A-Za-z0-9-]{1,64}$/)),
        v.pipe(v.string(), v.maxLength(4096), v.regex(/^[\x20-\x7e]*$/)),
      ),
      v.check((headers) => Object.keys(headers).length <= 32, 'at most 32 headers'),
      v.check(
        (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.test(name)),
        'that header is the host’s to set',
      ),
    ),
    {},
  ),
  body: v.optional(v.pipe(v.string(), v.maxLength(MAX_REQUEST_CHARS))),
});
export type FetchRequest = v.InferOutput<typeof FetchRequest>;

export interface FetchReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export type HttpFetch = (
  request: FetchRequest,
  credentialFile: string | undefined,
  signal: AbortSignal,
) => Promise<FetchReply>;

const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, '', 0);
    const [first] = addresses;
    if (!first || addresses.some(({ address }) => !isPublic(address))) {
      return done(
        new HostError('CAPABILITY_DENIED', { capability: `http.fetch ${hostname} (a private address)` }),
        '',
        0,
      );
    }
    return options.all ? done(null, addresses) : done(null, first.address, first.family);
  });
};

export function createHttpFetch(): HttpFetch {
  const agent = new Agent({ connect: { lookup: publicLookup, timeout: 10_000 }, connections: 8 });
  return async ({ url, method, headers, body }, credentialFile, signal) => {
    const { hostname } = new URL(url);
    // A literal address is never looked up.
    const literal = hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) && !isPublic(literal))
      refuse('CAPABILITY_DENIED', { capability: `http.fetch ${hostname} (a private address)` });
    const authorization =
      credentialFile === undefined ? {} : { authorization: `Bearer ${await credential(credentialFile)}` };
    const response = await request(url, {
      method,
      headers: { ...headers, ...authorization },
      ...(body === undefined ? {} : { body }),
      dispatcher: agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).catch((error: unknown) => {
      // The look-up's refusal keeps its code; the words of a network failure may name what a plugin must not learn.
      throw error instanceof HostError ? error : new HostError('PLUGIN_FETCH_FAILED', { host: hostname });
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        response.body.destroy();
        refuse('PLUGIN_FETCH_TOO_LARGE', { host: hostname, limit: MAX_BODY_BYTES });
      }
      chunks.push(chunk);
    }
    const received = Object.entries(response.headers).filter(([name]) => name !== 'set-cookie');
    return {
      status: response.statusCode,
      headers: Object.fromEntries(received.map(([name, value]) => [name, String(value)])),
      body: Buffer.concat(chunks).toString('utf8'),
    };
  };
}

async function credential(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => refuse('PLUGIN_FETCH_CREDENTIAL'));
  const secret = text.trim();
  if (!secret || secret.length > MAX_CREDENTIAL_CHARS || !/^[\x21-\x7e]+$/.test(secret))
    refuse('PLUGIN_FETCH_CREDENTIAL');
  return secret;
}
