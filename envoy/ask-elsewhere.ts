/**
 * A second try at a route of the control plane, of which one of several may have just died.
 *
 * Invariant: what may have changed something already is not asked again.
 */
import type { Route } from '@gw/contract/access';

export const askElsewhere = (method: Route['method']) => ({
  retry_on: `connect-failure,refused-stream,${method === 'GET' ? 'reset' : 'reset-before-request'}`,
  num_retries: 1,
  retry_back_off: { base_interval: '0.005s' },
  retry_host_predicate: [
    {
      name: 'envoy.retry_host_predicates.previous_hosts',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
      },
    },
  ],
  host_selection_retry_max_attempts: '10',
});
