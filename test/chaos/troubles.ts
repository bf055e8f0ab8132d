/** Does to the parts what the schedule says, and mends it again. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '@gw/contract/internal/defined';
import { ledgerStream } from '@gw/contract/internal/redis';
import { connectRedis, redisPrimaries } from '@gw/service/redis-address';
import type { PartName } from '@gw/stack/stack-plans';
import type { Redis } from 'ioredis';
import type { OwnGateway } from '../outage/own-gateway.ts';
import type { RollingCertificates } from './certificates.ts';
import type { Follower } from './follower.ts';
import type { Replica } from './promotion.ts';
import { envoys, partsOf, type Strike, services, type Trouble } from './schedule.ts';
import type { ValkeyServers } from './valkey-servers.ts';

export interface Surroundings {
  readonly gateway: OwnGateway;
  /** Folder of the files that say how wrong clocks are. */
  readonly clocks: string;
  /** Null where there is one, which the stack has. */
  readonly valkey: ValkeyServers | null;
  /** Null where the parts speak over sockets. */
  readonly certificates: RollingCertificates | null;
  readonly tell: (line: string) => void;
}

/** The same while calls are made. */
export interface UnderWay extends Surroundings {
  readonly accountId: string;
  readonly follower: Follower;
  /** Null where none is promoted. */
  readonly replica: Replica | null;
}

/** Some strikes are against more than a part; their acts do not ask for one. */
type StrikeOnPart = Omit<Strike, 'part'> & { readonly part: PartName };
type Act = (all: UnderWay, strike: StrikeOnPart) => Promise<void>;

/** Turns of 50 ms, of which a slow part has 10. */
const turnMs = { stands: 40, goes: 10 };

export const clockFile = (clocks: string, part: string): string => join(clocks, part);
const spoolOf = (dir: string, part: PartName): string => join(dir, part.replace('receipt-sidecar', 'spool'));

const acts: Readonly<Record<Trouble, Act>> = {
  kill: async ({ gateway }, { part }) => gateway.kill(part),
  away: async ({ gateway }, { part, forMs }) => {
    await gateway.killForGood(part);
    await delay(forMs);
    await gateway.stack.part(part).start();
  },
  restart: ({ gateway }, { part }) => gateway.stack.part(part).restart(),
  pause: ({ gateway }, { part, forMs }) => standing(gateway, part, forMs),
  slow: async ({ gateway }, { part, forMs }) => {
    for (const end = performance.now() + forMs; performance.now() < end; await delay(turnMs.goes))
      await standing(gateway, part, turnMs.stands);
  },
  cut: ({ gateway }, { part }) => (part === 'valkey' ? cutValkey(gateway) : cutPostgres(gateway)),
  disk: async ({ gateway }, { part, forMs }) => {
    const spool = spoolOf(gateway.dir, part);
    renameSync(spool, `${spool}.away`);
    writeFileSync(spool, '');
    await delay(forMs);
    rmSync(spool, { recursive: true });
    renameSync(`${spool}.away`, spool);
  },
  full: async ({ gateway }, { forMs }) => {
    // More than a byte, or Valkey would refuse to say so.
    await withValkey(gateway, (redis) => redis.config('SET', 'maxmemory', '1mb'));
    await delay(forMs);
    await withValkey(gateway, (redis) => redis.config('SET', 'maxmemory', '0'));
  },
  clock: async ({ clocks }, { part, forMs, skewMs }) => {
    const files = partsOf(part).map((each) => clockFile(clocks, each));
    for (const file of files) writeFileSync(file, String(skewMs));
    await delay(forMs);
    for (const file of files) rmSync(file);
  },
  failover: ({ accountId, valkey }, { forMs }) => defined(valkey, 'Its servers').failOver(forMs, accountId),
  roll: ({ certificates }, { forMs }) => defined(certificates, 'Its certificates').roll(forMs),
  promote: async ({ follower, replica }, { forMs }) => {
    try {
      await defined(replica, 'The replica').promote(forMs);
    } finally {
      follower.readAgain();
    }
  },
};

async function standing(gateway: OwnGateway, part: PartName, forMs: number): Promise<void> {
  // It may be down, from a blow just before.
  if (gateway.stack.part(part).pid === null) return;
  const goOn = gateway.pause(part);
  await delay(forMs);
  goOn();
}

async function withValkey<T>({ stack }: OwnGateway, ask: (redis: Redis) => Promise<T>): Promise<void> {
  const redis = connectRedis(stack.redisUrl, { maxRetriesPerRequest: 20 });
  try {
    await ask(redis);
  } finally {
    redis.disconnect();
  }
}

const cutValkey = (gateway: OwnGateway) =>
  withValkey(gateway, async (redis) => {
    // A Cluster finds its nodes with the first command.
    await redis.exists(ledgerStream);
    await Promise.all(redisPrimaries(redis).map((each) => each.call('CLIENT', 'KILL', 'TYPE', 'normal')));
  });

async function cutPostgres({ owner }: OwnGateway): Promise<void> {
  const others =
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()';
  await owner.$queryRawUnsafe(others);
}

export interface Blow extends Pick<Strike, 'part' | 'trouble' | 'forMs'> {
  /** By the clock of the machine. */
  readonly atMs: number;
  /** Resolves when the one that was started in its place takes connections, by the clock; null for what is no Envoy, or was not ended. */
  readonly back: Promise<number | null>;
}

const lookEveryMs = 100;
/** A longer absence has another cause than the end of the part, and excuses nothing. */
const longestAwayMs = 90_000;

/** When an Envoy is back that this strike is about to end. */
async function backAgain({ stack }: OwnGateway, { part, trouble }: Strike): Promise<number | null> {
  const url = stack.publicUrls[envoys.indexOf(part as (typeof envoys)[number])];
  if (url === undefined || (trouble !== 'kill' && trouble !== 'restart')) return null;
  const envoy = stack.part(part as (typeof envoys)[number]);
  const { pid } = envoy;
  for (const deadline = Date.now() + longestAwayMs; Date.now() < deadline; await delay(lookEveryMs)) {
    const now = envoy.pid;
    if (now !== null && now !== pid && (await takesConnections(url))) return Date.now();
  }
  return null;
}

const takesConnections = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.text().then(() => true),
    () => false,
  );

/** Resolves when the last strike is mended. One that could not be done, as when a store that was to be cut was down, is told. */
export async function strikeAll(all: UnderWay, strikes: readonly Strike[]): Promise<Blow[]> {
  const { gateway, tell } = all;
  const start = performance.now();
  const under: Promise<void>[] = [];
  const blows: Blow[] = [];
  for (const strike of strikes) {
    const { atMs, forMs, part, trouble, skewMs } = strike;
    await delay(Math.max(0, atMs - (performance.now() - start)));
    const details = [forMs ? ` for ${forMs} ms` : '', trouble === 'clock' ? ` by ${skewMs / 1000} s` : ''];
    tell(`${new Date().toISOString()} ${(atMs / 1000).toFixed(1)} s  ${trouble} ${part}${details.join('')}`);
    blows.push({ part, trouble, forMs, atMs: Date.now(), back: backAgain(gateway, strike) });
    const failed = (error: Error) => tell(`     ${trouble} ${part} could not be done: ${error.message}`);
    under.push(acts[trouble](all, strike as StrikeOnPart).catch(failed));
  }
  await Promise.all(under);
  return blows;
}

/** Nothing is left of a strike that failed halfway. */
export async function mendAll({ clocks, gateway, valkey }: Surroundings): Promise<void> {
  for (const part of ['receipt-sidecar', 'receipt-sidecar-2'] as const) {
    const spool = spoolOf(gateway.dir, part);
    if (!existsSync(`${spool}.away`)) continue;
    rmSync(spool, { recursive: true });
    renameSync(`${spool}.away`, spool);
  }
  for (const part of services) rmSync(clockFile(clocks, part), { force: true });
  await gateway.mend();
  if (valkey !== null) return;
  await withValkey(gateway, (redis) => redis.config('SET', 'maxmemory', '0'));
}
