/**
 * Explains a choice of region. Annual averages do not tell one hour from another, so they never steer; and until
 * carbon-aware routing is built, a free call goes by provider preference and says so.
 */
import type { RoutingTrace } from '@gw/contract/receipt';
import { gridProvenance } from '@gw/methodology/grid';
import type { Candidate, Route } from './request/route.ts';

/** What is known of a candidate's grid at the moment of the call. */
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

/** `attempts`: how many deployments were tried, as Envoy counted. */
export function routingTrace(
  route: Route,
  served: Candidate | null,
  attempts: number,
  requestedAt: string,
): RoutingTrace {
  const { order, pinned } = route;
  const at = served ? order.findIndex(({ deployment }) => deployment.id === served.deployment.id) : -1;
  // Envoy tells who answered and how many tries it took; those before the one that answered have failed.
  const failed = attempts > 1 ? order.slice(0, at === -1 ? attempts - 1 : at) : [];
  const first = order[0].region.code;
  const now = new Date(requestedAt);
  const signals = order.map((candidate) => signalOf(candidate, now, requestedAt));
  const live = signals.some((signal) => signal?.live_eligible);
  return {
    policy: pinned ? 'pinned' : 'provider_preference',
    decision: pinned
      ? `The request pinned the region ${first}.`
      : `${first} comes first in the provider preference among the regions that serve this model.`,
    fallback: !pinned,
    // A live signal is shown, but does not steer yet.
    fallback_reason: pinned ? null : live ? 'carbon_aware_routing_off' : 'no_live_grid_signal',
    region: served?.region.code ?? null,
    deployment: served?.deployment.id ?? null,
    attempts: {
      count: attempts,
      failed: failed.map(({ deployment }) => ({ deployment: deployment.id, outcome: 'failed' })),
    },
    operational_signal: served ? signalOf(served, now, requestedAt) : null,
    candidates: order.map(({ region }, index) => ({
      region: region.code,
      g_per_kwh: signals[index]?.g_per_kwh ?? null,
      age_minutes: signals[index]?.age_minutes ?? null,
      eligible: pinned,
      excluded_reason: pinned ? null : signals[index]?.live_eligible ? 'carbon_aware_routing_off' : 'no_live_signal',
    })),
    // The choice is the provider-preference choice (or the client's own), so nothing is saved against it.
    estimated_saving_g: pinned ? null : 0,
  };
}
