import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublic } from './addresses.ts';

describe('the public network', () => {
  it.each([
    ['this machine', ['127.0.0.1', '127.255.255.254', '0.0.0.0', '::1', '::', '[::1]']],
    ['a private network', ['10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fd00::1', 'fc00::1']],
    ['a network of the provider', ['100.64.0.1', '100.127.255.255', '198.18.0.1', '192.0.0.8']],
    [
      'a link, and the cloud’s metadata on it',
      ['169.254.169.254', '169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
    ],
    ['documentation', ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1']],
    ['everybody at once', ['224.0.0.1', '239.1.1.1', '255.255.255.255', 'ff02::1', '240.0.0.1']],
    [
      'an address in other clothes',
      ['::ffff:10.0.0.1', '::10.0.0.1', '64:ff9b::a00:1', '64:ff9b:1::1', '2002:a00:1::'],
    ],
    ['a tunnel whose end cannot be told', ['2001:0:1::1']],
    ['no address at all', ['', 'example.com', '1.2.3', '1.2.3.4.5', '::g', '10.0.0.1/8']],
  ])('does not include %s', (_, addresses) => {
    for (const address of addresses) expect([address, isPublic(address)]).toEqual([address, false]);
  });

  it('includes what lies beside the closed networks', () => {
    for (const address of ['1.1.1.1', '172.32.0.1', '172.15.0.1', '100.128.0.1', '11.0.0.1', '2606:4700::1111'])
      expect([address, isPublic(address)]).toEqual([address, true]);
    expect(isPublic('::ffff:1.1.1.1')).toBe(true);
  });

  it('never includes an address of a closed network, however it is written', () => {
    fc.assert(
      fc.property(fc.constantFrom(10, 127), fc.nat(255), fc.nat(255), fc.nat(255), (a, b, c, d) => {
        const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
        expect(isPublic(`${a}.${b}.${c}.${d}`)).toBe(false);
        expect(isPublic(`::ffff:${hex(a, b)}:${hex(c, d)}`)).toBe(false);
        expect(isPublic(`64:ff9b::${hex(a, b)}:${hex(c, d)}`)).toBe(false);
        expect(isPublic(`2002:${hex(a, b)}:${hex(c, d)}::1`)).toBe(false);
        expect(isPublic(new URL(`http://${a * 2 ** 24 + b * 65536 + c * 256 + d}/`).hostname)).toBe(false);
      }),
    );
  });
});
