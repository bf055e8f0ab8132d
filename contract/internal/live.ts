/**
 * The live report that each sidecar writes to Redis every two seconds: counts of the last seconds, and times in buckets that can be
 * summed over sidecars.
 */
import { z } from 'zod';

const count = z.int().nonnegative();
/** Pairs of bucket and count. */
const timesSchema = z.array(z.tuple([count, count]));
export type Times = z.infer<typeof timesSchema>;

export const liveReportSchema = z.object({
  /** The host and the listener of the sidecar, which stay when it is started again. */
  instance: z.string(),
  /** Measured by the clock of Redis, ms since 1970. */
  at: z.number(),
  /** The period of the counts, s: less than `liveWindowS` just after a start. */
  windowS: z.number().positive(),
  /** Ended calls with a receipt: all, and those with a provider failure, an early client disconnect, or no numbers. */
  calls: count,
  failed: count,
  aborted: count,
  degraded: count,
  /** Requests without a receipt that ended with a 4xx, and with a 5xx. */
  refused: count,
  errors: count,
  /** From the request to the provider until its complete reply, including failed attempts. */
  took: timesSchema,
  /** The gateway's own time per call, if Envoy reported it. */
  overhead: timesSchema,
  /** Open streams. */
  streams: count,
});
export type LiveReport = z.infer<typeof liveReportSchema>;

/** The longest period of a report, and the interval between reports, s. */
export const liveWindowS = 10;
export const liveEveryS = 2;
/** An older report, s, belongs to a sidecar that has ended or lost its connection. */
export const liveHoldsS = 3 * liveEveryS;
/** How long Redis keeps a report, s. */
export const liveKeptS = 60;

/** The first bucket, ms; four buckets double a time, so a value read from them is off by at most 10 %. */
const firstMs = 0.05;
const perDoubling = 4;
const lastBucket = 100;

export const bucketOf = (ms: number): number =>
  Math.min(lastBucket, Math.max(0, Math.floor(Math.log2(Math.max(ms, firstMs) / firstMs) * perDoubling)));

const middleOf = (bucket: number): number => firstMs * 2 ** ((bucket + 0.5) / perDoubling);

/** Returns the quantile `q` in ms; null without any times. */
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
