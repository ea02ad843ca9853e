import { describe, expect, it } from 'vitest';
import { createHttpFetch, type HttpFetch } from '../http-client.ts';
import type { CapabilityRun } from './capability.ts';
import { httpFetch, matches } from './http-fetch.ts';

const { signal } = new AbortController();

function capability(hosts: string[] | undefined, fetch?: HttpFetch) {
  const sent: unknown[] = [];
  const reply: HttpFetch = async (request, credentialFile) => {
    sent.push([request.method, request.url, credentialFile]);
    return { status: 200, headers: {}, body: 'hello' };
  };
  const run = {
    narrowing: { ...(hosts ? { hosts } : {}), ...(fetch ? {} : { credentialFile: 'key' }) },
    cancelled: signal,
  } as unknown as CapabilityRun;
  const handlers = httpFetch.create(run, { log: () => {}, now: () => 0, fetch: fetch ?? reply });
  return {
    sent,
    ask: async (request: object) => JSON.parse(await handlers!.fetch([JSON.stringify(request)])),
    handlers,
  };
}

describe('http.fetch', () => {
  it('reaches a host that the operator listed, with the credential that belongs to it', async () => {
    const { ask, sent } = capability(['api.example.com']);
    expect(await ask({ url: 'https://api.example.com/v1', method: 'POST', body: '{}' })).toMatchObject({ status: 200 });
    expect(sent).toEqual([['POST', 'https://api.example.com/v1', 'key']]);
  });

  it('is denied without a list of hosts', () => {
    expect(capability(undefined).handlers).toBe(undefined);
  });

  it.each([
    ['another host', { url: 'https://evil.example.com/' }, 'CAPABILITY_DENIED'],
    ['a host that ends alike', { url: 'https://notapi.example.com/' }, 'CAPABILITY_DENIED'],
    ['plain http', { url: 'http://api.example.com/' }, 'PLUGIN_CALL_INVALID'],
    ['another port', { url: 'https://api.example.com:8443/' }, 'PLUGIN_CALL_INVALID'],
    ['credentials in the address', { url: 'https://a:b@api.example.com/' }, 'PLUGIN_CALL_INVALID'],
    ['a file', { url: 'file:///etc/passwd' }, 'PLUGIN_CALL_INVALID'],
    [
      'a header of the host’s',
      { url: 'https://api.example.com/', headers: { Authorization: 'x' } },
      'PLUGIN_CALL_INVALID',
    ],
    [
      'a header with a line break',
      { url: 'https://api.example.com/', headers: { 'x-a': 'a\r\nb: c' } },
      'PLUGIN_CALL_INVALID',
    ],
    ['an unknown member', { url: 'https://api.example.com/', agent: {} }, 'PLUGIN_CALL_INVALID'],
  ])('refuses %s', async (_what, request, code) => {
    const { ask, sent } = capability(['api.example.com']);
    await expect(ask(request)).rejects.toMatchObject({ code });
    expect(sent).toEqual([]);
  });

  it.each([
    ['a loopback address', 'https://127.0.0.1/', '127.0.0.1'],
    ['a loopback address in other clothes', 'https://[::ffff:127.0.0.1]/', '[::ffff:7f00:1]'],
    ['a name of this machine', 'https://localhost/', 'localhost'],
    ['the cloud’s metadata', 'https://169.254.169.254/', '169.254.169.254'],
  ])('does not connect to %s, even when it is on the list', async (_what, url, host) => {
    const { ask } = capability([host], createHttpFetch());
    await expect(ask({ url })).rejects.toMatchObject({ code: 'CAPABILITY_DENIED' });
  });

  it('takes a star for names below, not for the name itself', () => {
    expect(matches('*.example.com', 'a.example.com')).toBe(true);
    expect(matches('*.example.com', 'example.com')).toBe(false);
    expect(matches('*.example.com', 'badexample.com')).toBe(false);
  });
});
