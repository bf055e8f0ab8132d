/** The two ways of a call to providers, as actions of a route. */
import { requestIdField } from '@gw/contract/internal/first-attempt';
import { requestTimeHeader } from '@gw/contract/internal/overhead';
import { overwriting } from './attempt-filters.ts';
import { orderOfAttempts } from './first-attempt.ts';
import { setHeader } from './sink.ts';
import { typed } from './typed.ts';

/** The action of a route, and headers for its replies. */
export interface ProviderWay {
  readonly headersToAdd?: readonly object[];
  readonly [action: string]: unknown;
}

const retries = {
  // The sidecar sets x-envoy-max-retries: how many deployments after the first may be tried, at most nine.
  retry_on: 'connect-failure,refused-stream,reset-before-request,5xx,retriable-status-codes',
  retriable_status_codes: [429],
  num_retries: 0,
  retry_back_off: { base_interval: '0.010s', max_interval: '0.050s' },
};

/** The sidecar sets x-envoy-upstream-rq-timeout-ms for JSON. */
const timeout = '0s';

/** All attempts by the listeners of deployments. */
export const byListeners: ProviderWay = {
  cluster_header: 'x-gw-cluster',
  cluster_not_found_response_code: 'SERVICE_UNAVAILABLE',
  timeout,
  retry_policy: {
    ...retries,
    retry_priority: {
      name: 'envoy.retry_priorities.previous_priorities',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig',
        update_frequency: 1,
      },
    },
  },
};

/** The first attempt at once, and each of the others by a listener. */
export const byOrder: ProviderWay = {
  ...orderOfAttempts,
  auto_host_rewrite: true,
  // Envoy takes it from the request, where the attempt has taken it off.
  headersToAdd: [setHeader('x-request-id', `%DYNAMIC_METADATA(gw:${requestIdField})%`)],
  timeout,
  retry_policy: { ...retries, refresh_cluster_on_retry: true },
};

/**
 * Has the reply say when the request was whole and when its last attempt began, µs between them, in place of a provider's own word. By a
 * filter, since a route's headers would be on replies that Envoy makes in the middle of one, which nobody could take them off.
 */
export const requestTime = {
  request_time: typed('envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute', {
    mutations: {
      response_mutations: [{ append: overwriting(requestTimeHeader, '%COMMON_DURATION(DS_RX_END:US_TX_BEG:us)%') }],
    },
  }),
};
