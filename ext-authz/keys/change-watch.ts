/**
 * Invalidates the key cache on changes: immediately by Redis pub/sub, and by polling the generation in Postgres in case a message was
 * lost. It drops the changed keys, or all of them if the changes are unknown. While Postgres is unavailable, the copy of the generation
 * in Redis replaces it. Without both nothing confirms the cache, and it refuses keys after its grace time.
 *
 * A Postgres that says less than its copy has gone back in time: then the keys that changed since are in doubt (key-doubts.ts).
 *
 * A change takes effect after at most `pollMs`, `patienceMs` and the time of a query, together well under 1 s. A hanging store causes
 * no further delay, since both are asked concurrently.
 */
import { accountOfMessage, keyChangedChannel } from '@gw/contract/internal/redis';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { KeyChanges } from '@gw/prisma/find-key';
import type { Logger } from '@gw/service/log';
import { listenTo } from '@gw/service/redis';
import type { Redis } from 'ioredis';
import type { KeyCache } from './key-cache.ts';
import type { KeyDirectory } from './key-directory.ts';
import { type DoubtWatch, watchDoubts } from './key-doubts.ts';

export interface ChangeWatchOptions {
  readonly cache: KeyCache;
  readonly directory: KeyDirectory;
  /** Returns the generation in Postgres, which rises with every change of a key or an account, and the changes since `known`. */
  readonly changes: (known: number | null) => Promise<KeyChanges>;
  readonly redis: Redis;
  readonly subscriber: Redis;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly pollMs: number;
  /** How long a poll waits for Postgres, ms. */
  readonly patienceMs: number;
  readonly log: Logger;
}

export interface ChangeWatch {
  /** Whether a store answered the last poll. */
  readonly confirmed: () => boolean;
  /** Whether keys are in doubt, since Postgres has gone back in time. */
  readonly inDoubt: () => boolean;
  /** Resolves after the first poll, when the directory has been read if Postgres is available. */
  readonly ready: Promise<void>;
  stop(): void;
}

export function watchChanges(options: ChangeWatchOptions): ChangeWatch {
  const { cache, directory, changes, redis, subscriber, now, pollMs, patienceMs, log } = options;
  let known: number | null = null;
  // The last generation from Postgres, from which changes are requested: the copy in Redis brings no ids for the directory.
  let said: number | null = null;
  let confirmed = true;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  // The next poll detects changes whose messages were lost.
  listenTo(subscriber, keyChangedChannel, (publicId) => {
    const account = accountOfMessage(publicId);
    if (account !== null) return cache.forgetAccount(account);
    cache.forget(publicId);
    directory.tell(publicId);
  });

  const doubts = watchDoubts({ redis, log, onChange: (found) => cache.doubt(found) });
  /** Only a generation `fromPostgres` is known to include every change. */
  const current = async (): Promise<KeyChanges & { fromPostgres: boolean }> => {
    const [asked, { copy, isAnother }] = await askStores(within(changes(said), patienceMs), doubts);
    if (asked.ok) return { ...asked.value, ...(isAnother && { since: null }), fromPostgres: true };
    // A copy older than the known generation is stale and confirms nothing.
    if (copy === null || (known !== null && copy < known)) throw asked.error;
    return { generation: copy, since: null, fromPostgres: false };
  };
  const tellDirectory = async (found: KeyChanges, askedAt: number): Promise<void> => {
    const before = said;
    said = found.generation;
    await directory.confirm(before, found, askedAt).catch((error: unknown) => {
      log.warn({ err: error }, 'the list of key ids could not be read');
    });
  };
  const poll = async (): Promise<void> => {
    let reading: Promise<void> | undefined;
    try {
      const askedAt = now();
      const { fromPostgres, ...found } = await current();
      const { generation, since } = found;
      if (generation !== known) forget(cache, known !== null && generation < known ? null : since);
      known = generation;
      cache.confirm();
      if (fromPostgres) reading = tellDirectory(found, askedAt);
      if (!confirmed) log.info('keys are confirmed again');
      confirmed = true;
    } catch (error) {
      if (confirmed) log.error({ err: error }, 'keys cannot be confirmed; cached ones are honoured for the grace time');
      confirmed = false;
    }
    if (!stopped) timer = setTimeout(() => void poll(), pollMs);
    // The next poll does not wait for a long list.
    await reading;
  };

  return {
    confirmed: () => confirmed,
    inDoubt: doubts.isInDoubt,
    ready: poll(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

const askStores = (answer: Promise<Result<KeyChanges, unknown>>, doubts: DoubtWatch) =>
  Promise.all([answer, doubts.ask(answer.then((found) => (found.ok ? found.value.generation : null)))]);

function forget(cache: KeyCache, since: KeyChanges['since']): void {
  if (since === null) return cache.forgetAll();
  for (const publicId of since.publicIds) cache.forget(publicId);
  for (const accountId of since.accountIds) cache.forgetAccount(accountId);
}

/** Returns the answer, or an error if it takes longer than `patienceMs`, because it would be outdated. */
async function within<T>(answer: Promise<T>, patienceMs: number): Promise<Result<T, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result<T, unknown>>((resolve) => {
    timer = setTimeout(() => resolve(err(new Error('Postgres takes too long.'))), patienceMs);
  });
  const settled = answer.then<Result<T, unknown>, Result<T, unknown>>(ok, err);
  const first = await Promise.race([settled, late]);
  clearTimeout(timer);
  return first;
}
