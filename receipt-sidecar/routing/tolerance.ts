/**
 * Limits the latency and cost that a choice by carbon may add, compared with the region that provider preference would have chosen.
 *
 * Invariant: with a tolerance, only deployments that are known to lie within it are chosen; one whose latency or cost is not stated is not.
 */
import type { Tolerance } from '@gw/contract/access';
import type { GwOptions } from '@gw/contract/gw-options';
import type { Candidate } from '../catalogue/snapshot.ts';

export type Intolerable = 'latency_above_tolerance' | 'cost_above_tolerance';

/** Options of the request take precedence over the account's tolerance. */
export const toleranceOf = (options: GwOptions, account: Tolerance): Tolerance => ({
  addedLatencyMs: options.max_added_latency_ms ?? account.addedLatencyMs,
  addedCostPercent: options.max_added_cost_percent ?? account.addedCostPercent,
});

export const isAny = ({ addedCostPercent, addedLatencyMs }: Tolerance): boolean =>
  addedCostPercent === null && addedLatencyMs === null;

/** Returns why the region of `candidate` cannot be chosen in place of that of `preferred`; null if it can. */
export const intolerable = (candidate: Candidate, preferred: Candidate, tolerance: Tolerance): Intolerable | null =>
  candidate.region.code === preferred.region.code ? null : exceeded(candidate, preferred, tolerance);

/** Whether a call can begin at `candidate` in place of `preferred`, also where both are of one region. */
export const isTolerable = (candidate: Candidate, preferred: Candidate, tolerance: Tolerance): boolean =>
  candidate === preferred || exceeded(candidate, preferred, tolerance) === null;

function exceeded(
  candidate: Candidate,
  preferred: Candidate,
  { addedCostPercent, addedLatencyMs }: Tolerance,
): Intolerable | null {
  const [{ latencyMs, relativeCost }, before] = [candidate.deployment, preferred.deployment];
  if (addedLatencyMs !== null && !isWithin(latencyMs, before.latencyMs, (least) => least + addedLatencyMs))
    return 'latency_above_tolerance';
  if (
    addedCostPercent !== null &&
    !isWithin(relativeCost, before.relativeCost, (base) => base * (1 + addedCostPercent / 100))
  )
    return 'cost_above_tolerance';
  return null;
}

const isWithin = (own: number | null, preferred: number | null, most: (preferred: number) => number): boolean =>
  own !== null && preferred !== null && own <= most(preferred);
