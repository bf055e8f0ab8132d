/**
 * Clusters of the services.
 *
 * Invariant: the instances of a service are all on Unix sockets or all on the network, since a cluster secures its connections in one
 * way.
 */
import { isIP } from 'node:net';
import { isUnixSocket, type Listen, parseListen, readListen } from '@gw/contract/internal/listen';
import { typed } from './typed.ts';

/** Returns the problem of a service's addresses, or null. */
export function addressProblem(addresses: readonly string[]): string | null {
  if (addresses.length === 0) return 'names no address';
  if (addresses.some(isUnixSocket) && !addresses.every(isUnixSocket))
    return 'mixes Unix sockets and addresses on the network';
  const wrong = addresses.find((address) => readListen(address) === null);
  if (wrong !== undefined) return `has ${wrong}, which is neither unix:/path nor host:port`;
  return new Set(addresses).size < addresses.length ? 'names an address twice' : null;
}

function endpoint(address: string): object {
  const where = parseListen(address);
  if ('path' in where) return { pipe: where };
  return { socket_address: { address: where.host, port_value: where.port } };
}

/** Names are resolved continuously, to all their addresses. */
function discovery(addresses: readonly string[]): 'STATIC' | 'STRICT_DNS' {
  const isFixed = (where: Listen) => 'path' in where || isIP(where.host) !== 0;
  return addresses.map(parseListen).every(isFixed) ? 'STATIC' : 'STRICT_DNS';
}

export const plainSocket = {
  name: 'envoy.transport_sockets.raw_buffer',
  typed_config: typed('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer'),
};

function internalSocket(addresses: readonly string[], tls: object | null): object {
  if (!tls || addresses.every(isUnixSocket)) return plainSocket;
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', { common_tls_context: tls }),
  };
}

/** Makes a retry choose another instance, if there is one. */
export const anotherHost = {
  retry_host_predicate: [
    {
      name: 'envoy.retry_host_predicates.previous_hosts',
      typed_config: typed('envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate'),
    },
  ],
  host_selection_retry_max_attempts: '10',
};

const isOne = (addresses: readonly string[]): boolean => addresses.length === 1 && discovery(addresses) === 'STATIC';

/**
 * Retries for requests to a service, since one of several instances may have just died. At most two, so that a request that crashes its
 * reader does not crash all instances. A limit that an instance counted before it died is counted twice. Envoy uses the longest pause
 * also as the time-out of each try: it leaves time for another instance if one hangs, and suffices for most slow queries.
 *
 * Choosing another host costs some 35 µs for each request, retried or not, because Envoy evaluates this setting each time. So a single
 * instance goes without.
 */
function retries(addresses: readonly string[]): object {
  return {
    retry_on: 'connect-failure,refused-stream,reset,unavailable',
    num_retries: 2,
    retry_back_off: { base_interval: '0.005s', max_interval: '0.9s' },
    ...(isOne(addresses) ? {} : anotherHost),
  };
}

/** The values of the cluster `name` for the template. `tls`: the context of the internal certificates; null: plain. */
export function serviceCluster(name: string, addresses: readonly string[], tls: object | null): [string, unknown][] {
  const problem = addressProblem(addresses);
  if (problem) throw new Error(`The address of ${name} ${problem}.`);
  const lbEndpoints = addresses.map((address) => ({ endpoint: { address: endpoint(address) } }));
  return [
    [`${name.toUpperCase()}_TYPE`, discovery(addresses)],
    [`${name.toUpperCase()}_ENDPOINT`, { cluster_name: name, endpoints: [{ lb_endpoints: lbEndpoints }] }],
    [`${name.toUpperCase()}_SOCKET`, internalSocket(addresses, tls)],
    [`${name.toUpperCase()}_RETRIES`, retries(addresses)],
  ];
}
