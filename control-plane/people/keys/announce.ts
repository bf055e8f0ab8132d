/**
 * Tells every ext-authz that a key or an account has changed, after the commit.
 *
 * Fails open: the generation in Postgres has risen with the change, so that each instance notices it at its next poll.
 */
import { keyChangedChannel } from '@gw/contract/internal/redis';
import type { Context } from '../../shared/context.ts';
import { copyKeyGeneration } from './generation-copy.ts';

/** Never rejects. `changed` is the public id of a key, or `accountMessage(…)` for all keys of an account. */
export async function announceKeyChange(
  { db, redis, log }: Pick<Context, 'db' | 'redis' | 'log'>,
  changed: string,
): Promise<void> {
  const outcomes = await Promise.allSettled([
    redis.publish(keyChangedChannel, changed),
    // For instances that have lost Postgres alone; the job would do it half a second later.
    copyKeyGeneration(db, redis),
  ]);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      log.warn({ err: outcome.reason }, 'a change of a key was not announced; it is noticed at the next poll');
}
