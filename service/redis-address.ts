/**
 * Reads `GW_REDIS_URL`: `redis://…`, `rediss://…` over TLS, the path of a Unix socket, or the same of a primary that Sentinels name:
 * `redis+sentinel://user:password@host:26379,host:26379/name/0?sentinel_username=…&sentinel_password=…`. `rediss+sentinel://` uses TLS to all
 * of them.
 */
import { Redis, type RedisOptions } from 'ioredis';

type Options = Omit<RedisOptions, 'replyMapping' | 'protocol'>;
export type SentinelOptions = Omit<Options, 'sentinels'> & {
  readonly sentinels: { host: string; port: number }[];
  readonly name: string;
  readonly db: number;
};

const sentinelForm =
  /^redis(?<tls>s?)\+sentinel:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)\/(?<name>[^/?]+)(?:\/(?<db>\d+))?(?:\?(?<query>.*))?$/;

/** A Sentinel is given up after this, ms. */
const patienceMs = 2000;

/** Returns null for an address without Sentinels. Throws for one that cannot be read. */
export function sentinelOptions(url: string): SentinelOptions | null {
  if (!/^rediss?\+sentinel:/.test(url)) return null;
  const parts = sentinelForm.exec(url)?.groups;
  if (parts === undefined)
    throw new Error('GW_REDIS_URL has to be redis+sentinel://user:password@host:26379,host:26379/name of the primary.');
  const { db = '0', hosts = '', name = '', password, query, tls, user } = parts;
  const asked = new URLSearchParams(query);
  const [sentinelUsername, sentinelPassword] = ['sentinel_username', 'sentinel_password'].map((each) =>
    asked.get(each),
  );
  return {
    sentinels: hosts.split(',').map(sentinelAt),
    name: decodeURIComponent(name),
    role: 'master',
    db: Number(db),
    ...(user ? { username: decodeURIComponent(user) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    ...(sentinelUsername ? { sentinelUsername } : {}),
    ...(sentinelPassword ? { sentinelPassword } : {}),
    ...(tls === 's' ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    connectTimeout: patienceMs,
    sentinelCommandTimeout: patienceMs,
    // A primary that hangs keeps its connections; the Sentinels say when another one has taken its place.
    failoverDetector: true,
  };
}

function sentinelAt(address: string): { host: string; port: number } {
  const [, host = '', port = '26379'] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(address.trim()) ?? [];
  if (host === '') throw new Error(`GW_REDIS_URL names a Sentinel that is not host:port: ${address}`);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

/**
 * Connects to the primary. A replica that it finds in the place of the primary, as behind a name that has not followed yet, makes it connect
 * anew with the first write.
 */
export function connectRedis(url: string, options: Options): Redis {
  const all = { ...options, reconnectOnError: ({ message }: Error) => message.startsWith('READONLY') };
  const sentinel = sentinelOptions(url);
  // Without it a client ends for good once each Sentinel was asked in vain.
  const sentinelRetryStrategy = (attempt: number) => Math.min(50 * attempt, 1000);
  return sentinel === null ? new Redis(url, all) : new Redis({ ...all, ...sentinel, sentinelRetryStrategy });
}
