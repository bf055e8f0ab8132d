/**
 * Where a process listens, or is found: `unix:/path` or `host:port`.
 *
 * Invariant: an IPv6 address is in brackets, `[::1]:8080`; without them no one could say where its port begins.
 */
import { isIPv6 } from 'node:net';

/** As `server.listen` takes it: an IPv6 host without its brackets. */
interface HostPort {
  readonly host: string;
  readonly port: number;
}
export type Listen = HostPort | { readonly path: string };

const unixPrefix = 'unix:';

/** True for a Unix socket: it stays on this machine and has the permissions of a file. */
export const isUnixSocket = (text: string): boolean => text.startsWith(unixPrefix);

/** Reads `host:port`; returns null for any other text. Port 0 takes a free port. */
export function readHostPort(text: string): HostPort | null {
  const [, bracketed, name, digits] = /^(?:\[([^\]]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) return null;
  return { host, port };
}

/** Reads `unix:/path` or `host:port`; returns null for any other text. */
export function readListen(text: string): Listen | null {
  if (!isUnixSocket(text)) return readHostPort(text);
  const path = text.slice(unixPrefix.length);
  return path === '' ? null : { path };
}

/** Reads an address that the settings have checked already. Throws if the text is neither `unix:/path` nor `host:port`. */
export const parseListen = (text: string): Listen => known(readListen(text), text, 'neither unix:/path nor host:port');

/** Reads an address that the settings have checked already. Throws if the text is not `host:port`. */
export const parseHostPort = (text: string): HostPort => known(readHostPort(text), text, 'not host:port');

function known<T>(listen: T | null, text: string, problem: string): T {
  if (listen === null) throw new Error(`"${text}" is ${problem}.`);
  return listen;
}
