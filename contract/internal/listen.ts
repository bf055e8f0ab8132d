/**
 * Addresses of processes: `unix:/path` or `host:port`.
 *
 * Invariant: an IPv6 address is in brackets, `[::1]:8080`; otherwise its port would be ambiguous.
 */
import { isIPv6 } from 'node:net';

/** The form for `server.listen`: an IPv6 host without brackets. */
interface HostPort {
  readonly host: string;
  readonly port: number;
}
export type Listen = HostPort | { readonly path: string };

const unixPrefix = 'unix:';

export const isUnixSocket = (text: string): boolean => text.startsWith(unixPrefix);

/** Returns null for any text but `host:port`. Port 0 takes a free port. */
export function readHostPort(text: string): HostPort | null {
  const [, bracketed, name, digits] = /^(?:\[([^\]]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) return null;
  return { host, port };
}

/** Returns null for any text but `unix:/path` or `host:port`. */
export function readListen(text: string): Listen | null {
  if (!isUnixSocket(text)) return readHostPort(text);
  const path = text.slice(unixPrefix.length);
  return path === '' ? null : { path };
}

/** Reads an address that the settings have validated. Throws for any other text. */
export const parseListen = (text: string): Listen => known(readListen(text), text, 'neither unix:/path nor host:port');

export const parseHostPort = (text: string): HostPort => known(readHostPort(text), text, 'not host:port');

function known<T>(listen: T | null, text: string, problem: string): T {
  if (listen === null) throw new Error(`"${text}" is ${problem}.`);
  return listen;
}
