/** Refuses calls to a pinned region whose deployments are all saturated or degraded, with the `Retry-After` of the first that frees up. */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { Trouble } from '../attempts/unavailable-deployments.ts';
import type { Candidate } from '../catalogue/snapshot.ts';

/** Returns null if a deployment is available. A single saturated deployment makes the region saturated, and not degraded. */
export function unavailableRegion(
  candidates: readonly Candidate[],
  troubleOf: (candidate: Candidate) => Trouble | null,
): ApiError | null {
  const troubles = candidates.flatMap((each) => troubleOf(each) ?? []);
  if (troubles.length < candidates.length) return null;
  const busy = troubles.filter(({ status }) => status === 'saturated');
  const calls = Math.max(...(busy.length > 0 ? busy : troubles).map(({ failures }) => failures));
  if (busy.length === 0) {
    const message = `The pinned region is in incident mode: its providers could not be reached in ${calls} calls in a row.`;
    return apiError('region_degraded', { message });
  }
  const message = `The pinned region is at capacity: a provider has refused ${calls} calls in a row as too many.`;
  const retryAfterS = Math.ceil(Math.min(...troubles.map(({ forMs }) => forMs)) / 1000);
  return apiError('region_saturated', { message, retryAfterS });
}
