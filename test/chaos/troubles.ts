/** Does to the parts what the schedule says, and mends it again. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PartName } from '@gw/stack/stack-plans';
import { Redis } from 'ioredis';
import type { OwnGateway } from '../outage/own-gateway.ts';
import { envoys, type Strike, services, type Trouble } from './schedule.ts';

interface Surroundings {
  readonly gateway: OwnGateway;
  /** Folder of the files that say how wrong clocks are. */
  readonly clocks: string;
  readonly tell: (line: string) => void;
}

type Act = (gateway: OwnGateway, strike: Strike, clocks: string) => Promise<void>;

/** Turns of 50 ms, of which a slow part has 10. */
const turnMs = { stands: 40, goes: 10 };

export const clockFile = (clocks: string, part: string): string => join(clocks, part);
const spoolOf = (dir: string, part: PartName): string => join(dir, part.replace('receipt-sidecar', 'spool'));

const acts: Readonly<Record<Trouble, Act>> = {
  kill: async (gateway, { part }) => gateway.kill(part),
  away: async (gateway, { part, forMs }) => {
    await gateway.killForGood(part);
    await delay(forMs);
    await gateway.stack.part(part).start();
  },
  restart: (gateway, { part }) => gateway.stack.part(part).restart(),
  pause: (gateway, { part, forMs }) => standing(gateway, part, forMs),
  slow: async (gateway, { part, forMs }) => {
    for (const end = performance.now() + forMs; performance.now() < end; await delay(turnMs.goes))
      await standing(gateway, part, turnMs.stands);
  },
  cut: (gateway, { part }) => (part === 'valkey' ? cutValkey(gateway) : cutPostgres(gateway)),
  disk: async (gateway, { part, forMs }) => {
    const spool = spoolOf(gateway.dir, part);
    renameSync(spool, `${spool}.away`);
    writeFileSync(spool, '');
    await delay(forMs);
    rmSync(spool, { recursive: true });
    renameSync(`${spool}.away`, spool);
  },
  full: async (gateway, { forMs }) => {
    // More than a byte, or Valkey would refuse to say so.
    await withValkey(gateway, (redis) => redis.config('SET', 'maxmemory', '1mb'));
    await delay(forMs);
    await withValkey(gateway, (redis) => redis.config('SET', 'maxmemory', '0'));
  },
  clock: async (_, { part, forMs, skewMs }, clocks) => {
    const file = clockFile(clocks, part);
    writeFileSync(file, String(skewMs));
    await delay(forMs);
    rmSync(file);
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
  const redis = new Redis(stack.redisUrl, { maxRetriesPerRequest: 20 });
  try {
    await ask(redis);
  } finally {
    redis.disconnect();
  }
}

const cutValkey = (gateway: OwnGateway) =>
  withValkey(gateway, (redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'normal'));

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
  const { pid } = stack.part(part);
  for (const deadline = Date.now() + longestAwayMs; Date.now() < deadline; await delay(lookEveryMs)) {
    const now = stack.part(part).pid;
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
export async function strikeAll({ gateway, clocks, tell }: Surroundings, strikes: readonly Strike[]): Promise<Blow[]> {
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
    under.push(acts[trouble](gateway, strike, clocks).catch(failed));
  }
  await Promise.all(under);
  return blows;
}

/** Nothing is left of a strike that failed halfway. */
export async function mendAll(gateway: OwnGateway, clocks: string): Promise<void> {
  for (const part of ['receipt-sidecar', 'receipt-sidecar-2'] as const) {
    const spool = spoolOf(gateway.dir, part);
    if (!existsSync(`${spool}.away`)) continue;
    rmSync(spool, { recursive: true });
    renameSync(`${spool}.away`, spool);
  }
  for (const part of services) rmSync(clockFile(clocks, part), { force: true });
  await gateway.mend();
  await withValkey(gateway, (redis) => redis.config('SET', 'maxmemory', '0'));
}
