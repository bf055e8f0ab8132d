/**
 * Tells the key cache of changes: at once by Redis pub/sub, and by a poll of the generation in Postgres in case a message
 * was lost. While Postgres is away its copy in Redis stands in; while both are away nothing confirms the cache, and it
 * refuses after its grace time.
 *
 * A change is known at the latest after `pollMs` and `patienceMs` and the time of a query, together well under 1 s: a
 * store that stands still is not waited for, since both are asked at once.
 */
import { keyChangedChannel, keyGenerationKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { KeyCache } from './key-cache.ts';
import type { KeyDirectory } from './key-directory.ts';

export interface ChangeWatchOptions {
  readonly cache: KeyCache;
  readonly directory: KeyDirectory;
  /** The generation in Postgres: rises with every change of a key or an account. */
  readonly generation: () => Promise<number>;
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

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));

export function watchChanges(options: ChangeWatchOptions): ChangeWatch {
  const { cache, directory, generation, redis, subscriber, now, pollMs, patienceMs, log } = options;
  let known: number | null = null;
  let confirmed = true;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  // What was published while the connection was away is lost; the next poll notices it.
  const listen = () => void subscriber.subscribe(keyChangedChannel).catch(() => undefined);
  subscriber.on('message', (_channel, publicId) => {
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
  const current = async (): Promise<{ generation: number; fromPostgres: boolean }> => {
    const [asked, copy] = await Promise.all([within(generation(), patienceMs), copyOf()]);
    if (asked.ok) return { generation: asked.value, fromPostgres: true };
    // A copy older than what Postgres has told is a leftover and confirms nothing.
    if (copy === null || copy < (known ?? 0)) throw asked.fault;
    return { generation: copy, fromPostgres: false };
  };
  const readDirectory = async (at: number, askedAt: number): Promise<void> => {
    await directory.confirm(at, askedAt).catch((fault: unknown) => {
      log.warn({ fault: messageOf(fault) }, 'the list of key ids was not read');
    });
  };
  const poll = async (): Promise<void> => {
    let reading: Promise<void> | undefined;
    try {
      const askedAt = now();
      const { generation: found, fromPostgres } = await current();
      if (found !== known) cache.forget('*');
      known = found;
      cache.confirm();
      if (fromPostgres) reading = readDirectory(found, askedAt);
      if (!confirmed) log.info('keys are confirmed again');
      confirmed = true;
    } catch (fault) {
      if (confirmed)
        log.error(
          { fault: messageOf(fault) },
          'keys can not be confirmed; cached ones are honoured for the grace time',
        );
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

type Asked = { readonly ok: true; readonly value: number } | { readonly ok: false; readonly fault: unknown };

/** The answer, or a fault if it takes longer; what comes later is of no use, as it is too old. */
async function within(answer: Promise<number>, patienceMs: number): Promise<Asked> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Asked>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, fault: new Error('Postgres takes too long.') }), patienceMs);
  });
  const settled = answer.then(
    (value): Asked => ({ ok: true, value }),
    (fault: unknown): Asked => ({ ok: false, fault }),
  );
  const first = await Promise.race([settled, late]);
  clearTimeout(timer);
  return first;
}
