/**
 * `/readyz` of the public listener: whether a load balancer should send calls here. Envoy's filter for health answers, by the health of the
 * clusters that every call needs; liveness (`/healthz`) is apart, since starting an Envoy again brings no service back.
 *
 * Invariants: no request goes past the filter unless its path is another one, so this is no way around the key. One healthy instance of each
 * suffices, as for calls: two that share an outage do not take all Envoys away.
 */
import { apiError } from '@gw/contract/errors';
import { typed } from './typed.ts';

export const readinessPath = '/readyz';

export const notReady = apiError('overloaded', {
  message:
    'This gateway is shutting down, or reaches no healthy ext-authz or no healthy receipt sidecar. Send calls to another one.',
});

/** The beginning of Envoy's own reasons for these replies. */
export const readinessReasons = { ready: 'health_check_ok', notReady: 'health_check_failed' } as const;

/** The parts that every call needs. The control plane is none. */
const atLeastOne = { value: 1 };

export const readinessFilter = {
  name: 'envoy.filters.http.health_check',
  typed_config: typed('envoy.extensions.filters.http.health_check.v3.HealthCheck', {
    pass_through_mode: false,
    headers: [
      { name: ':path', string_match: { safe_regex: { regex: `${readinessPath}(\\?.*)?` } } },
      { name: ':method', string_match: { safe_regex: { regex: 'GET|HEAD' } } },
    ],
    cluster_min_healthy_percentages: { ext_authz: atLeastOne, receipt_sidecar: atLeastOne },
  }),
};
