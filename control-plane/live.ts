/** `GET /operator/v1/live`: how calls do at this moment, over all sidecars (contract/internal/live.ts). */
import { apiError } from '@gw/contract/errors';
import { jsonIn } from '@gw/contract/internal/json-in';
import { type LiveReport, liveHoldsS, liveReportSchema, liveWindowS, quantile } from '@gw/contract/internal/live';
import { liveKey } from '@gw/contract/internal/redis';
import { redisTime } from '@gw/service/redis';
import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Context } from './shared/context.ts';
import { refuse } from './shared/replies.ts';

const rate = z.number().nonnegative().nullable();
const times = z.strictObject({ p50: z.number(), p99: z.number() }).nullable();
const liveSchema = z.strictObject({
  object: z.literal('live'),
  at: z.iso.datetime(),
  window_s: z.number().describe('Rates and times are of what ended in these last seconds, or since a sidecar began'),
  sidecars: z.int().describe('That have reported in the last seconds. 0: nothing is known, and all rates are null'),
  calls_per_s: rate.describe('Calls that reached a provider: each has a receipt'),
  failed_per_s: rate.describe(
    'Of them those whose provider answered with an error, also one of the request, or broke off',
  ),
  aborted_per_s: rate.describe('Of them those that their client left'),
  degraded_per_s: rate.describe('Of them those whose receipt has no numbers'),
  refused_per_s: rate.describe(
    'Requests that were refused (4xx) and reached no provider: without a valid key, over a limit, malformed, of something that is not there … Not those that Envoy answers alone: unknown paths and methods',
  ),
  errors_per_s: rate.describe('Requests that failed in the gateway (5xx) and reached no provider'),
  open_streams: z.int().nullable(),
  latency_ms: times.describe(
    'From when the provider is asked until its reply is whole; right to a tenth. null: no call has ended',
  ),
  overhead_ms: times.describe(
    'What the gateway took of a call beside that; null: no call has ended of which Envoy told it',
  ),
});

/** Fail-closed: without Redis nobody knows, and 503 `overloaded` says so. */
export function liveRoute(app: FastifyInstance, { addresses, now, redis }: Context): void {
  const config = { access: { kind: 'operator', role: 'viewer' }, reply: liveSchema } as const;
  app.get('/operator/v1/live', { config }, async (_request, reply) => {
    const reports = await readReports(redis).catch(() => null);
    return reports === null ? refuse(reply, apiError('overloaded'), addresses) : viewOf(reports, now());
  });
}

/** Reports that still hold. */
async function readReports(redis: Redis): Promise<LiveReport[]> {
  const [now, written] = await Promise.all([redisTime(redis), redis.hgetall(liveKey)]);
  const since = now - liveHoldsS * 1000;
  return Object.values(written).flatMap((text) => {
    // Another release may have written something else.
    const report = liveReportSchema.safeParse(jsonIn(text)).data;
    return report && report.at >= since ? report : [];
  });
}

function viewOf(reports: readonly LiveReport[], at: Date): z.infer<typeof liveSchema> {
  const sum = (of: (report: LiveReport) => number): number | null =>
    reports.length === 0 ? null : reports.reduce((all, report) => all + of(report), 0);
  const rateOf = (count: 'calls' | 'failed' | 'aborted' | 'degraded' | 'refused' | 'errors') =>
    sum((report) => report[count] / report.windowS);
  const timesOf = (of: (report: LiveReport) => LiveReport['took']) => {
    const all = reports.flatMap(of);
    const [p50, p99] = [quantile(all, 0.5), quantile(all, 0.99)];
    return p50 === null || p99 === null ? null : { p50: rounded(p50), p99: rounded(p99) };
  };
  return {
    object: 'live',
    at: at.toISOString(),
    window_s: liveWindowS,
    sidecars: reports.length,
    calls_per_s: rateOf('calls'),
    failed_per_s: rateOf('failed'),
    aborted_per_s: rateOf('aborted'),
    degraded_per_s: rateOf('degraded'),
    refused_per_s: rateOf('refused'),
    errors_per_s: rateOf('errors'),
    open_streams: sum(({ streams }) => streams),
    latency_ms: timesOf(({ took }) => took),
    overhead_ms: timesOf(({ overhead }) => overhead),
  };
}

const rounded = (ms: number): number => Number(ms.toPrecision(3));
