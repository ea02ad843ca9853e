/**
 * Which network addresses are public. Everything else belongs to this machine, its network or nobody.
 *
 * Threat: a page or a plugin names an address, in any of its spellings, that leads into the operator's own network. Asked by
 * the browser's navigation and by the requests of plugins, so that neither knows a way that the other has closed.
 */
import { BlockList, isIP } from 'node:net';

const closed = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  closed.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of [
  ['::', 128],
  ['::1', 128],
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  closed.addSubnet(network, bits, 'ipv6');

/** @param address an IPv4 or IPv6 address, with or without brackets. */
export function isPublic(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const version = isIP(bare);
  if (version === 4) return !closed.check(bare, 'ipv4');
  if (version !== 6) return false;
  const inner = embedded(bare);
  if (inner !== undefined) return isPublic(inner);
  return !closed.check(bare, 'ipv6');
}

/** An IPv4 address that an IPv6 one leads to: mapped, compatible, translated (64:ff9b::/96) or tunnelled (2002::/16). */
function embedded(address: string): string | undefined {
  const parts = groups(address);
  if (!parts) return undefined;
  const quad = (high: number, low: number) => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = parts;
  if (a === 0x2002) return quad(b, c);
  if (a === 0x64 && b === 0xff9b) return quad(g, h);
  const zero = (a | b | c | d | e) === 0;
  if (zero && f === 0xffff) return quad(g, h);
  if (zero && f === 0 && (g !== 0 || h > 1)) return quad(g, h);
  return undefined;
}

function groups(address: string): number[] | undefined {
  const canonical = URL.canParse(`http://[${address}]/`)
    ? new URL(`http://[${address}]/`).hostname.slice(1, -1)
    : undefined;
  if (canonical === undefined) return undefined;
  const [head = '', tail] = canonical.split('::');
  const parse = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const before = parse(head);
  if (tail === undefined) return before;
  const after = parse(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}
