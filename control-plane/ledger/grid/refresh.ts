/**
 * Asks one source for one zone, and stores what it says.
 *
 * Invariant: a source that wants to be left alone is left alone by every instance: the pause is kept in Redis. Nothing
 * is stored but what an adapter let pass; a refusal leaves the readings before as they are, and they grow old.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { GridSettings, ZoneSource } from './config.ts';
import { electricityMaps } from './electricity-maps.ts';
import { entsoe } from './entsoe.ts';
import type { Http } from './http.ts';
import { neso } from './neso.ts';
import { type GridAdapter, type GridRefusal, isRefusal, type SourceName, type Span } from './reading.ts';
import { storeReadings } from './store.ts';
import { wattTime } from './watttime.ts';

export type Adapters = Readonly<Record<SourceName, GridAdapter>>;

export const adaptersOf = (settings: GridSettings, http: Http): Adapters => ({
  'electricity-maps': electricityMaps(http, settings.electricityMaps),
  watttime: wattTime(http, settings.wattTime),
  neso: neso(http, settings.neso),
  entsoe: entsoe(http, settings.entsoe),
});

/** How many revisions were new, or `paused` if the source was not asked, or why it gave no reading. */
export type RefreshOutcome = { readonly stored: number } | { readonly paused: true } | GridRefusal;

export interface RefreshOptions {
  readonly db: Database;
  readonly redis: Redis;
  readonly adapters: Adapters;
  readonly log: Logger;
}

export type Refresh = (zoneSource: ZoneSource, span: Span) => Promise<RefreshOutcome>;

const pauseKey = (source: SourceName): string => `gw:grid:pause:${source}`;
const tooManyPauseMs = 60_000;
/** A wrong key does not become right by waiting, and the source can close the account if it is asked on and on. */
const unauthorizedPauseMs = 15 * minuteMs;

/** Makes the function that asks and stores. That one rejects if Postgres or Redis is away. */
export function createRefresh({ db, redis, adapters, log }: RefreshOptions): Refresh {
  const failing = new Set<string>();
  return async (zoneSource, span) => {
    const { zone, source, place } = zoneSource;
    if ((await redis.exists(pauseKey(source))) === 1) return { paused: true };
    const reply = await adapters[source].read(zoneSource, span);
    const name = `${zone} ${source} ${place} ${span}`;
    if (isRefusal(reply)) {
      const pauseMs = pauseAfter(reply);
      if (pauseMs > 0) await redis.set(pauseKey(source), reply.refused, 'PX', pauseMs);
      // One line for an outage, not one for each attempt.
      if (!failing.has(name)) log.warn({ zone, source, place, ...reply }, 'a grid source gave no reading');
      failing.add(name);
      return reply;
    }
    const stored = await storeReadings(db, reply);
    if (failing.delete(name)) log.info({ zone, source, place }, 'the grid source gives readings again');
    return { stored };
  };
}

/** Returns why sources are left alone at the moment, by name. Where Redis is away nothing is known, and nothing is returned. */
export async function pausesOf(
  redis: Pick<Redis, 'get'>,
  sources: readonly ZoneSource[],
): Promise<ReadonlyMap<SourceName, string>> {
  const names = [...new Set(sources.map(({ source }) => source))];
  const reasons = await Promise.all(names.map((name) => redis.get(pauseKey(name)).catch(() => null)));
  return new Map(names.flatMap((name, at) => (reasons[at] ? [[name, reasons[at]] as const] : [])));
}

function pauseAfter({ refused, retryAfterMs = 0 }: GridRefusal): number {
  if (refused === 'unauthorized') return unauthorizedPauseMs;
  return refused === 'rate_limited' ? Math.max(retryAfterMs, tooManyPauseMs) : retryAfterMs;
}
