/**
 * The RateLimitService: rate and day budget of an account, and the headers that tell the client where it stands.
 *
 * Invariant: every reply of a limited route carries the limit headers, and every 429 a Retry-After that lets the client in.
 */
import { managementLimits } from '@gw/contract/access';
import { type Addresses, apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import type { IRateLimitResponse, RateLimitRequest, ShouldRateLimit } from '@gw/envoy/rpc/service';
import type { Bucket, Decision } from './limits/bucket.ts';
import type { Limiter } from './limits/limiter.ts';

export interface RateLimitContext {
  readonly limiter: Limiter;
  readonly addresses: Addresses;
}

/** Numbers of the proto's enum: messages are encoded without a conversion of names. */
const overallCode = { ok: 1, overLimit: 2 } as const;

function descriptor(request: RateLimitRequest): Map<string, string> {
  const entries = request.descriptors?.[0]?.entries ?? [];
  return new Map(entries.map((entry) => [entry.key ?? '', entry.value ?? '']));
}

function bucketFor(kind: string, limits: string): Bucket {
  if (kind === 'management') return { ...managementLimits, perDay: null };
  const [ratePerS, burst, perDay] = limits.split(':').map(Number);
  if (!(ratePerS && burst && perDay !== undefined && Number.isFinite(perDay)))
    throw new Error(`The limits "${limits}" of the identity are malformed.`);
  return { ratePerS, burst, perDay };
}

const header = (key: string, value: number | string) => ({ key, value: String(value) });
/** Seconds with up to three decimals, rounded up so that waiting that long is enough. */
const seconds = (ms: number) => Math.ceil(ms) / 1000;

function limitHeaders(bucket: Bucket, decision: Decision) {
  const rate = [
    header('x-ratelimit-limit-requests', bucket.burst),
    header('x-ratelimit-remaining-requests', decision.remaining),
    header('x-ratelimit-reset-requests', seconds(decision.nextTokenMs)),
  ];
  if (bucket.perDay === null) return rate;
  return [
    ...rate,
    header('x-ratelimit-limit-day', bucket.perDay),
    header('x-ratelimit-remaining-day', decision.remainingDay ?? 0),
    header('x-ratelimit-reset-day', Math.ceil(decision.untilMidnightMs / 1000)),
  ];
}

export function makeShouldRateLimit({ limiter, addresses }: RateLimitContext): ShouldRateLimit {
  return async (request): Promise<IRateLimitResponse> => {
    const entries = descriptor(request);
    const kind = entries.get('kind') ?? '';
    const accountId = entries.get('account_id');
    if (!accountId) throw new Error('A rate limit was asked for without an account.');
    const bucket = bucketFor(kind, entries.get('limits') ?? '');
    const decision = await limiter.decide(accountId, kind, bucket);
    const headers = limitHeaders(bucket, decision);
    if (decision.outcome === 'admitted') return { overallCode: overallCode.ok, responseHeadersToAdd: headers };

    const day = decision.outcome === 'day';
    const retryAfterS = Math.max(1, Math.ceil((day ? decision.untilMidnightMs : decision.nextTokenMs) / 1000));
    const error = apiError(day ? 'daily_budget_exceeded' : 'requests_per_second_exceeded', { retryAfterS });
    return {
      overallCode: overallCode.overLimit,
      rawBody: Buffer.from(errorBody(error, addresses)),
      responseHeadersToAdd: [...headers, ...[...errorHeaders(error)].map(([name, value]) => header(name, value))],
    };
  };
}
