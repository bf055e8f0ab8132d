/**
 * Tells operators how the calls of this moment do (`GET /operator/v1/live`), by a report in Redis.
 *
 * Invariants: a call costs a few additions, and no command of its own; reports are written every two seconds, whatever the load, and
 * those of sidecars that are gone go too. Fail-open: a report that cannot be written is left out, and the one before it is soon too
 * old to be read.
 */
import { randomUUID } from 'node:crypto';
import {
  bucketOf,
  type LiveReport,
  liveEveryS,
  liveKeptS,
  liveReportSchema,
  liveWindowS,
  type Times,
} from '@gw/contract/internal/live';
import { liveKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** How a call ended that has a receipt. */
export interface EndedCall {
  readonly status: 'complete' | 'client_aborted' | 'upstream_error';
  readonly isDegraded: boolean;
  /** From when the provider is asked until its reply is whole, failed attempts of others with it. */
  readonly ms: number;
}

export interface LiveCounts {
  ended(call: EndedCall): void;
  /** Counts the gateway's own time in a call, ms. */
  overhead(ms: number): void;
  /** A request has ended with this status of an error, without a receipt. */
  refused(status: number): void;
}

class Slice {
  calls = 0;
  failed = 0;
  aborted = 0;
  degraded = 0;
  refused = 0;
  errors = 0;
  readonly took = new Map<number, number>();
  readonly overhead = new Map<number, number>();
}

const note = (times: Map<number, number>, ms: number): void => {
  const bucket = bucketOf(ms);
  times.set(bucket, (times.get(bucket) ?? 0) + 1);
};

/** Counts over a window that moves on by `turn`. */
export class LiveWindow implements LiveCounts {
  readonly #slices: Slice[] = [new Slice()];

  ended({ isDegraded, ms, status }: EndedCall): void {
    const slice = this.#now;
    slice.calls += 1;
    if (status === 'upstream_error') slice.failed += 1;
    if (status === 'client_aborted') slice.aborted += 1;
    if (isDegraded) slice.degraded += 1;
    note(slice.took, ms);
  }

  overhead(ms: number): void {
    note(this.#now.overhead, ms);
  }

  refused(status: number): void {
    if (status >= 500) this.#now.errors += 1;
    else this.#now.refused += 1;
  }

  /** Returns the counts of the window, and begins its next slice. */
  turn(): Omit<LiveReport, 'at' | 'instance' | 'streams'> {
    const slices = this.#slices;
    const sum = (of: (slice: Slice) => number): number => slices.reduce((all, slice) => all + of(slice), 0);
    const report = {
      windowS: slices.length * liveEveryS,
      calls: sum(({ calls }) => calls),
      failed: sum(({ failed }) => failed),
      aborted: sum(({ aborted }) => aborted),
      degraded: sum(({ degraded }) => degraded),
      refused: sum(({ refused }) => refused),
      errors: sum(({ errors }) => errors),
      took: added(slices.map(({ took }) => took)),
      overhead: added(slices.map(({ overhead }) => overhead)),
    };
    slices.push(new Slice());
    if (slices.length > liveWindowS / liveEveryS) slices.shift();
    return report;
  }

  get #now(): Slice {
    return this.#slices.at(-1) as Slice;
  }
}

function added(maps: readonly Map<number, number>[]): Times {
  const all = new Map<number, number>();
  for (const map of maps) for (const [bucket, times] of map) all.set(bucket, (all.get(bucket) ?? 0) + times);
  return [...all];
}

/** Every how many reports it looks for those of sidecars that are gone. */
const tidyEvery = 30;

interface Teller {
  /** The host and the listener of this sidecar. */
  readonly instance: string;
  /** Follows the clock of Redis. */
  readonly now: () => number;
  readonly streams: () => number;
}

/** Returns a function that ends it, and takes back what was told last: others see that this is an orderly end. */
export function tellLive(redis: Redis, window: LiveWindow, { instance, now, streams }: Teller): () => Promise<void> {
  const name = randomUUID();
  let told = 0;
  const timer = setInterval(() => {
    const report: LiveReport = { instance, at: now(), ...window.turn(), streams: streams() };
    const written = redis.multi().hset(liveKey, name, JSON.stringify(report));
    written
      .pexpire(liveKey, liveKeptS * 1000)
      .exec()
      .catch(() => undefined);
    told += 1;
    if (told % tidyEvery === 0) tidy(redis, now() - liveKeptS * 1000).catch(() => undefined);
  }, liveEveryS * 1000);
  return async () => {
    clearInterval(timer);
    await redis.hdel(liveKey, name).catch(() => undefined);
  };
}

const ageSchema = liveReportSchema.pick({ at: true });

/** Takes away reports that were written before. What nobody can read, of another release, stays until all go. */
async function tidy(redis: Redis, before: number): Promise<void> {
  const isOld = (text: string): boolean => {
    const parsed = ageSchema.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.at < before;
  };
  const old = Object.entries(await redis.hgetall(liveKey)).filter(([, text]) => isOld(text));
  if (old.length > 0) await redis.hdel(liveKey, ...old.map(([name]) => name));
}
