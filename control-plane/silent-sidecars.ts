/**
 * Tells when a sidecar has stopped reporting without saying goodbye: it hangs, has died, or has lost its way to Redis. Envoy shuts it out by
 * itself, and it answers nobody, so only others can tell.
 */
import { jsonIn } from '@gw/contract/internal/json-in';
import { type LiveReport, liveHoldsS, liveReportSchema } from '@gw/contract/internal/live';
import { liveKey } from '@gw/contract/internal/redis';
import { redisTime } from '@gw/service/redis';
import type { Redis } from 'ioredis';
import type { Context } from './shared/context.ts';
import { type RepeatedJob, repeat } from './shared/repeat.ts';

const name = 'sidecar_silent';
const lookEveryMs = 2000;
/** One that misses a report is only slow. */
const silentAfterMs = 2 * liveHoldsS * 1000;
/** After that it counts as removed. */
const forgottenAfterMs = 3_600_000;

/** Instances by their last report, ms since 1970 by the clock of Redis. */
export class SilentSidecars {
  readonly #lastAt = new Map<string, number>();

  /** Takes all reports that are in Redis, and returns the instances that are silent. */
  look(reports: readonly Pick<LiveReport, 'at' | 'instance'>[], now: number): string[] {
    const there = new Set(reports.map(({ instance }) => instance));
    for (const [instance, at] of this.#lastAt) {
      // A report that is taken away while it is fresh is a goodbye.
      const saidGoodbye = !there.has(instance) && now - at <= liveHoldsS * 1000;
      if (saidGoodbye || now - at > forgottenAfterMs) this.#lastAt.delete(instance);
    }
    for (const { at, instance } of reports)
      this.#lastAt.set(instance, Math.max(at, this.#lastAt.get(instance) ?? Number.NEGATIVE_INFINITY));
    return [...this.#lastAt].filter(([, at]) => now - at > silentAfterMs).map(([instance]) => instance);
  }
}

async function readAll(redis: Redis): Promise<{ readonly reports: LiveReport[]; readonly now: number }> {
  const [now, written] = await Promise.all([redisTime(redis), redis.hgetall(liveKey)]);
  const reports = Object.values(written).flatMap((text) => liveReportSchema.safeParse(jsonIn(text)).data ?? []);
  return { reports, now };
}

export function watchSidecars({ log, redis, troubles }: Context): RepeatedJob {
  const sidecars = new SilentSidecars();
  let blindUntil = 0;
  const run = async (): Promise<void> => {
    const { now, reports } = await readAll(redis);
    // A Redis that takes no writes takes no reports either, and they come back some seconds after it.
    if ('redis' in troubles.current()) blindUntil = now + silentAfterMs;
    if (now < blindUntil) return;
    const silent = sidecars.look(reports, now).sort();
    if (silent.length === 0) return troubles.over(name);
    troubles.tell(
      name,
      `The sidecar ${silent.join(', ')} stopped reporting without shutting down: it hangs, crashed, or cannot reach Redis. Check its /livez and its log, and restart it.`,
    );
  };
  return repeat({ name: 'silent sidecars', everyMs: lookEveryMs, log, run });
}
