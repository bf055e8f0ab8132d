/**
 * Which keys are in doubt because Postgres has gone back in time.
 *
 * Invariant: Redis knows what changed behind the point to which Postgres went back, by the generation of each change, and which keys are revoked. These are
 * refused until an operator confirms; all others go on. It is asked with each poll of the generation, so no call waits for it.
 */
import { alarmIn, type GroundAlarm } from '@gw/contract/internal/ground';
import { groundAlarmKey, keyChangesKey, keyGenerationKey, keyTombstonesKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';

/** Public ids of keys, and `account:<id>` of accounts. */
export interface KeyDoubts {
  /** They changed since, in a way that Postgres no longer knows. */
  readonly changed: ReadonlySet<string>;
  /** They are known to be revoked or suspended. */
  readonly closed: ReadonlySet<string>;
}

interface DoubtOptions {
  readonly redis: Redis;
  /** Called with each change of what is in doubt; null: nothing is. */
  readonly onChange: (doubts: KeyDoubts | null) => void;
  readonly log: Logger;
}

interface Copied {
  /** Null: there is none, or it is that of a Postgres that is no more. */
  readonly copy: number | null;
  /** Postgres is another one than before: what it calls changes says nothing of what was read from that. */
  readonly isAnother: boolean;
}

export interface DoubtWatch {
  /**
   * Asks Redis for the copy of the generation while Postgres is asked for the generation itself. `asked`: null if Postgres does not answer.
   */
  ask(asked: Promise<number | null>): Promise<Copied>;
  isInDoubt(): boolean;
}

export function watchDoubts({ log, onChange, redis }: DoubtOptions): DoubtWatch {
  /** The copy of the poll before: Postgres was asked after it, so it cannot say less. */
  let before: number | null = null;
  /** The generation behind which changes are in doubt; null: none are. */
  let doubtedAfter: number | null = null;
  let isAnother = false;

  const change = async (after: number | null): Promise<void> => {
    if (after === doubtedAfter) return;
    const doubts = after === null ? null : await readDoubts(redis, after);
    doubtedAfter = after;
    isAnother = true;
    onChange(doubts);
    if (doubts === null) return log.info('no key is in doubt any more');
    const { changed, closed } = doubts;
    log.error(
      { changed: changed.size, closed: closed.size },
      'Postgres has gone back in time, or is another one: keys and accounts that changed since are refused until `./gw admin restore confirm`',
    );
  };
  const fallenTo = (generation: number | null, alarm: GroundAlarm | null): number | null => {
    if (alarm !== null) return alarm.key_generation.lost_after;
    if (generation === null) return doubtedAfter;
    if (before === null || generation >= before) return null;
    // New changes raise the generation, and what was lost stays in doubt.
    return Math.min(generation, doubtedAfter ?? generation);
  };

  return {
    ask: async (asked) => {
      // Without an answer of Redis it stays as it was: what is in doubt goes on to be, and nothing new is known to be.
      const told = await redis.mget(keyGenerationKey, groundAlarmKey).catch(() => null);
      if (told === null) return { copy: null, isAnother };
      const [copy, alarm] = told;
      const generation = await asked;
      await change(fallenTo(generation, alarmIn(alarm ?? null)));
      before = copy == null ? null : Number(copy);
      const reply = { copy: doubtedAfter === null ? before : null, isAnother };
      if (generation !== null) isAnother = false;
      return reply;
    },
    isInDoubt: () => doubtedAfter !== null,
  };
}

async function readDoubts(redis: Redis, lostAfter: number): Promise<KeyDoubts> {
  const [changed, closed] = await Promise.all([
    redis.zrangebyscore(keyChangesKey, `(${lostAfter}`, '+inf'),
    redis.zrange(keyTombstonesKey, '0', '-1'),
  ]);
  return { changed: new Set(changed), closed: new Set(closed) };
}
