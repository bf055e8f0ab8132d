/**
 * Enforces `gw.max_carbon_g`, the ceiling of a call's estimated carbon.
 *
 * Invariants: the ceiling applies to the central estimate before the call, with the longest answer that the request allows; the receipt can
 * come out higher. A call with a ceiling is not sent to a deployment whose carbon cannot be estimated.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import type { Candidate, Named } from '../catalogue/snapshot.ts';
import { estimateCall } from '../guards/budgets/estimate.ts';

export interface CarbonCeiling {
  readonly isBelow: (candidate: Candidate) => boolean;
  /** Returns an error if the call is above the ceiling at all of these candidates; null if not, or if there are none. */
  readonly refusalFor: (candidates: readonly Candidate[], param: string) => ApiError | null;
}

/** Returns null for a call without a ceiling. `at`: ms since 1970. */
export function carbonCeiling(request: ParsedRequest, modelOf: Named['modelOf'], at: number): CarbonCeiling | null {
  const most = request.options.max_carbon_g;
  if (most === undefined) return null;
  const time = new Date(at).toISOString();
  const estimates = new Map<string, number>();
  const estimateOf = (candidate: Candidate): number => {
    const { id } = candidate.deployment;
    const known = estimates.get(id);
    if (known !== undefined) return known;
    const { carbon_g } = estimateCall(request, modelOf(candidate), candidate, time);
    const grams = carbon_g ?? Number.POSITIVE_INFINITY;
    estimates.set(id, grams);
    return grams;
  };
  const isBelow = (candidate: Candidate): boolean => estimateOf(candidate) <= most;
  return {
    isBelow,
    refusalFor(candidates, param) {
      const [first, ...others] = candidates;
      if (!first || candidates.some(isBelow)) return null;
      const lowest = others.reduce((best, each) => (estimateOf(each) < estimateOf(best) ? each : best), first);
      const grams = estimateOf(lowest);
      const found = Number.isFinite(grams)
        ? `the lowest estimate is ${Number(grams.toPrecision(3))} g, in ${lowest.region.code}`
        : 'nobody can estimate it for this model';
      const message = `No region that can serve this call is estimated to cause ${most} g CO2e or less: ${found}. Nothing was sent to a provider.`;
      return apiError('max_carbon_exceeded', { message, param });
    },
  };
}
