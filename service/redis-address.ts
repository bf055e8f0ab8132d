/**
 * Reads `GW_REDIS_URL`: `redis://…`, `rediss://…` over TLS, the path of a Unix socket, the primary that Sentinels name
 * (`redis+sentinel://user:password@host:26379,host:26379/name/0?sentinel_username=…&sentinel_password=…`), or a Cluster
 * (`redis+cluster://user:password@host:6379,host:6379`). `rediss+sentinel://` and `rediss+cluster://` use TLS to all of them.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis';

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
  const { db = '0', hosts = '', name = '', query, tls } = parts;
  const asked = new URLSearchParams(query);
  const [sentinelUsername, sentinelPassword] = ['sentinel_username', 'sentinel_password'].map((each) =>
    asked.get(each),
  );
  return {
    sentinels: hosts.split(',').map((host) => serverAt(host, sentinelPort)),
    name: decodeURIComponent(name),
    role: 'master',
    db: Number(db),
    ...loginIn(parts),
    ...(sentinelUsername ? { sentinelUsername } : {}),
    ...(sentinelPassword ? { sentinelPassword } : {}),
    ...(tls === 's' ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    connectTimeout: patienceMs,
    sentinelCommandTimeout: patienceMs,
    // A primary that hangs keeps its connections; the Sentinels say when another one has taken its place.
    failoverDetector: true,
  };
}

interface ClusterOptions {
  readonly nodes: { host: string; port: number }[];
  readonly login: Pick<Options, 'username' | 'password' | 'tls'>;
}

const clusterForm =
  /^redis(?<tls>s?)\+cluster:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)\/?$/;

/** Returns null for an address of another kind. Throws for one that cannot be read. */
export function clusterOptions(url: string): ClusterOptions | null {
  if (!/^rediss?\+cluster:/.test(url)) return null;
  const parts = clusterForm.exec(url)?.groups;
  if (parts === undefined)
    throw new Error('GW_REDIS_URL has to be redis+cluster://user:password@host:6379,host:6379, without a database.');
  const { hosts = '', tls } = parts;
  return {
    nodes: hosts.split(',').map((host) => serverAt(host, clusterPort)),
    login: { ...loginIn(parts), ...(tls === 's' ? { tls: {} } : {}) },
  };
}

const loginIn = ({ password, user }: Readonly<Record<string, string>>): Pick<Options, 'username' | 'password'> => ({
  ...(user ? { username: decodeURIComponent(user) } : {}),
  ...(password ? { password: decodeURIComponent(password) } : {}),
});

const sentinelPort = '26379';
const clusterPort = '6379';

function serverAt(address: string, usualPort: string): { host: string; port: number } {
  const [, host = '', port = usualPort] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(address.trim()) ?? [];
  if (host === '') throw new Error(`GW_REDIS_URL names a server that is not host:port: ${address}`);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

const slotsEveryMs = 2000;
/** How often a command is sent on within a Cluster before it fails. */
const mostRedirections = 3;

/** Each command goes to the primary of its slot. */
function connectCluster({ login, nodes }: ClusterOptions, options: Options): Redis {
  const { enableAutoPipelining, enableOfflineQueue, retryStrategy, ...ofNodes } = options;
  const cluster = new Cluster(nodes, {
    clusterRetryStrategy: (attempt) => retryStrategy?.(attempt) ?? Math.min(50 * attempt, 1000),
    enableAutoPipelining: enableAutoPipelining ?? false,
    enableOfflineQueue: enableOfflineQueue ?? true,
    maxRedirections: mostRedirections,
    // A command that may have been carried out is not sent again.
    retryDelayOnFailover: 0,
    // A node that falls silent closes no connection.
    slotsRefreshInterval: slotsEveryMs,
    redisOptions: { ...ofNodes, ...login },
    slotsRefreshTimeout: patienceMs,
    // A certificate has names, which would be replaced by addresses.
    ...(login.tls === undefined ? {} : { dnsLookup: (name, take) => take(null, name) }),
  });
  // It has all commands that a single connection has.
  return cluster as unknown as Redis;
}

/**
 * Connects to the primary. A replica that it finds in the place of the primary, as behind a name that has not followed yet, makes it connect
 * anew with the first write.
 */
export function connectRedis(url: string, options: Options): Redis {
  const all = { ...options, reconnectOnError: ({ message }: Error) => message.startsWith('READONLY') };
  const cluster = clusterOptions(url);
  if (cluster !== null) return connectCluster(cluster, options);
  const sentinel = sentinelOptions(url);
  // Without it a client ends for good once each Sentinel was asked in vain.
  const sentinelRetryStrategy = (attempt: number) => Math.min(50 * attempt, 1000);
  return sentinel === null ? new Redis(url, all) : new Redis({ ...all, ...sentinel, sentinelRetryStrategy });
}

/** Whether `redis` was opened for a Cluster. */
export const isRedisCluster = (redis: Redis): boolean => (redis as Redis | Cluster).isCluster;

/** The primaries of a Cluster, or the one server. */
export const redisPrimaries = (redis: Redis): readonly Redis[] =>
  isRedisCluster(redis) ? (redis as unknown as Cluster).nodes('master') : [redis];
