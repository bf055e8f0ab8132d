/**
 * Tells the key cache of changes: at once by Redis pub/sub, and by a poll of the generation in Postgres in case a message
 * was lost; what changed is forgotten, and everything only where that is not known. While Postgres is away its copy in Redis
 * stands in; while both are away nothing confirms the cache, and it refuses after its grace time.
 *
 * A change is known at the latest after `pollMs` and `patienceMs` and the time of a query, together well under 1 s: a
 * store that stands still is not waited for, since both are asked at once.
 */
import { accountOfMessage, keyChangedChannel, keyGenerationKey } from '@gw/contract/internal/redis';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { KeyChanges } from '@gw/prisma/find-key';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { KeyCache } from './key-cache.ts';
import type { KeyDirectory } from './key-directory.ts';

export interface ChangeWatchOptions {
  readonly cache: KeyCache;
  readonly directory: KeyDirectory;
  /** The generation in Postgres, which rises with every change of a key or an account, and what changed since `known`. */
  readonly changes: (known: number | null) => Promise<KeyChanges>;
  readonly redis: Redis;
  readonly subscriber: Redis;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly pollMs: number;
  /** How long one poll waits for Postgres. */
  readonly patienceMs: number;
  readonly log: Logger;
}

export interface ChangeWatch {
  /** Whether a store answered the last poll. */
  readonly confirmed: () => boolean;
  /** When the first poll has ended, and the directory was read, if Postgres is there. */
  readonly ready: Promise<void>;
  stop(): void;
}

export function watchChanges(options: ChangeWatchOptions): ChangeWatch {
  const { cache, directory, changes, redis, subscriber, now, pollMs, patienceMs, log } = options;
  let known: number | null = null;
  // The last one that Postgres said. What has changed is asked since then, for the list of ids gets nothing from the copy.
  let said: number | null = null;
  let confirmed = true;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  // What was published while the connection was away is lost; the next poll notices it.
  const listen = () => void subscriber.subscribe(keyChangedChannel).catch(() => undefined);
  subscriber.on('message', (_channel, publicId) => {
    const account = accountOfMessage(publicId);
    if (account !== null) return cache.forgetAccount(account);
    cache.forget(publicId);
    directory.tell(publicId);
  });
  subscriber.on('ready', listen);
  if (subscriber.status === 'ready') listen();

  const copyOf = async (): Promise<number | null> => {
    const copy = await redis.get(keyGenerationKey).catch(() => null);
    return copy === null ? null : Number(copy);
  };
  /** `fromPostgres`: only then every key up to now is known to be counted. */
  const current = async (): Promise<KeyChanges & { fromPostgres: boolean }> => {
    const [asked, copy] = await Promise.all([within(changes(said), patienceMs), copyOf()]);
    if (asked.ok) return { ...asked.value, fromPostgres: true };
    // A copy older than what Postgres has told is a leftover and confirms nothing.
    if (copy === null || copy < (known ?? 0)) throw asked.error;
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
      if (generation !== known) forget(cache, generation < (known ?? 0) ? null : since);
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
    // The next poll does not wait for it: a list may be long.
    await reading;
  };

  return {
    confirmed: () => confirmed,
    ready: poll(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function forget(cache: KeyCache, since: KeyChanges['since']): void {
  if (since === null) return cache.forgetAll();
  for (const publicId of since.publicIds) cache.forget(publicId);
  for (const accountId of since.accountIds) cache.forgetAccount(accountId);
}

/** Returns the answer, or an error if it takes longer than `patienceMs`: a later answer would be too old to use. */
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
