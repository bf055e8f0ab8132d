/**
 * The dynamic part of Envoy's configuration: what the control plane serves by xDS.
 *
 * A first attempt goes straight to its provider where it can (first-attempt.ts). Any other call goes to the cluster of a fail-over chain
 * (by priority), whose endpoints are internal listeners, one per deployment. Credential, path and host differ by deployment, so they are
 * set there, once per attempt: upstream filters of a cluster do not run when it is reached through an aggregate.
 *
 * Invariant: a secret appears only in `secretResources`; Envoy redacts those in its config dump.
 */
import { failoverCluster } from '@gw/contract/internal/snapshot';
import { typed } from './typed.ts';

export interface DeploymentPlace {
  readonly id: string;
  /** The provider's base URL up to and without the endpoint: `https://host/v1`. */
  readonly baseUrl: string;
}

/** A place that is called now, and how. */
export interface DeploymentLeaf extends DeploymentPlace {
  /** How many calls it takes at once; null: as many as there are. */
  readonly maxConcurrentRequests: number | null;
  /** Where its provider says how it is, from the root of the address; null: nowhere, so it is never asked. */
  readonly healthPath: string | null;
}

export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Replies of 64 MiB are buffered on their way to the sidecar. */
export const bufferLimitBytes = 68_157_440;
const systemCertificates = '/etc/ssl/certs/ca-certificates.crt';

/** Where nothing is bounded. A retry counts until the headers of its reply, for JSON that is the whole completion. */
const unbounded = 100_000;
/**
 * Calls above `most` are refused, also those that are on their way to a connection of their own, so that a burst opens no more
 * connections than that. A bound of connections instead would keep calls waiting for one. Counted over all workers of this Envoy.
 */
const breakers = (most: number = unbounded) => ({
  thresholds: [{ max_connections: unbounded, max_pending_requests: most, max_requests: most, max_retries: unbounded }],
});
export const listenerName = (id: string) => `deployment:${id}`;
/**
 * The origin is in the name: while a provider moves, Envoy takes up clusters and listeners one after the other, and one that
 * still injects the old credential must not find the new address behind the name that it knows.
 */
export const leafName = ({ baseUrl, id }: DeploymentPlace): string => `provider:${id}@${new URL(baseUrl).origin}`;

/**
 * A provider that says that it is unwell (no 2xx) gets no calls from that check on; one that is out of reach, from the third on. They are
 * refused at once until a check is answered: with the usual panic threshold Envoy would send them there all the same. A spare without
 * calls is checked as often, so that it is known before it is needed. On a connection of its own: servers close idle ones after
 * about as long as the interval is, and a check that meets that would count as failed. No jitter before the first check, for which a
 * new cluster waits.
 */
const healthChecks = (host: string, path: string): object => ({
  common_lb_config: { healthy_panic_threshold: { value: 0 } },
  health_checks: [
    {
      ...{ timeout: '2s', interval: '5s', interval_jitter: '1s', no_traffic_interval: '5s' },
      ...{ unhealthy_threshold: 3, healthy_threshold: 1, reuse_connection: false },
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
 * How long a connection waits for its next call. A server that closes it at the moment in which a call is sent fails that call, and it may
 * not be sent again. Those that run models close after 5 s (uvicorn, Node), load balancers on the way to clouds after a minute.
 */
const idleTimeouts = { near: '4s', remote: '50s' } as const;

/** The cluster of an address. `filters`: what each attempt there passes. */
export function leaf(
  deployment: DeploymentPlace & Partial<DeploymentLeaf>,
  name: string,
  filters: readonly object[] = [],
): object {
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
    circuit_breakers: breakers(deployment.maxConcurrentRequests ?? undefined),
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: [
            // The name is the Host of a call that the route gives none.
            { endpoint: { hostname: url.host, address: { socket_address: { address: host, port_value: port } } } },
          ],
        },
      ],
    },
    typed_extension_protocol_options: protocol(filters, {
      common_http_protocol_options: { idle_timeout: tls ? idleTimeouts.remote : idleTimeouts.near },
    }),
    ...(deployment.healthPath ? healthChecks(url.host, deployment.healthPath) : {}),
    ...(tls ? { transport_socket: tlsSocket } : {}),
  });
}

/** A cluster whose endpoints, by priority, are internal listeners. */
export function internalCluster(name: string, listeners: readonly string[], filters: readonly object[] = []): object {
  return typed('envoy.config.cluster.v3.Cluster', {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    per_connection_buffer_limit_bytes: bufferLimitBytes,
    circuit_breakers: breakers(),
    // None is ever ejected: attempts go in the order of the chain, which the sidecar counts on. It is the sidecar that looks
    // which deployments fail, and begins elsewhere.
    transport_socket: {
      name: 'envoy.transport_sockets.internal_upstream',
      typed_config: typed('envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport', {
        transport_socket: {
          name: 'envoy.transport_sockets.raw_buffer',
          typed_config: typed('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer'),
        },
      }),
    },
    // A connection to a listener that has changed still leads where that led, and what that names is kept for 30 s.
    typed_extension_protocol_options: protocol(filters, { common_http_protocol_options: { idle_timeout: '20s' } }),
    load_assignment: {
      cluster_name: name,
      endpoints: listeners.map((listener, priority) => ({
        priority,
        lb_endpoints: [{ endpoint: { address: { envoy_internal_address: { server_listener_name: listener } } } }],
      })),
    },
  });
}

/**
 * Leaf clusters, one for each address that a listener can still name, and one cluster for each fail-over chain that the sidecar can name.
 * `former` are places that are only called until listeners lead elsewhere.
 */
export function clusterResources(
  former: readonly DeploymentPlace[],
  current: readonly DeploymentLeaf[],
  chains: readonly (readonly string[])[],
): object[] {
  const places: readonly (DeploymentPlace & Partial<DeploymentLeaf>)[] = [...former, ...current];
  // Listeners of the release before name them by the id alone; the last place of each is the current one.
  const byOldName = new Map(places.map((place) => [`provider:${place.id}`, place]));
  return [
    ...places.map((place) => leaf(place, leafName(place))),
    ...[...byOldName].map(([name, place]) => leaf({ ...place, healthPath: null }, name)),
    ...chains.map((ids) => internalCluster(failoverCluster(ids), ids.map(listenerName))),
  ];
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
