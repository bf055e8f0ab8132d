/**
 * Slows down guessing at credentials.
 *
 * Invariant: after some free failures each further attempt has to wait twice as long as the one before, per address and
 * per person, counted over all instances. At an address from which a person has logged in during the last 30 days, only
 * the failures for this very person at this very address count, with waits of at most 30 s: neither strangers elsewhere
 * nor others behind the same address can cause any.
 *
 * While Redis is away each instance counts by itself, from zero, and knows no address: logging in stays possible, and a
 * guesser gains at most the free attempts once per instance.
 *
 * Limiters from the registry count in windows of fixed length: doubled waits, one decision over several counters, and
 * taking an attempt back would each be ours beside them, and no longer one command to Redis.
 */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { elementAt } from '@gw/contract/internal/defined';
import { dayMs } from '@gw/contract/internal/durations';
import type { Redis } from 'ioredis';
import { admitScript, succeededScript, takeBackScript } from './attempts.lua.ts';
import { addressPace, type CounterKeys, counterLivesMs, LocalAttempts, subjectPace } from './local-attempts.ts';

const addressKnownMs = 30 * dayMs;

export interface Attempt {
  /** Kind and e-mail of the person as given; there need not be such a person. */
  readonly subject: string;
  /** IP address, or any other name of where it comes from. */
  readonly address: string;
}

export interface Admission {
  /**
   * How long to wait, ms. 0 means that this attempt is admitted; it counts as failed until `succeeded` or `takeBack`.
   */
  readonly waitMs: number;
  /** The person has logged in from there before. */
  readonly known: boolean;
}

export interface Attempts {
  /** Admits an attempt, or says how long to wait. Never rejects: without Redis this instance decides by itself. */
  admit(attempt: Attempt): Promise<Admission>;
  /**
   * Takes back the failure that `admit` counted, and remembers for 30 days that the person has logged in from there.
   */
  succeeded(attempt: Attempt): Promise<void>;
  /** Takes back an attempt that was not judged; the next one has to wait for `retryAfterMs` at most. */
  takeBack(attempt: Attempt, retryAfterMs: number): Promise<void>;
}

export function openAttempts(redis: Redis, now: () => Date): Attempts {
  const local = new LocalAttempts(now);
  return {
    admit: async (attempt) => {
      const { free, longestWaitMs } = addressPace;
      const paces = [free, longestWaitMs, subjectPace.free, subjectPace.longestWaitMs];
      try {
        const reply = await redis.eval(admitScript, 3, ...keysOf(attempt), now().getTime(), ...paces, counterLivesMs);
        const [waitMs, known] = reply as [number, number];
        return { waitMs, known: known === 1 };
      } catch {
        return { waitMs: local.admit(keysOf(attempt)), known: false };
      }
    },
    succeeded: async (attempt) => {
      local.succeeded(keysOf(attempt));
      // Lost, it leaves one failure too many behind; the login has succeeded all the same.
      await redis.eval(succeededScript, 3, ...keysOf(attempt), addressKnownMs).catch(() => {});
    },
    takeBack: async (attempt, retryAfterMs) => {
      const at = now().getTime() + retryAfterMs;
      local.takeBack(keysOf(attempt), at);
      await redis.eval(takeBackScript, 3, ...keysOf(attempt), at).catch(() => {});
    },
  };
}

/** One hash tag, as one script counts them together. E-mails and addresses are personal: Redis gets their hashes. */
function keysOf({ subject, address }: Attempt): CounterKeys {
  const network = networkOf(address);
  const key = (kind: string, text: string): string =>
    `gw:{login}:${kind}:${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  return [key('address', network), key('subject', subject), key('pair', `${network} ${subject}`)];
}

/**
 * Returns what is counted as one address: an IPv4 address, or the /64 of an IPv6 address, which is one subscriber's.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = '', tail] = elementAt(address.split('%', 1), 0).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? first : [...first, ...Array(8 - first.length - last.length).fill('0'), ...last];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
