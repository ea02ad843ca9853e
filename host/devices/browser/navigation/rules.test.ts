import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { NavigationRules } from '../config.ts';
import { Rules } from './rules.ts';

const names: Record<string, string[] | 'late'> = {
  'silent.example': 'late',
  'shop.example': ['93.184.216.34'],
  'inside.example': ['10.0.0.7'],
  'both.example': ['93.184.216.34', '127.0.0.1'],
  'six.example': ['2606:2800:220:1::1'],
};
const rules = (given: Record<string, unknown> = {}, direct = true) =>
  new Rules(v.parse(NavigationRules, given), { resolve: async (name) => names[name] ?? [], direct });

describe('where a tab may go', () => {
  it.each([
    ['http://shop.example/', undefined],
    ['https://six.example/a?b#c', undefined],
    ['about:blank', undefined],
    ['http://inside.example/', 'PRIVATE_ADDRESS'],
    ['http://both.example/', 'PRIVATE_ADDRESS'],
    ['http://not-known.example/', 'NAME_NOT_FOUND'],
    ['http://intranet/', 'NAME_NOT_FOUND'],
    ['http://silent.example/', 'NAME_LOOKUP_TIMEOUT'],
    ['view-source:http://shop.example/', 'SCHEME'],
    ['blob:http://shop.example/1', 'SCHEME'],
    ['http://127.0.0.1:8080/', 'PRIVATE_ADDRESS'],
    ['http://2130706433/', 'PRIVATE_ADDRESS'],
    ['http://0x7f.1/', 'PRIVATE_ADDRESS'],
    ['http://127.1/', 'PRIVATE_ADDRESS'],
    ['http://0/', 'PRIVATE_ADDRESS'],
    ['http://[::1]/', 'PRIVATE_ADDRESS'],
    ['http://[::ffff:127.0.0.1]/', 'PRIVATE_ADDRESS'],
    ['http://[64:ff9b::a00:1]/', 'PRIVATE_ADDRESS'],
    ['http://[2002:7f00:1::]/', 'PRIVATE_ADDRESS'],
    ['http://[fe80::1]/', 'PRIVATE_ADDRESS'],
    ['http://169.254.169.254/latest/meta-data', 'PRIVATE_ADDRESS'],
    ['http://localhost/', 'PRIVATE_ADDRESS'],
    ['http://LOCALHOST./', 'PRIVATE_ADDRESS'],
    ['http://a.localhost:3000/', 'PRIVATE_ADDRESS'],
    ['file:///etc/passwd', 'SCHEME'],
    ['chrome://settings', 'SCHEME'],
    ['javascript:alert(1)', 'SCHEME'],
    ['data:text/html,x', 'SCHEME'],
    ['ftp://shop.example/', 'SCHEME'],
    ['http://user:secret@shop.example/', 'CREDENTIALS_IN_ADDRESS'],
    ['not an address', 'NOT_AN_ADDRESS'],
  ])('%s: %s', async (address, cause) => {
    expect((await rules().denial(address))?.cause).toBe(cause);
  });

  it.each([
    ['http://shop.example/', undefined],
    ['http://not-known.example/', undefined],
    ['http://silent.example/', undefined],
    ['http://inside.example/', 'PRIVATE_ADDRESS'],
    ['http://localhost/', 'PRIVATE_ADDRESS'],
    ['http://10.0.0.7/', 'PRIVATE_ADDRESS'],
  ])('behind a proxy, which looks names up itself: %s: %s', async (address, cause) => {
    expect((await rules({}, false).denial(address))?.cause).toBe(cause);
  });

  it('is widened and narrowed by the operator, and a refusal wins', async () => {
    const set = rules({
      allow: ['http://127.0.0.1:8080', 'https://*.inside.example', 'http://localhost:*'],
      deny: ['http://shop.example', 'https://bad.inside.example'],
    });
    expect(await set.denial('http://127.0.0.1:8080/x')).toBeUndefined();
    expect((await set.denial('http://127.0.0.1:8081/x'))?.cause).toBe('PRIVATE_ADDRESS');
    expect((await set.denial('https://127.0.0.1:8080/x'))?.cause).toBe('PRIVATE_ADDRESS');
    expect(await set.denial('https://a.inside.example/')).toBeUndefined();
    expect((await set.denial('https://bad.inside.example/'))?.cause).toBe('DENIED_BY_RULE');
    expect((await set.denial('https://evilinside.example/'))?.cause).toBe('NAME_NOT_FOUND');
    expect(await set.denial('http://localhost:9999/')).toBeUndefined();
    expect((await set.denial('http://shop.example/'))?.cause).toBe('DENIED_BY_RULE');
    expect((await rules({ only: true, allow: ['https://six.example'] }).denial('http://shop.example/'))?.cause).toBe(
      'NOT_ON_THE_LIST',
    );
    expect(await rules({ allow: ['file://'] }).denial('file:///srv/manual.html')).toBeUndefined();
  });

  it('is decided again by the address that answered', () => {
    expect(rules().answeredFromInside('http://shop.example/', '127.0.0.1')).toBe(true);
    expect(rules().answeredFromInside('http://shop.example/', '[::ffff:10.0.0.1]')).toBe(true);
    expect(rules().answeredFromInside('http://shop.example/', '93.184.216.34')).toBe(false);
    expect(rules({}, false).answeredFromInside('http://shop.example/', '127.0.0.1')).toBe(false);
    expect(rules({ allow: ['http://shop.example'] }).answeredFromInside('http://shop.example/', '127.0.0.1')).toBe(
      false,
    );
  });
});
