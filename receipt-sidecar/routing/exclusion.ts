/** Says why deployments, and targets of an alias, were not chosen. */
import type { Target } from '../catalogue/snapshot.ts';
import type { Offer } from './offer.ts';

export type ExclusionReason =
  | 'region_degraded'
  | 'region_saturated'
  | 'region_decommissioned'
  | 'other_region_pinned'
  | 'api_not_spoken'
  | 'tier_not_served'
  | 'carbon_above_ceiling'
  | 'failing';

export interface PassedTarget {
  readonly name: string;
  readonly why: Exclude<ExclusionReason, 'other_region_pinned'> | 'not_deployed';
}

export const regionErrors = {
  degraded: 'region_degraded',
  saturated: 'region_saturated',
  decommissioned: 'region_decommissioned',
} as const;

/** Returns why a target was passed over for a later one. */
export function whyPassed({ candidates }: Target, { serves, whyNot }: Offer): PassedTarget['why'] {
  const [first] = candidates;
  if (!first) return 'not_deployed';
  const active = candidates.filter(({ region }) => region.status === 'active');
  if (active.some(serves)) return 'failing';
  if (active.length > 0 || first.region.status === 'active') return whyNot(active[0] ?? first);
  return regionErrors[first.region.status];
}
