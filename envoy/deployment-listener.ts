/** The internal listener of a deployment, which sets path, beginning of the body, headers, credential and host of an attempt. */
import { lostSoonHeader, soonMs } from '@gw/contract/internal/first-attempt';
import { operatorFaultField, operatorFaultHeader } from '@gw/contract/internal/operator-faults';
import { waitHeaders } from '@gw/contract/internal/retry-after';
import {
  atCapacityHeader,
  credentialMissingHeader,
  unhealthyHeader,
  unreachedHeader,
} from '@gw/contract/internal/snapshot';
import { askableRoute, askingAgain } from './added-fields.lua.ts';
import { attemptScript } from './attempt.lua.ts';
import {
  cleanUpFilter,
  credentialFilter,
  luaFilter,
  overwriting,
  type ProviderCredential,
  statusIs,
  trustedHeaders,
} from './attempt-filters.ts';
import { bufferLimitBytes, type DeploymentLeaf, leafName, listenerName } from './clusters.ts';
import { firstEventFilter } from './first-event.ts';
import { typed } from './typed.ts';

export interface DeploymentEndpoint extends DeploymentLeaf {
  readonly kind: 'simulator' | 'openai';
  /** Below `baseUrl`, with {endpoint} and optionally {model}; null: {endpoint}. */
  readonly path: string | null;
  /** Further headers for each call; no secrets. */
  readonly headers: Readonly<Record<string, string>> | null;
  readonly credential: ProviderCredential | null;
}

/** Envoy's own 401 here means a missing credential. A 429 sends the call on to the next deployment. */
const withoutCredential = (id: string): object => ({
  filter: statusIs('EQ', 401),
  status_code: 429,
  headers_to_add: [overwriting('x-gw-deployment', id), overwriting(credentialMissingHeader, '1')],
});

/**
 * The deployment has reached its limit of concurrent calls. A 429 sends the call on to the next deployment; the header distinguishes it
 * from a provider's 429.
 */
const atCapacity = (id: string): object => ({
  filter: { response_flag_filter: { flags: ['UO'] } },
  status_code: 429,
  headers_to_add: [overwriting('x-gw-deployment', id), overwriting(atCapacityHeader, '1')],
});

/** No healthy host. The status stays 503, with which the call goes on to the next deployment; a provider's 503 lacks the header. */
const unhealthy = (id: string): object => ({
  filter: { response_flag_filter: { flags: ['UH'] } },
  headers_to_add: [overwriting('x-gw-deployment', id), overwriting(unhealthyHeader, '1')],
});

/** The header says that nothing was sent to the provider, which the status 503 does not. */
const unreached: object = {
  filter: { response_flag_filter: { flags: ['UF', 'DF'] } },
  headers_to_add: [overwriting(unreachedHeader, '1')],
};

/** The provider closed the connection, and cannot have worked on the call for long. */
const lostSoon: object = {
  filter: {
    and_filter: {
      filters: [
        { response_flag_filter: { flags: ['UC', 'UR'] } },
        { duration_filter: { comparison: { op: 'LE', value: { default_value: soonMs, runtime_key: 'gw.unset' } } } },
      ],
    },
  },
  headers_to_add: [overwriting(lostSoonHeader, '1')],
};

const hasField = (key: string): object => ({
  metadata_filter: {
    matcher: { filter: 'gw', path: [{ key }], value: { present_match: true } },
    match_if_key_not_found: false,
  },
});

/**
 * Tells the sidecar why an attempt failed after which another deployment may be tried, which it cannot see otherwise. Status 0 is a
 * time-out before the reply began. All deployments share one logger, since each logger keeps a connection per worker.
 */
const failedAttempts = {
  name: 'envoy.access_loggers.http_grpc',
  filter: {
    and_filter: {
      filters: [
        hasField('attempt_of'),
        { or_filter: { filters: [statusIs('GE', 429), statusIs('EQ', 0), hasField(operatorFaultField)] } },
      ],
    },
  },
  typed_config: typed('envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig', {
    common_config: {
      log_name: 'attempts',
      transport_api_version: 'V3',
      buffer_size_bytes: 0,
      grpc_service: { envoy_grpc: { cluster_name: 'receipt_sidecar' } },
    },
    additional_response_headers_to_log: [
      ...waitHeaders,
      operatorFaultHeader,
      credentialMissingHeader,
      atCapacityHeader,
    ],
  }),
};

function listener(deployment: DeploymentEndpoint): object {
  const url = new URL(deployment.baseUrl);
  const { credential } = deployment;
  const base = `${url.pathname.replace(/\/$/, '')}/`;
  const { headers, path } = deployment;
  const route = {
    match: { prefix: '/v1/' },
    route: {
      cluster: leafName(deployment),
      // The filter sets any other path.
      ...(path === null && { prefix_rewrite: base }),
      host_rewrite_literal: url.host,
      // The route in front has the time-out and retries.
      timeout: '0s',
    },
    // Overwrites a provider's own: the sidecar trusts this header.
    response_headers_to_add: [overwriting('x-gw-deployment', deployment.id)],
    response_headers_to_remove: trustedHeaders,
    request_headers_to_add: Object.entries(headers ?? {}).map(([name, value]) => overwriting(name, value)),
  };
  const manager = typed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: `deployment_${deployment.id}`,
    generate_request_id: false,
    stream_idle_timeout: '0s',
    delayed_close_timeout: '0s',
    server_header_transformation: 'PASS_THROUGH',
    access_log: [failedAttempts],
    local_reply_config: {
      mappers: [
        withoutCredential(deployment.id),
        atCapacity(deployment.id),
        unhealthy(deployment.id),
        unreached,
        lostSoon,
      ],
    },
    route_config: {
      virtual_hosts: [{ name: 'provider', domains: ['*'], routes: [askableRoute(deployment.id, route), route] }],
    },
    http_filters: [
      luaFilter(attemptScript(deployment.id, path && base + path)),
      ...(credential ? [credentialFilter(credential)] : []),
      firstEventFilter,
      cleanUpFilter(deployment.kind),
      {
        name: 'envoy.filters.http.router',
        typed_config: typed('envoy.extensions.filters.http.router.v3.Router', {
          suppress_envoy_headers: true,
          upstream_http_filters: askingAgain,
        }),
      },
    ],
  });
  return typed('envoy.config.listener.v3.Listener', {
    name: listenerName(deployment.id),
    internal_listener: {},
    // Admitted calls continue under overload.
    bypass_overload_manager: true,
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    filter_chains: [{ filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] }],
  });
}

/** One internal listener per deployment. */
export function listenerResources(deployments: readonly DeploymentEndpoint[]): object[] {
  return deployments.map(listener);
}
