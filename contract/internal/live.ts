/**
 * How a sidecar does at this moment, as it leaves it in Redis every two seconds: counts of the last seconds, and times in buckets
 * that can be added up over sidecars.
 */
import { z } from 'zod';

const count = z.int().nonnegative();
/** How many times fell into which bucket. */
const timesSchema = z.array(z.tuple([count, count]));
export type Times = z.infer<typeof timesSchema>;

export const liveReportSchema = z.object({
  /** By the clock of Redis, ms since 1970. */
  at: z.number(),
  /** What the counts are of, s: less than `liveWindowS` soon after a start. */
  windowS: z.number().positive(),
  /** Calls with a receipt that ended: all, those whose provider failed, those whose client went, those without numbers. */
  calls: count,
  failed: count,
  aborted: count,
  degraded: count,
  /** Requests without a receipt that ended with an error of 4xx, and of 5xx. A release before this one tells of none. */
  refused: count.default(0),
  errors: count.default(0),
  /** From when the provider is asked until its reply is whole, failed attempts of others with it. */
  took: timesSchema,
  /** What the gateway took of a call beside that, where Envoy has told it. */
  overhead: timesSchema,
  /** Streams that are open now. */
  streams: count,
});
export type LiveReport = z.infer<typeof liveReportSchema>;

/** What a report counts at most, and how often it is written anew, s. */
export const liveWindowS = 10;
export const liveEveryS = 2;
/** A report that is older is of a sidecar that is gone or cut off, s. */
export const liveHoldsS = 3 * liveEveryS;
/** How long one is left in Redis, s. */
export const liveKeptS = 60;

/** Buckets begin here, ms, and four of them double a time: what is read from them is off by at most 10 %. */
const firstMs = 0.05;
const perDoubling = 4;
const lastBucket = 100;

export const bucketOf = (ms: number): number =>
  Math.min(lastBucket, Math.max(0, Math.floor(Math.log2(Math.max(ms, firstMs) / firstMs) * perDoubling)));

/** The geometric middle of a bucket, ms. */
const middleOf = (bucket: number): number => firstMs * 2 ** ((bucket + 0.5) / perDoubling);

/** The time, ms, that the part `q` of all times does not exceed; null if there are none. */
export function quantile(times: Times, q: number): number | null {
  const sorted = [...times].sort(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, times]) => sum + times, 0);
  let seen = 0;
  for (const [bucket, times] of sorted) {
    seen += times;
    if (times > 0 && seen >= q * all) return middleOf(bucket);
  }
  return null;
}
