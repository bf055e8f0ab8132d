/** The way of a call to providers, as a route action. */
import { lostSoonHeader, requestIdField } from '@gw/contract/internal/first-attempt';
import { operatorFaultHeader } from '@gw/contract/internal/operator-faults';
import { requestTimeHeader } from '@gw/contract/internal/overhead';
import { overwriting } from './attempt-filters.ts';
import { orderOfAttempts } from './first-attempt.ts';
import { typed } from './typed.ts';

const retries = {
  num_retries: 0,
  retry_back_off: { base_interval: '0.010s', max_interval: '0.050s' },
  refresh_cluster_on_retry: true,
};

/** The sidecar orders the attempts. */
export const toProviders = {
  ...orderOfAttempts,
  auto_host_rewrite: true,
  // For JSON the sidecar sets x-envoy-upstream-rq-timeout-ms.
  timeout: '0s',
  // The sidecar sets x-envoy-max-retries, the number of further deployments to try, at most nine.
  retry_policy: {
    retry_on: 'connect-failure,refused-stream,reset-before-request,5xx,retriable-status-codes,retriable-headers',
    retriable_status_codes: [429],
    retriable_headers: [{ name: operatorFaultHeader, present_match: true }],
    ...retries,
  },
};

/** A call with one deployment is sent a second time only if its connection was lost soon (first-attempt.ts). */
export const toOneProvider = {
  ...toProviders,
  retry_policy: {
    retry_on: 'reset,retriable-headers',
    retriable_headers: [{ name: lostSoonHeader, present_match: true }],
    ...retries,
  },
};

/** Envoy would copy it from the request, where a direct attempt has removed it. */
export const replyRequestId = overwriting('x-request-id', `%DYNAMIC_METADATA(gw:${requestIdField})%`);

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
