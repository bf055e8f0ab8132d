/**
 * Guards connections to addresses from configuration: refuses what `refused-host` refuses, and the gateway's own listeners.
 *
 * Invariant: it judges the resolved addresses and returns exactly these to connect to, so that a different DNS answer a moment later
 * changes nothing. One refused address among several is enough, because the caller may pick any of them.
 */
import dns, { type LookupAddress } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isLoopback } from '@gw/contract/internal/loopback';
import { refusedHost } from '@gw/contract/internal/refused-host';

export interface OwnListener {
  /** Description for people: `Postgres (GW_DATABASE_URL)`. */
  readonly what: string;
  /** A name or an address; `0.0.0.0` and `::` mean all addresses of this machine. */
  readonly host: string;
  readonly port: number;
  /** Others may share the address, as at an ingress, so only its name and its numeric address are refused. */
  readonly isShared?: boolean;
}

/** Returns all addresses of a name; rejects if there are none. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface AddressGuard {
  /** Returns the addresses to connect to. Rejects with AddressRefused or the error of DNS. */
  admitted(hostname: string, port: number): Promise<readonly LookupAddress[]>;
  /** Returns why connections to this URL are refused, or null. A name that cannot be resolved in time is not refused. */
  refusal(url: string): Promise<string | null>;
}

export class AddressRefused extends Error {}

/** How long `refusal` waits for DNS. */
const patienceMs = 5000;

const systemLookup: Lookup = (hostname) =>
  new Promise((resolve, reject) => {
    dns.lookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });

export function openAddressGuard(own: readonly OwnListener[] = [], lookup: Lookup = systemLookup): AddressGuard {
  async function isOwn(listener: OwnListener, hostname: string, addresses: readonly string[]): Promise<boolean> {
    const ours = await addressesOf(listener, lookup);
    return addresses.map(canonical).some((each) => {
      if (!ours.has(each)) return false;
      return !listener.isShared || isIP(hostname) !== 0 || machineAddresses().has(each);
    });
  }

  async function admitted(host: string, port: number): Promise<readonly LookupAddress[]> {
    const hostname = bare(host);
    const named = refusedHost(urlOf(hostname));
    if (named !== null) throw new AddressRefused(named);
    const near = own.filter((listener) => listener.port === port);
    // The name is compared too, because it may not resolve here.
    for (const { host: ours, what } of near) if (ours === hostname) throw new AddressRefused(ownText(what));
    const family = isIP(hostname);
    const addresses = family === 0 ? await lookup(hostname) : [{ address: hostname, family }];
    const texts = addresses.map(({ address }) => withoutZone(address));
    for (const address of texts) {
      const refused = refusedHost(urlOf(address));
      if (refused !== null) throw new AddressRefused(refused);
    }
    for (const listener of near)
      if (await isOwn(listener, hostname, texts)) throw new AddressRefused(ownText(listener.what));
    return addresses;
  }

  return {
    admitted,
    refusal: async (url) => {
      const { hostname, port } = targetOf(url);
      try {
        await Promise.race([admitted(hostname, port), delay(patienceMs, undefined, { ref: false })]);
        return null;
      } catch (error) {
        return error instanceof AddressRefused ? error.message : null;
      }
    },
  };
}

const ownText = (what: string): string => `the gateway's own ${what}`;

export function targetOf(url: string): { readonly hostname: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(url);
  return { hostname: bare(hostname), port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

async function addressesOf({ host }: OwnListener, lookup: Lookup): Promise<ReadonlySet<string>> {
  if (host === '0.0.0.0' || host === '::') return machineAddresses();
  if (isIP(host) !== 0) return new Set([canonical(host)]);
  // A listener whose name does not resolve is only recognised by its name.
  const found = await lookup(host).catch(() => []);
  return new Set(found.map(({ address }) => canonical(withoutZone(address))));
}

function machineAddresses(): ReadonlySet<string> {
  const found = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(['127.0.0.1', ...found.map(({ address }) => canonical(withoutZone(address)))]);
}

/** Normalises an address: IPv4-mapped IPv6 becomes IPv4, and all loopback addresses become one. */
function canonical(address: string): string {
  const text = bare(new URL(urlOf(address)).hostname);
  const [, ...mapped] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(text) ?? [];
  const parts = mapped.map((part) => Number.parseInt(part, 16));
  const plain = parts.length === 0 ? text : parts.flatMap((part) => [part >> 8, part & 255]).join('.');
  return isLoopback(plain) ? '127.0.0.1' : plain;
}

const bare = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
const withoutZone = (address: string): string => address.replace(/%.*$/, '');
const urlOf = (host: string): string => `http://${isIPv6(host) ? `[${host}]` : host}/`;
