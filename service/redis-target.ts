/** Connects the lean writer to where `GW_REDIS_URL` leads. */
import { createConnection, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SentinelConnector } from 'ioredis';
import { type SentinelOptions, sentinelOptions } from './redis-address.ts';
import type { Command } from './redis-commands.ts';

export const connectTimeoutMs = 2000;
/** Keeps NAT and load balancers from dropping a connection, or reveals that they have. */
const keepAliveMs = 30_000;

const nothing = (): void => undefined;
const mostSentinels = 10;

/** An address without a route fails before the caller can listen, and an `error` that nobody hears ends the process. */
const heeded = <T extends Socket>(socket: T): T => socket.once('error', nothing);

export interface RedisTarget {
  /** Begins to connect, once it is known where the primary is. */
  readonly dial: () => Promise<Socket>;
  readonly stop: () => void;
  /** The event when the socket can be written to. */
  readonly connected: 'connect' | 'secureConnect';
  /** Commands before all others. */
  readonly hello: readonly Command[];
}

/** Each may be missing or empty. */
const helloOf = (user?: string | null, password?: string | null, database = ''): readonly Command[] => [
  ...(password ? [['AUTH', ...(user ? [user] : []), password]] : []),
  ...(database ? [['SELECT', database]] : []),
];

function atSocket(url: string): RedisTarget {
  const [path = url, query] = url.split('?', 2);
  const asked = new URLSearchParams(query);
  const hello = helloOf(asked.get('username'), asked.get('password'));
  return { dial: async () => heeded(createConnection(path)), stop: nothing, connected: 'connect', hello };
}

/** Sentinels are asked for the primary at each connection. */
function behindSentinels({ db, password, username, ...options }: SentinelOptions): RedisTarget {
  const connector = new SentinelConnector({
    disconnectTimeout: connectTimeoutMs,
    ...options,
    // Without it the connector does not listen for another primary.
    sentinelMaxConnections: mostSentinels,
    // The writer tries again by itself.
    sentinelRetryStrategy: () => null,
  });
  return {
    dial: async () => ((await connector.connect(nothing)) as Socket).setNoDelay(true).setKeepAlive(true, keepAliveMs),
    stop: () => connector.disconnect(),
    connected: options.tls === undefined ? 'connect' : 'secureConnect',
    hello: helloOf(username, password, db === 0 ? '' : String(db)),
  };
}

/** Throws for a URL of another protocol. */
export function targetOf(url: string): RedisTarget {
  if (url.startsWith('/')) return atSocket(url);
  const sentinel = sentinelOptions(url);
  if (sentinel !== null) return behindSentinels(sentinel);
  const { hostname, password, pathname, port, protocol, username } = new URL(url);
  if (protocol !== 'redis:' && protocol !== 'rediss:') throw new Error(`Redis cannot be reached by ${protocol}.`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const at = { host, port: Number(port || 6379) };
  const hello = helloOf(decodeURIComponent(username), decodeURIComponent(password), pathname.slice(1));
  return protocol === 'redis:'
    ? {
        dial: async () =>
          heeded(createConnection({ ...at, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs })),
        stop: nothing,
        connected: 'connect',
        hello,
      }
    : {
        dial: async () =>
          heeded(connectTls({ ...at, ...(isIP(host) === 0 && { servername: host }) }))
            .setNoDelay(true)
            .setKeepAlive(true, keepAliveMs),
        stop: nothing,
        connected: 'secureConnect',
        hello,
      };
}
