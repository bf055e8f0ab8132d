/**
 * Hosts that are never contacted, by the name or address in a URL: link-local and metadata services, where a cloud hands out its own
 * credentials, and addresses that do not belong to a single host.
 *
 * Invariant: it judges the host as `URL` normalises it, so hexadecimal, octal, decimal and shortened spellings are equal. Loopback and
 * private addresses pass, because private model servers use them. Names are not resolved here.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Metadata services that are not link-local. */
const metadataAddresses = ['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'];
const metadataNames =
  /(^|\.)(metadata|metadata\.google\.internal|metadata\.goog|instance-data|instance-data\.ec2\.internal|metadata\.tencentyun\.com|metadata\.platformequinix\.com|api\.metadata\.cloud\.ibm\.com)$/;

const networks: readonly [reason: string, ...subnets: string[]][] = [
  ['link-local, where clouds keep their metadata', '169.254.0.0/16', 'fe80::/10'],
  ['a metadata service of a cloud', ...metadataAddresses],
  ['unspecified', '0.0.0.0/8', '::/128'],
  ['multicast or reserved', '224.0.0.0/4', '240.0.0.0/4', 'ff00::/8'],
];

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

const lists = networks.map(([reason, ...subnets]) => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = '', prefix] = subnet.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return { reason, list };
});

/** Returns why the host is refused, or null. `url` must be valid. */
export function refusedHost(url: string): string | null {
  const hostname = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (!isIPv4(hostname) && !isIPv6(hostname))
    return metadataNames.test(hostname) ? 'the name of a metadata service of a cloud' : null;
  if (hostname === '::1') return null;
  const addresses = [hostname, ...embeddedIn(hostname)];
  return lists.find(({ list }) => addresses.some((each) => list.check(each, familyOf(each))))?.reason ?? null;
}

/** IPv4 addresses to which a translator would forward this IPv6 address. */
function embeddedIn(address: string): string[] {
  if (!isIPv6(address)) return [];
  const groups = groupsOf(address);
  const v4 = (at: number) =>
    groups
      .slice(at, at + 2)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.');
  const start = groups.slice(0, 6).map((group) => group.toString(16));
  // IPv4-mapped, IPv4-compatible and IPv4-translated addresses, NAT64 (well-known and local prefix), and 6to4.
  const isTrailing = /^(0:0:0:0:0:(0|ffff)|0:0:0:0:ffff:0|64:ff9b:0:0:0:0|64:ff9b:1:.*)$/.test(start.join(':'));
  return [...(isTrailing ? [v4(6)] : []), ...(start[0] === '2002' ? [v4(1)] : [])];
}

/** Returns eight numbers. `URL` never leaves a dotted IPv4 part in an address. */
function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.split('::');
  const parsed = (text: string) =>
    text
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const [front, back] = [parsed(head), parsed(tail)];
  return [...front, ...Array<number>(Math.max(0, 8 - front.length - back.length)).fill(0), ...back];
}
