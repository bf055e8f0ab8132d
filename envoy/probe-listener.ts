/**
 * The listener for test calls of the control plane: `providers test` takes the way that calls take, through the resolver, the certificates and
 * the connections of Envoy, and is told what Envoy saw.
 *
 * Invariant: nobody but the control plane gets there: it is a Unix socket of mode 0600, or asks for a certificate of the private authority. No
 * credential is added here, and none is needed to reach a provider that takes none.
 */
import { parseListen } from '@gw/contract/internal/listen';
import { probeClusterHeader, probeFailureHeader, probeUpstreamHeader } from '@gw/contract/internal/probe';
import { overwriting } from './attempt-filters.ts';
import { bufferLimitBytes } from './clusters.ts';
import { plainSocket } from './service-clusters.ts';
import { typed } from './typed.ts';

/** 0600. */
const ownerOnly = 384;

function place(listen: string): object {
  const where = parseListen(listen);
  if ('path' in where) return { pipe: { ...where, mode: ownerOnly } };
  return { socket_address: { address: where.host, port_value: where.port } };
}

function transport(listen: string, tls: object | null): object {
  if ('path' in parseListen(listen)) return plainSocket;
  if (tls === null) throw new Error('A probe listener on the network needs the internal certificates.');
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext', {
      require_client_certificate: true,
      common_tls_context: tls,
    }),
  };
}

/** Marks Envoy's own replies and says why there was none of the provider's. */
const ownReplies = {
  mappers: [
    {
      // Any flag: a reply of the provider has none.
      filter: { response_flag_filter: {} },
      headers_to_add: [overwriting(probeFailureHeader, '%RESPONSE_FLAGS%')],
      body_format_override: {
        json_format: { details: '%RESPONSE_CODE_DETAILS%', transport: '%UPSTREAM_TRANSPORT_FAILURE_REASON%' },
      },
    },
  ],
};

/** `tls`: the context of the internal certificates. */
export function probeListener(listen: string, tls: object | null): object {
  const route = {
    // No other cluster: some add the credentials of providers.
    match: { prefix: '/', headers: [{ name: probeClusterHeader, string_match: { prefix: 'probe:' } }] },
    route: { cluster_header: probeClusterHeader, timeout: '0s' },
    request_headers_to_remove: [probeClusterHeader, 'x-forwarded-proto', 'x-request-id'],
    response_headers_to_remove: [probeFailureHeader],
    response_headers_to_add: [overwriting(probeUpstreamHeader, '%UPSTREAM_REMOTE_ADDRESS%')],
  };
  const manager = typed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'probe',
    generate_request_id: false,
    server_header_transformation: 'PASS_THROUGH',
    local_reply_config: ownReplies,
    route_config: { virtual_hosts: [{ name: 'provider', domains: ['*'], routes: [route] }] },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: typed('envoy.extensions.filters.http.router.v3.Router', { suppress_envoy_headers: true }),
      },
    ],
  });
  return {
    name: 'probe',
    address: place(listen),
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    filter_chains: [
      {
        transport_socket: transport(listen, tls),
        filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }],
      },
    ],
  };
}
