/** Explains a choice of region. Annual averages do not tell one hour from another, so they never steer: until a live signal is configured, each free call falls back to provider preference and says so. */
import type { RoutingTrace } from '@gw/contract/receipt';
import type { Candidate, Route } from './request/route.ts';

/** Minutes from the end of the observed interval to the call, one decimal; null if it has not ended. */
function ageMinutes(observedAt: string, requestedAt: string): number | null {
  const ms = Date.parse(requestedAt) - Date.parse(observedAt);
  return ms >= 0 ? Math.round(ms / 6000) / 10 : null;
}

function operationalSignal(served: Candidate, requestedAt: string): RoutingTrace['operational_signal'] {
  const { grid } = served;
  if (!grid) return null;
  return {
    source: grid.source,
    kind: grid.signal === 'marginal' ? 'marginal' : 'average',
    g_per_kwh: grid.gPerKwh,
    observed_at: new Date(grid.observedAt).toISOString(),
    requested_at: requestedAt,
    age_minutes: ageMinutes(grid.observedAt, requestedAt),
    temporal_match: grid.temporalMatch ?? 'none',
    live_eligible: false,
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
  return {
    policy: pinned ? 'pinned' : 'provider_preference',
    decision: pinned
      ? `The request pinned the region ${first}.`
      : `${first} comes first in the provider preference among the regions that serve this model.`,
    fallback: !pinned,
    fallback_reason: pinned ? null : 'no_live_grid_signal',
    region: served?.region.code ?? null,
    deployment: served?.deployment.id ?? null,
    attempts: {
      count: attempts,
      failed: failed.map(({ deployment }) => ({ deployment: deployment.id, outcome: 'failed' })),
    },
    operational_signal: served ? operationalSignal(served, requestedAt) : null,
    candidates: order.map(({ region, grid }) => ({
      region: region.code,
      g_per_kwh: grid?.gPerKwh ?? null,
      age_minutes: grid ? ageMinutes(grid.observedAt, requestedAt) : null,
      eligible: pinned,
      excluded_reason: pinned ? null : 'no_live_signal',
    })),
    // The choice is the provider-preference choice (or the client's own), so nothing is saved against it.
    estimated_saving_g: pinned ? null : 0,
  };
}
