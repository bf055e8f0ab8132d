/**
 * Explains a choice of region. Annual averages do not tell one hour from another, so they never steer; and until
 * carbon-aware routing is built, a free call goes by provider preference and says so.
 */
import type { RoutingTrace } from '@gw/contract/receipt';
import { gridProvenance } from '@gw/methodology/grid';
import type { Bar, Route } from './request/route.ts';
import type { Candidate } from './snapshot.ts';

/** Returns what is known of a candidate's grid at the moment of the call; null if nothing is. */
function signalOf(candidate: Candidate, at: Date, requestedAt: string): RoutingTrace['operational_signal'] {
  const grid = candidate.gridAt(at);
  const provenance = grid && gridProvenance(grid, requestedAt);
  if (!grid || !provenance) return null;
  return {
    source: grid.source,
    kind: grid.signal === 'marginal' ? 'marginal' : 'average',
    g_per_kwh: grid.gPerKwh,
    observed_at: provenance.observedAt,
    requested_at: requestedAt,
    age_minutes: provenance.ageMinutes,
    temporal_match: provenance.temporalMatch,
    live_eligible: provenance.temporalMatch === 'live_window' || provenance.temporalMatch === 'fresh',
  };
}

const barWords: Readonly<Record<Bar, string>> = {
  region_degraded: 'degraded',
  region_saturated: 'saturated',
  region_decommissioned: 'decommissioned',
  other_region_pinned: 'not pinned',
  tier_not_served: 'reports no measured energy',
};

const regionsOf = (candidates: readonly Candidate[]): string[] => [
  ...new Set(candidates.map(({ region }) => region.code)),
];

/** Says why the first deployment of the fail-over chain was chosen. */
function choiceOf({ barredBy, offered, failoverChain: [first], pinned }: Route): string {
  const chosen = first.region.code;
  if (pinned) return `The request pinned the region ${chosen}.`;
  const at = offered.findIndex(({ deployment }) => deployment.id === first.deployment.id);
  const before = offered.slice(0, at).filter(({ region }) => region.code !== chosen);
  const passed = new Map(before.map((candidate) => [candidate.region.code, barredBy(candidate)]));
  if (passed.size === 0)
    return `${chosen} comes first in the provider preference among the regions that serve this model.`;
  const reasons = [...passed].map(([code, bar]) => (bar === null ? code : `${code} (${barWords[bar]})`));
  return `${chosen} was chosen: it comes next in the provider preference, after ${reasons.join(', ')}.`;
}

/** Says what became of the choice; empty if it answered. */
function outcomeOf({ failoverChain: [first] }: Route, served: Candidate | null, failed: readonly Candidate[]): string {
  const names = regionsOf(failed).join(', ');
  if (!served) return failed.length > 0 ? ` ${names} failed, and no other region is known to have answered.` : '';
  if (served.deployment.id === first.deployment.id) return '';
  const { deployment, region } = served;
  if (region.code === first.region.code)
    return ` Its deployment ${first.deployment.id} did not answer; ${deployment.id} of the same region did.`;
  return ` ${names || first.region.code} failed, and ${region.code}, which comes next, answered.`;
}

/** Returns one candidate for each region that serves the model, in the order of provider preference. */
function candidatesOf(
  { barredBy, offered, pinned }: Route,
  now: Date,
  requestedAt: string,
): RoutingTrace['candidates'] {
  return regionsOf(offered).flatMap((code) => {
    const inRegion = offered.filter(({ region }) => region.code === code);
    const candidate = inRegion.find((each) => barredBy(each) === null) ?? inRegion[0];
    if (!candidate) return [];
    const signal = signalOf(candidate, now, requestedAt);
    // A live signal is shown, but does not steer yet.
    const unsteered = signal?.live_eligible ? 'carbon_aware_routing_off' : 'no_live_signal';
    const excluded = barredBy(candidate) ?? (pinned ? null : unsteered);
    return {
      region: code,
      g_per_kwh: signal?.g_per_kwh ?? null,
      age_minutes: signal?.age_minutes ?? null,
      eligible: excluded === null,
      excluded_reason: excluded,
    };
  });
}

/**
 * Makes the trace. `served` is null if it is not known who answered; `attempts` is Envoy's count of tried deployments.
 */
export function routingTrace(
  route: Route,
  served: Candidate | null,
  attempts: number,
  requestedAt: string,
): RoutingTrace {
  const { failoverChain, pinned } = route;
  const at = served ? failoverChain.findIndex(({ deployment }) => deployment.id === served.deployment.id) : -1;
  // Envoy tells who answered and how many tries it took; those before the one that answered have failed.
  const failed = attempts > 1 ? failoverChain.slice(0, at === -1 ? attempts - 1 : at) : [];
  const now = new Date(requestedAt);
  const candidates = candidatesOf(route, now, requestedAt);
  const live = candidates.some(({ excluded_reason: reason }) => reason === 'carbon_aware_routing_off');
  return {
    policy: pinned ? 'pinned' : 'provider_preference',
    decision: choiceOf(route) + outcomeOf(route, served, failed),
    fallback: !pinned,
    fallback_reason: pinned ? null : live ? 'carbon_aware_routing_off' : 'no_live_grid_signal',
    region: served?.region.code ?? null,
    deployment: served?.deployment.id ?? null,
    attempts: {
      count: attempts,
      failed: failed.map(({ deployment }) => ({ deployment: deployment.id, outcome: 'failed' })),
    },
    operational_signal: served ? signalOf(served, now, requestedAt) : null,
    candidates,
    // Where the choice answered, it was the provider-preference choice, so nothing is saved against it. After a fail-over
    // nobody knows what the region that failed would have taken.
    estimated_saving_g: !pinned && served?.region.code === failoverChain[0].region.code ? 0 : null,
  };
}
