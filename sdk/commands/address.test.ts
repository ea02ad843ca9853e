import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { givenAddress, helperAddress, onlyAddressIn, sameAddress } from './address.ts';

describe('an address from the text helper', () => {
  it.each([
    ['yahoo.com', 'https://yahoo.com'],
    [' https://www.Yahoo.co.jp/News ', 'https://www.yahoo.co.jp/News'],
    ['http://example.com:8080/a?b=c#d', 'http://example.com:8080/a?b=c#d'],
    ['ร้าน.ไทย', 'https://ร้าน.ไทย'],
    ['xn--12c1fe0br.xn--o3cw4h', 'https://xn--12c1fe0br.xn--o3cw4h'],
  ])('opens %j as %j', (answer, url) => expect(helperAddress(answer)).toBe(url));

  it.each([
    'javascript:alert(1)',
    'javascript://example.com/%0aalert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://example.com',
    'about:blank',
    'chrome://settings',
    'localhost',
    'http://localhost:3000',
    'http://a.localhost',
    'http://a.ｌｏｃａｌｈｏｓｔ',
    'intranet',
    'http://router/',
    '127.0.0.1',
    'http://127.0.0.1/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://user@example.com',
    'http://user:pass@example.com',
    'http://example.com@evil.example',
    'https://example.com\\@evil.example',
    'exa mple.com',
    'example.com\nevil.example',
    'exam\u200bple.com',
    '//example.com',
    '.example.com',
    'example..com',
    'example.com.',
    'example.c',
    'example.123',
    '-example.com',
    'example-.com',
    '',
    'null',
    `https://example.com/${'a'.repeat(2048)}`,
  ])('refuses %j', (answer) => expect(helperAddress(answer)).toBeUndefined());

  it('is http or https to a named host, whatever was answered', () => {
    const piece = fc.constantFrom(
      'http://',
      'https://',
      'javascript:',
      '@',
      ':',
      '.',
      '/',
      'com',
      'localhost',
      '127',
      '0',
      '[::1]',
      '\\',
      'ไทย',
      '。',
      '%00',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 12 }), (pieces) => {
        const url = helperAddress(pieces.join(''));
        if (!url) return;
        const parsed = new URL(url);
        expect(parsed.protocol).toMatch(/^https?:$/);
        expect(parsed.username + parsed.password).toBe('');
        expect(parsed.hostname).toMatch(/\.(?:[a-z]{2,63}|xn--[a-z0-9-]+)$/);
        expect(parsed.hostname).not.toMatch(/(?:^|\.)localhost\.?$/);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('an address that the user gives', () => {
  it('may name a machine of the user’s own when it is written out with its scheme', () => {
    expect(givenAddress('http://localhost:3000/a')).toBe('http://localhost:3000/a');
    expect(givenAddress('localhost:3000')).toBeUndefined();
  });

  it('is one in a goal only when the goal names exactly one', () => {
    expect(onlyAddressIn('Go to example.com and read the page.')).toBe('https://example.com');
    expect(onlyAddressIn('Open https://example.com/, then www.example.com again')).toBeDefined();
    expect(onlyAddressIn('Compare example.com with example.org')).toBeUndefined();
    expect(onlyAddressIn('Find report.pdf')).toBeUndefined();
    expect(onlyAddressIn('Get https://example.com/report.pdf')).toBe('https://example.com/report.pdf');
    expect(onlyAddressIn('Search for cats.')).toBeUndefined();
    expect(onlyAddressIn('write to me@example.com')).toBeUndefined();
  });

  it('is the same without scheme, www., closing slash and fragment', () => {
    const forms = ['https://example.com', 'http://www.example.com/', 'https://EXAMPLE.com/#top', 'example.com'];
    expect(new Set(forms.map(sameAddress))).toEqual(new Set(['example.com']));
    expect(sameAddress('https://example.com/A')).not.toBe(sameAddress('https://example.com/a'));
    expect(sameAddress('https://example.com/?a=1')).not.toBe(sameAddress('https://example.com/?a=2'));
  });
});
