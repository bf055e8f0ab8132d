/**
 * Brings the days on which keys were used from Redis to Postgres.
 *
 * Invariant: an id leaves Redis only after Postgres has its day; a day never goes backwards. So it may run in several
 * instances at once, and may be broken off anywhere.
 */
import { dayMs } from '@gw/contract/internal/durations';
import { usedKeysKey } from '@gw/contract/internal/redis';
import type { Context } from '../../shared/context.ts';

const batch = 1000;
/** How many days are looked through, today included, since this job may have been away. */
const daysBack = 7;

/** Rejects if a store does not answer; then the rest stays in Redis for the next run. */
export async function storeLastUses({ db, redis, now }: Pick<Context, 'db' | 'redis' | 'now'>): Promise<void> {
  for (let back = 0; back < daysBack; back++) {
    const day = new Date(now().getTime() - back * dayMs).toISOString().slice(0, 10);
    for (;;) {
      const ids = await redis.srandmember(usedKeysKey(day), batch);
      if (ids.length === 0) break;
      // In one order, so that two instances do not wait for each other in a circle.
      await db.$executeRaw`
        INSERT INTO key_uses (public_id, last_used_on)
        SELECT id, ${day}::date FROM unnest(${ids.sort()}::text[]) AS id
        ON CONFLICT (public_id) DO UPDATE SET last_used_on = EXCLUDED.last_used_on
        WHERE key_uses.last_used_on < EXCLUDED.last_used_on`;
      await redis.srem(usedKeysKey(day), ...ids);
    }
  }
}
