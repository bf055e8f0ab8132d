/** The two ways of a call to providers, as route actions. */
import { requestIdField } from '@gw/contract/internal/first-attempt';
import { operatorFaultHeader } from '@gw/contract/internal/operator-faults';
import { requestTimeHeader } from '@gw/contract/internal/overhead';
import { overwriting } from './attempt-filters.ts';
import { orderOfAttempts } from './first-attempt.ts';
import { typed } from './typed.ts';

/** A route action, and headers for its replies. */
export interface ProviderWay {
  readonly headersToAdd?: readonly object[];
  readonly [action: string]: unknown;
}

const retries = {
  // The sidecar sets x-envoy-max-retries, the number of further deployments to try, at most nine.
  retry_on: 'connect-failure,refused-stream,reset-before-request,5xx,retriable-status-codes,retriable-headers',
  retriable_status_codes: [429],
  retriable_headers: [{ name: operatorFaultHeader, present_match: true }],
  num_retries: 0,
  retry_back_off: { base_interval: '0.010s', max_interval: '0.050s' },
};

/** For JSON the sidecar sets x-envoy-upstream-rq-timeout-ms. */
const timeout = '0s';

/** All attempts go through the listeners of deployments. */
export const byListeners: ProviderWay = {
  cluster_header: 'x-gw-cluster',
  cluster_not_found_response_code: 'SERVICE_UNAVAILABLE',
  timeout,
  retry_policy: {
    ...retries,
    retry_priority: {
      name: 'envoy.retry_priorities.previous_priorities',
      typed_config: typed('envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig', {
        update_frequency: 1,
      }),
    },
  },
};

/** The first attempt goes directly to its provider, later ones through listeners. */
export const byOrder: ProviderWay = {
  ...orderOfAttempts,
  auto_host_rewrite: true,
  // Envoy would copy it from the request, where the attempt has removed it.
  headersToAdd: [overwriting('x-request-id', `%DYNAMIC_METADATA(gw:${requestIdField})%`)],
  timeout,
  retry_policy: { ...retries, refresh_cluster_on_retry: true },
};

/**
 * Sets a reply header with the time from the end of the request to its last attempt, µs, replacing a provider's own. A filter adds it,
 * because headers of a route would also be on local replies, where nothing removes them.
 */
export const requestTime = {
  request_time: typed('envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute', {
    mutations: {
      response_mutations: [{ append: overwriting(requestTimeHeader, '%COMMON_DURATION(DS_RX_END:US_TX_BEG:us)%') }],
    },
  }),
};
