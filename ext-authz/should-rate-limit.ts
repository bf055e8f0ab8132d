/**
 * The RateLimitService: rate and day budget of an account and of its key, and the headers with their state. Envoy asks it about calls
 * that the key check has not admitted (check.ts).
 *
 * Invariant: every reply of a limited route carries the limit headers, and every 429 a Retry-After that lets the client in.
 */
import { type Addresses, errorBody, errorHeaders } from '@gw/contract/errors';
import { missingIdentity } from '@gw/contract/internal/identity';
import type { IRateLimitResponse, RateLimitRequest, ShouldRateLimit } from '@gw/grpc/service';
import { bodyKib, drawnLimits } from '@gw/service/limits/drawn-limits';
import { metadataOf, refusalOf } from '@gw/service/limits/limit-headers';
import type { Admission } from './limits/admission.ts';

export interface RateLimitContext {
  readonly admission: Pick<Admission, 'decide'>;
  readonly addresses: Addresses;
}

/** Values of the proto's enum. */
const overallCode = { ok: 1, overLimit: 2 } as const;

/** A missing text is empty in protobuf. */
function descriptor(request: RateLimitRequest): Map<string, string> {
  const entries = request.descriptors?.[0]?.entries ?? [];
  return new Map(entries.map(({ key, value }) => [key ?? '', value ?? '']));
}

export function makeShouldRateLimit({ addresses, admission }: RateLimitContext): ShouldRateLimit {
  return async (request, isGone = () => false): Promise<IRateLimitResponse> => {
    const askedMs = performance.now();
    const entries = descriptor(request);
    const kind = entries.get('kind') ?? '';
    const accountId = entries.get('account_id');
    // Fail closed: Envoy refuses the call on an error.
    if (!accountId || accountId === missingIdentity) throw new Error('A rate limit was asked for without an account.');
    const kib = entries.has('body') ? bodyKib(entries.get('content_length')) : 0;
    const drawn = drawnLimits(kind, accountId, entries.get('limits') ?? '', kib);
    const { decision, headers } = await admission.decide({ accountId, kind, drawn, askedMs, isGone });
    if (decision.admitted)
      return {
        overallCode: overallCode.ok,
        responseHeadersToAdd: headers,
        dynamicMetadata: metadataOf(headers),
      };
    const refusal = refusalOf(drawn, decision);
    return {
      overallCode: overallCode.overLimit,
      rawBody: Buffer.from(errorBody(refusal, addresses)),
      responseHeadersToAdd: [...headers, ...[...errorHeaders(refusal)].map(([key, value]) => ({ key, value }))],
    };
  };
}
