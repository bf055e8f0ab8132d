/**
 * The dynamic part of Envoy's configuration: what the control plane serves by xDS.
 *
 * A call goes to the cluster of a fail-over chain (by priority), whose endpoints are internal listeners, one per deployment.
 * Credential, path and host differ by deployment, so they are set there, once per attempt: upstream filters of a
 * cluster do not run when it is reached through an aggregate, and the provider would get no credential at all.
 *
 * Invariant: a secret appears only in `secretResources`; Envoy redacts those in its config dump.
 */
import { credentialMissingHeader, failoverCluster } from '@gw/contract/internal/snapshot';

export interface DeploymentPlace {
  readonly id: string;
  /** The provider's base URL up to and without the endpoint: `https://host/v1`. */
  readonly baseUrl: string;
}

export interface DeploymentEndpoint extends DeploymentPlace {
  readonly kind: 'simulator' | 'openai';
  /** Which header carries the credential (`authorization` with scheme `Bearer`, or `api-key` with none). */
  readonly credential: ProviderCredential | null;
}

export interface ProviderCredential {
  readonly header: string;
  readonly scheme: string | null;
  readonly secretName: string;
}

export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Replies of 64 MiB are buffered on their way to the sidecar. */
const bufferLimitBytes = 68_157_440;
const systemCertificates = '/etc/ssl/certs/ca-certificates.crt';

const typed = (type: string, fields: object = {}) => ({ '@type': `type.googleapis.com/${type}`, ...fields });
const breakers = {
  thresholds: [{ max_connections: 100_000, max_pending_requests: 100_000, max_requests: 100_000, max_retries: 1000 }],
};
const listenerName = (id: string) => `deployment:${id}`;
/**
 * The origin is in the name: while a provider moves, Envoy takes up clusters and listeners one after the other, and one that
 * still injects the old credential must not find the new address behind the name that it knows.
 */
export const leafName = ({ baseUrl, id }: DeploymentPlace): string => `provider:${id}@${new URL(baseUrl).origin}`;

function leaf(deployment: DeploymentPlace, name: string): object {
  const url = new URL(deployment.baseUrl);
  const tls = url.protocol === 'https:';
  const port = Number(url.port || (tls ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const tlsSocket = {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', {
      sni: host,
      auto_sni_san_validation: true,
      common_tls_context: { validation_context: { trusted_ca: { filename: systemCertificates } } },
    }),
  };
  return typed('envoy.config.cluster.v3.Cluster', {
    name,
    type: 'LOGICAL_DNS',
    connect_timeout: '2s',
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    circuit_breakers: breakers,
    load_assignment: {
      cluster_name: name,
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: { socket_address: { address: host, port_value: port } } } }] },
      ],
    },
    ...(tls ? { transport_socket: tlsSocket } : {}),
  });
}

function chain(ids: readonly string[]): object {
  const name = failoverCluster(ids);
  return typed('envoy.config.cluster.v3.Cluster', {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    circuit_breakers: breakers,
    // With one deployment there is nowhere else to go, so ejecting it could only do harm.
    ...(ids.length > 1
      ? { outlier_detection: { consecutive_5xx: 10, base_ejection_time: '5s', max_ejection_percent: 100 } }
      : {}),
    transport_socket: {
      name: 'envoy.transport_sockets.internal_upstream',
      typed_config: typed('envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport', {
        transport_socket: {
          name: 'envoy.transport_sockets.raw_buffer',
          typed_config: typed('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer'),
        },
      }),
    },
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': typed(
        'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
        {
          explicit_http_config: { http_protocol_options: {} },
          // One to a listener that has changed still leads where that led, and what that names is kept for 30 s.
          common_http_protocol_options: { idle_timeout: '20s' },
        },
      ),
    },
    load_assignment: {
      cluster_name: name,
      endpoints: ids.map((id, priority) => ({
        priority,
        lb_endpoints: [
          { endpoint: { address: { envoy_internal_address: { server_listener_name: listenerName(id) } } } },
        ],
      })),
    },
  });
}

/** Leaf clusters, one for each address that a listener can still name, and one cluster for each fail-over chain that the sidecar can name. */
export function clusterResources(places: readonly DeploymentPlace[], chains: readonly (readonly string[])[]): object[] {
  // Listeners of the release before name them by the id alone; the last place of each is the current one.
  const byOldName = new Map(places.map((place) => [`provider:${place.id}`, place]));
  return [
    ...places.map((place) => leaf(place, leafName(place))),
    ...[...byOldName].map(([name, place]) => leaf(place, name)),
    ...chains.map(chain),
  ];
}

function credentialFilter({ header, scheme, secretName }: ProviderCredential): object {
  return {
    name: 'envoy.filters.http.credential_injector',
    typed_config: typed('envoy.extensions.filters.http.credential_injector.v3.CredentialInjector', {
      overwrite: true,
      // Without its credential a call must fail here and not at the provider.
      allow_request_without_credential: false,
      credential: {
        name: 'envoy.http.injected_credentials.generic',
        typed_config: typed('envoy.extensions.http.injected_credentials.generic.v3.Generic', {
          credential: {
            name: secretName,
            sds_config: {
              resource_api_version: 'V3',
              api_config_source: {
                api_type: 'REST',
                transport_api_version: 'V3',
                cluster_names: ['control_plane'],
                refresh_delay: '1s',
                request_timeout: '2s',
              },
              // Longer than an instance of the control plane needs to know what another one knows.
              initial_fetch_timeout: '5s',
            },
          },
          header,
          ...(scheme ? { header_value_prefix: `${scheme} ` } : {}),
        }),
      },
    }),
  };
}

/** Only what the allow-list of the contract names reaches a provider; the sidecar has removed the rest before. */
function cleanUpFilter(kind: DeploymentEndpoint['kind']): object {
  const prefixes = ['x-gw-', 'x-envoy-', 'x-forwarded-', ...(kind === 'simulator' ? [] : ['x-sim-'])];
  return {
    name: 'envoy.filters.http.header_mutation',
    typed_config: typed('envoy.extensions.filters.http.header_mutation.v3.HeaderMutation', {
      mutations: {
        request_mutations: [
          ...prefixes.map((prefix) => ({ remove_on_match: { key_matcher: { prefix, ignore_case: true } } })),
          { remove: 'x-request-id' },
        ],
      },
    }),
  };
}

const overwriting = (key: string, value: string) => ({
  header: { key, value },
  append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
});

/**
 * The only 401 that is Envoy's own here: nobody has given the credential, and the provider is not asked. As 429 it goes on to the
 * next deployment, and does not count as a failure of this one.
 */
const withoutCredential = (id: string): object => ({
  filter: {
    status_code_filter: { comparison: { op: 'EQ', value: { default_value: 401, runtime_key: 'gw.unset' } } },
  },
  status_code: 429,
  headers_to_add: [overwriting('x-gw-deployment', id), overwriting(credentialMissingHeader, '1')],
});

function listener(deployment: DeploymentEndpoint): object {
  const url = new URL(deployment.baseUrl);
  const { credential } = deployment;
  const route = {
    match: { prefix: '/v1/' },
    route: {
      cluster: leafName(deployment),
      prefix_rewrite: `${url.pathname.replace(/\/$/, '')}/`,
      host_rewrite_literal: url.host,
      // The route in front counts the time and retries; a second clock here would only cut long completions.
      timeout: '0s',
    },
    // Overwrites what a provider may send: the sidecar trusts this header to know who answered.
    response_headers_to_add: [overwriting('x-gw-deployment', deployment.id)],
    response_headers_to_remove: [credentialMissingHeader],
  };
  const manager = typed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: `deployment_${deployment.id}`,
    generate_request_id: false,
    stream_idle_timeout: '0s',
    delayed_close_timeout: '0s',
    server_header_transformation: 'PASS_THROUGH',
    local_reply_config: { mappers: [withoutCredential(deployment.id)] },
    route_config: { virtual_hosts: [{ name: 'provider', domains: ['*'], routes: [route] }] },
    http_filters: [
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

/** Provider credentials as generic secrets. Never log the result. */
export function secretResources(secrets: readonly Secret[]): object[] {
  return secrets.map(({ name, value }) =>
    typed('envoy.extensions.transport_sockets.tls.v3.Secret', {
      name,
      generic_secret: { secret: { inline_string: value } },
    }),
  );
}
