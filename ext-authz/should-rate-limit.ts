/**
 * The RateLimitService: rate and day budget of an account and of its key, and the headers that tell the client where it
 * stands.
 *
 * Invariant: every reply of a limited route carries the limit headers, and every 429 a Retry-After that lets the client in.
 */
import { setImmediate } from 'node:timers/promises';
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
  /** Takes a call out of the day of its account and its key; null: a key without limits of its own. */
  readonly giveBack: (accountId: string, keyId: string | null) => void;
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

/** A little less than Envoy gives one try at a question, before it puts it to another instance. */
const longMs = 500;

/**
 * Whether Envoy has put the question to another instance, which counts the call in its place, or has refused the call. A
 * process that stood still first hears of what has come meanwhile.
 */
async function isGivenUp(isGone: () => boolean, tookMs: number): Promise<boolean> {
  if (tookMs > longMs) await setImmediate();
  return isGone();
}

export function makeShouldRateLimit({ addresses, giveBack, metrics, limiter }: RateLimitContext): ShouldRateLimit {
  return async (request, isGone = () => false): Promise<IRateLimitResponse> => {
    const askedMs = performance.now();
    const entries = descriptor(request);
    const kind = entries.get('kind') ?? '';
    const accountId = entries.get('account_id');
    // An error is a refusal: Envoy lets no call pass whose limits nobody has decided.
    if (!accountId || accountId === missingIdentity) throw new Error('A rate limit was asked for without an account.');
    const kib = entries.has('body') ? bodyKib(entries.get('content_length')) : 0;
    const drawn = drawnLimits(kind, accountId, entries.get('limits') ?? '', kib);
    const decision = await limiter.decide(accountId, kind, drawn);
    metrics.decided(accountId, kind, drawn, decision);
    if (decision.admitted && kind === 'calls' && (await isGivenUp(isGone, performance.now() - askedMs)))
      giveBack(accountId, drawn.levels.find(({ of }) => of === 'key')?.id ?? null);
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
