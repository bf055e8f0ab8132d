/**
 * The RateLimitService: rate and day budget of an account and of its key, and the headers that tell the client where it
 * stands.
 *
 * Invariant: every reply of a limited route carries the limit headers, and every 429 a Retry-After that lets the client in.
 */
import { type Addresses, errorBody, errorHeaders } from '@gw/contract/errors';
import { missingIdentity } from '@gw/contract/internal/identity';
import type { IRateLimitResponse, RateLimitRequest, ShouldRateLimit } from '@gw/grpc/service';
import { bodyKib, drawnLimits } from './limits/drawn-limits.ts';
import { type LimitHeader, limitHeaders, refusalOf } from './limits/limit-headers.ts';
import type { LimitMetrics } from './limits/limit-metrics.ts';
import type { Limiter } from './limits/limiter.ts';

export interface RateLimitContext {
  readonly limiter: Pick<Limiter, 'decide'>;
  readonly metrics: Pick<LimitMetrics, 'decided'>;
  readonly addresses: Addresses;
}

/** Numbers of the proto's enum: messages are encoded without a conversion of names. */
const overallCode = { ok: 1, overLimit: 2 } as const;

function descriptor(request: RateLimitRequest): Map<string, string> {
  const entries = request.descriptors?.[0]?.entries ?? [];
  return new Map(entries.map((entry) => [entry.key ?? '', entry.value ?? '']));
}

/**
 * The same for a reply that Envoy gives up after its headers have come: what replaces it passes over the filter that adds
 * headers, so it takes them from here (local-replies.ts).
 */
const asMetadata = (headers: readonly LimitHeader[]) => ({
  fields: Object.fromEntries(headers.map(({ key, value }) => [key, { stringValue: value }])),
});

export function makeShouldRateLimit({ addresses, metrics, limiter }: RateLimitContext): ShouldRateLimit {
  return async (request): Promise<IRateLimitResponse> => {
    const entries = descriptor(request);
    const kind = entries.get('kind') ?? '';
    const accountId = entries.get('account_id');
    // An error is a refusal: Envoy lets no call pass whose limits nobody has decided.
    if (!accountId || accountId === missingIdentity) throw new Error('A rate limit was asked for without an account.');
    const kib = entries.has('body') ? bodyKib(entries.get('content_length')) : 0;
    const drawn = drawnLimits(kind, accountId, entries.get('limits') ?? '', kib);
    const decision = await limiter.decide(accountId, kind, drawn);
    metrics.decided(accountId, kind, drawn, decision);
    const headers = limitHeaders(drawn, decision);
    if (decision.admitted)
      return { overallCode: overallCode.ok, responseHeadersToAdd: headers, dynamicMetadata: asMetadata(headers) };
    const refusal = refusalOf(drawn, decision);
    return {
      overallCode: overallCode.overLimit,
      rawBody: Buffer.from(errorBody(refusal, addresses)),
      responseHeadersToAdd: [...headers, ...[...errorHeaders(refusal)].map(([key, value]) => ({ key, value }))],
    };
  };
}
