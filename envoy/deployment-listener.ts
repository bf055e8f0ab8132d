/**
 * The internal listener of a deployment, where an attempt of a call becomes a call of its provider: path, beginning of the body,
 * headers, credential and host.
 */
import { atCapacityHeader, credentialMissingHeader, unhealthyHeader } from '@gw/contract/internal/snapshot';
import { attemptScript } from './attempt.lua.ts';
import {
  cleanUpFilter,
  credentialFilter,
  luaFilter,
  overwriting,
  type ProviderCredential,
  trustedHeaders,
} from './attempt-filters.ts';
import { bufferLimitBytes, type DeploymentLeaf, leafName, listenerName } from './clusters.ts';
import { typed } from './typed.ts';

export interface DeploymentEndpoint extends DeploymentLeaf {
  readonly kind: 'simulator' | 'openai';
  /** Under `baseUrl`, with {endpoint} and perhaps {model}; null: {endpoint}. */
  readonly path: string | null;
  /** More headers that each call gets; no secret. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** Which header carries the credential (`authorization` with scheme `Bearer`, or `api-key` with none). */
  readonly credential: ProviderCredential | null;
}

/**
 * The only 401 that is Envoy's own here: nobody has given the credential, and the provider is not asked. As 429 it goes on to the
 * next deployment.
 */
const withoutCredential = (id: string): object => ({
  filter: {
    status_code_filter: { comparison: { op: 'EQ', value: { default_value: 401, runtime_key: 'gw.unset' } } },
  },
  status_code: 429,
  headers_to_add: [overwriting('x-gw-deployment', id), overwriting(credentialMissingHeader, '1')],
});

/**
 * It has as many calls as it takes at once, and the provider is not asked. As 429 it goes on to the next deployment; the sidecar tells it
 * from a provider's 429 by the header.
 */
const atCapacity = (id: string): object => ({
  filter: { response_flag_filter: { flags: ['UO'] } },
  status_code: 429,
  headers_to_add: [overwriting('x-gw-deployment', id), overwriting(atCapacityHeader, '1')],
});

/** There is nobody to ask. The status stays 503, with which it goes on to the next deployment; a provider's has no such header. */
const unhealthy = (id: string): object => ({
  filter: { response_flag_filter: { flags: ['UH'] } },
  headers_to_add: [overwriting('x-gw-deployment', id), overwriting(unhealthyHeader, '1')],
});

const statusIs = (op: 'GE' | 'EQ', value: number) => ({
  status_code_filter: { comparison: { op, value: { default_value: value, runtime_key: 'gw.unset' } } },
});

/**
 * Tells the sidecar why an attempt failed after which another deployment may be tried: nothing else that it sees says it. Status 0:
 * the time ran out before a reply began. One logger for all deployments, since each keeps a connection for each worker.
 */
const failedAttempts = {
  name: 'envoy.access_loggers.http_grpc',
  filter: {
    and_filter: {
      filters: [
        {
          metadata_filter: {
            matcher: { filter: 'gw', path: [{ key: 'attempt_of' }], value: { present_match: true } },
            match_if_key_not_found: false,
          },
        },
        { or_filter: { filters: [statusIs('GE', 429), statusIs('EQ', 0)] } },
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
    additional_response_headers_to_log: ['retry-after', credentialMissingHeader, atCapacityHeader],
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
      // Any other path has been made by the filter.
      ...(path === null && { prefix_rewrite: base }),
      host_rewrite_literal: url.host,
      // The route in front counts the time and retries; a second clock here would only cut long completions.
      timeout: '0s',
    },
    // Overwrites what a provider may send: the sidecar trusts this header to know who answered.
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
      mappers: [withoutCredential(deployment.id), atCapacity(deployment.id), unhealthy(deployment.id)],
    },
    route_config: { virtual_hosts: [{ name: 'provider', domains: ['*'], routes: [route] }] },
    http_filters: [
      luaFilter(attemptScript(deployment.id, path && base + path)),
      ...(credential ? [credentialFilter(credential)] : []),
      cleanUpFilter(deployment.kind),
      {
        name: 'envoy.filters.http.router',
        typed_config: typed('envoy.extensions.filters.http.router.v3.Router', { suppress_envoy_headers: true }),
      },
    ],
  });
  return typed('envoy.config.listener.v3.Listener', {
    name: listenerName(deployment.id),
    internal_listener: {},
    // What was let in goes on, however little room there is for more.
    bypass_overload_manager: true,
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    filter_chains: [{ filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] }],
  });
}

/** One internal listener per deployment. */
export function listenerResources(deployments: readonly DeploymentEndpoint[]): object[] {
  return deployments.map(listener);
}
