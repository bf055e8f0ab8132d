/**
 * The dynamic part of Envoy's configuration, which the control plane serves by xDS.
 *
 * A first attempt goes directly to its provider if possible, any other to the internal listener of its deployment (first-attempt.ts).
 * Credential, path and host differ by deployment, so the listeners set them for each attempt.
 *
 * Invariant: a secret appears only in `secretResources`; Envoy redacts those in its config dump.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { systemAuthorities } from './certificate-bundle.ts';
import { plainSocket } from './service-clusters.ts';
import { typed } from './typed.ts';

export interface DeploymentPlace {
  readonly id: string;
  /** The provider's base URL up to and without the endpoint: `https://host/v1`. */
  readonly baseUrl: string;
  /** PEM of the authorities that may vouch for its certificate; null: those of the system. */
  readonly ca: string | null;
}

/** A current address, and how it is called. */
export interface DeploymentLeaf extends DeploymentPlace {
  /** Limit of concurrent calls; null: none. */
  readonly maxConcurrentRequests: number | null;
  /** Absolute path of the provider's health endpoint; null: no health checks. */
  readonly healthPath: string | null;
}

export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Large enough for replies of 64 MiB on their way to the sidecar. */
export const bufferLimitBytes = 68_157_440;
/** Each Envoy has the file in its working directory (certificate-bundle.ts). */
const authoritiesOfSystem = {
  name: systemAuthorities.name,
  sds_config: { resource_api_version: 'V3', path_config_source: { path: systemAuthorities.sdsFile } },
};

/** Effectively no limit. A retry counts until the headers of its reply, which for JSON is the whole completion. */
const unbounded = 100_000;
/**
 * Refuses calls above `most`, including those that wait for a connection, so that a burst opens no more connections. A limit of
 * connections would make calls wait for one instead. The limit applies to all workers of this Envoy together.
 */
const breakers = (most: number = unbounded) => ({
  thresholds: [{ max_connections: unbounded, max_pending_requests: most, max_requests: most, max_retries: unbounded }],
});
export const listenerName = (id: string) => `deployment:${id}`;
/**
 * The name contains the origin: while a provider moves, Envoy updates clusters and listeners one after the other, and a listener that
 * still injects the old credential must not reach the new address under the same name.
 */
export const leafName = ({ baseUrl, id }: Pick<DeploymentPlace, 'baseUrl' | 'id'>): string =>
  `provider:${id}@${new URL(baseUrl).origin}`;

/**
 * A provider that reports itself unhealthy (no 2xx) gets no calls from that check on, an unreachable one from the third check on. Calls
 * are refused immediately until a check succeeds; with the default panic threshold Envoy would send them anyway. A spare without calls is
 * checked as often, so that its state is known before it is needed. Each check has its own connection, because servers close idle ones
 * after about the same interval, which would count as a failure. The first check has no jitter, because a new cluster waits for it.
 */
const healthChecks = (host: string, path: string): object => ({
  common_lb_config: { healthy_panic_threshold: { value: 0 } },
  health_checks: [
    {
      timeout: '2s',
      interval: '5s',
      interval_jitter: '1s',
      no_traffic_interval: '5s',
      unhealthy_threshold: 3,
      healthy_threshold: 1,
      reuse_connection: false,
      http_health_check: { host, path, expected_statuses: [{ start: 200, end: 300 }] },
    },
  ],
});

const upstreamCodec = {
  name: 'envoy.filters.http.upstream_codec',
  typed_config: typed('envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec'),
};

const protocol = (filters: readonly object[], more: object = {}) => ({
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': typed(
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
    {
      explicit_http_config: { http_protocol_options: {} },
      ...more,
      ...(filters.length > 0 ? { http_filters: [...filters, upstreamCodec] } : {}),
    },
  ),
});

/**
 * Idle time-outs of connections, below those of the servers: if a server closes a connection just as a call is sent, the call fails and
 * may not be sent again. Model servers close after 2 s (gunicorn) or 5 s (uvicorn, Node), load balancers of clouds after a minute. A new
 * connection in one's own network costs less than a millisecond.
 */
const idleTimeouts = { near: '1s', remote: '50s' } as const;

/**
 * TLS towards a provider, whose certificate has to name the host. For an address that is the address itself, which is never sent as
 * the server's name (RFC 6066).
 */
function providerTls(host: string, ca: string | null): object {
  const san_match = { match_typed_subject_alt_names: [{ san_type: 'IP_ADDRESS', matcher: { exact: host } }] };
  const own = isIP(host) === 0 ? {} : san_match;
  const checks =
    ca === null
      ? {
          combined_validation_context: {
            default_validation_context: own,
            validation_context_sds_secret_config: authoritiesOfSystem,
          },
        }
      : { validation_context: { ...own, trusted_ca: { inline_string: ca } } };
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', {
      ...(isIP(host) === 0 && { sni: host, auto_sni_san_validation: true }),
      common_tls_context: checks,
    }),
  };
}

/** The cluster of an address. `filters` are its upstream filters. */
export function leaf(
  deployment: DeploymentPlace & Partial<DeploymentLeaf>,
  name: string,
  filters: readonly object[] = [],
): object {
  const url = new URL(deployment.baseUrl);
  const tls = url.protocol === 'https:';
  const port = Number(url.port || (tls ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return typed('envoy.config.cluster.v3.Cluster', {
    name,
    // All addresses of a name, of both families: if one does not answer within 0.3 s, the next is tried beside it (RFC 8305).
    ...(isIP(host) === 0 ? { type: 'LOGICAL_DNS', dns_lookup_family: 'ALL' } : { type: 'STATIC' }),
    connect_timeout: '2s',
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    circuit_breakers: breakers(deployment.maxConcurrentRequests ?? undefined),
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: [
            // The hostname is the Host header unless the route sets one.
            { endpoint: { hostname: url.host, address: { socket_address: { address: host, port_value: port } } } },
          ],
        },
      ],
    },
    typed_extension_protocol_options: protocol(filters, {
      common_http_protocol_options: { idle_timeout: tls ? idleTimeouts.remote : idleTimeouts.near },
    }),
    ...(deployment.healthPath ? healthChecks(url.host, deployment.healthPath) : {}),
    ...(tls ? { transport_socket: providerTls(host, deployment.ca) } : {}),
  });
}

/**
 * The cluster of test calls to a provider. Its name changes with whatever decides on the connection, so that no test is made by what
 * was before.
 */
export const probeCluster = ({ baseUrl, ca, id }: DeploymentPlace): string =>
  `probe:${id}:${createHash('sha256')
    .update(`${new URL(baseUrl).origin}\n${ca}`)
    .digest('hex')
    .slice(0, 16)}`;

/**
 * Envoy tells why the last of several addresses failed. IPv6 comes first, so that a machine without it does not hide what is wrong with the
 * other address.
 */
export const probeClusters = (providers: readonly DeploymentPlace[]): object[] =>
  providers.map(({ baseUrl, ca, id }) => ({
    ...leaf({ baseUrl, ca, id }, probeCluster({ baseUrl, ca, id })),
    upstream_connection_options: { happy_eyeballs_config: { first_address_family_version: 'V6' } },
  }));

/** A cluster that leads to an internal listener. */
export function internalCluster(name: string, listener: string, filters: readonly object[] = []): object {
  return typed('envoy.config.cluster.v3.Cluster', {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    circuit_breakers: breakers(),
    // No outlier ejection: the sidecar itself avoids failing deployments.
    transport_socket: {
      name: 'envoy.transport_sockets.internal_upstream',
      typed_config: typed('envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport', {
        transport_socket: plainSocket,
      }),
    },
    // A connection keeps the listener that it was opened to, and so the former address of a provider that has moved. One that calls
    // keep busy would stay there until they pause.
    typed_extension_protocol_options: protocol(filters, {
      common_http_protocol_options: { max_connection_duration: '1s' },
    }),
    load_assignment: {
      cluster_name: name,
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: { envoy_internal_address: { server_listener_name: listener } } } }] },
      ],
    },
  });
}

/**
 * Leaf clusters, one for each address that a listener can still name. `former` are addresses that are only in use until all listeners are
 * updated.
 */
export function leafClusters(former: readonly DeploymentPlace[], current: readonly DeploymentLeaf[]): object[] {
  const places: readonly (DeploymentPlace & Partial<DeploymentLeaf>)[] = [...former, ...current];
  return places.map((place) => leaf(place, leafName(place)));
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
