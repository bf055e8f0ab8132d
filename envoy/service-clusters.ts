/**
 * Where Envoy finds the instances of a service.
 *
 * Invariant: a service's instances are all on Unix sockets or all on the network, since one cluster has one way of
 * securing its connections.
 */
import { isIP } from 'node:net';
import type { InternalTls } from '@gw/contract/internal/environment';
import { isUnixSocket, type Listen, parseListen, readListen } from '@gw/contract/internal/listen';
import { typed } from './typed.ts';

/** `unix:/a.sock,unix:/b.sock` or `host:port,…`; a host may be a name that stands for many addresses. */
export const readServiceAddresses = (text: string): string[] =>
  text
    .split(',')
    .map((address) => address.trim())
    .filter(Boolean);

/** What is wrong with the addresses of a service, or null. */
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

/** Of a name all addresses are taken, and asked for again and again; what is an address already needs no resolver. */
function discovery(addresses: readonly string[]): 'STATIC' | 'STRICT_DNS' {
  const isFixed = (where: Listen) => 'path' in where || isIP(where.host) !== 0;
  return addresses.map(parseListen).every(isFixed) ? 'STATIC' : 'STRICT_DNS';
}

export const plainSocket = {
  name: 'envoy.transport_sockets.raw_buffer',
  typed_config: { '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer' },
};

function internalSocket(addresses: readonly string[], tls: InternalTls | null): object {
  if (!tls || addresses.every(isUnixSocket)) return plainSocket;
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      common_tls_context: {
        tls_params: { tls_minimum_protocol_version: 'TLSv1_2' },
        tls_certificates: [{ certificate_chain: { filename: tls.certFile }, private_key: { filename: tls.keyFile } }],
        validation_context: { trusted_ca: { filename: tls.caFile } },
      },
    },
  };
}

/** Of a retry policy: what has failed once is not asked again, if there is anybody else. */
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
 * How a question is asked again that nobody has answered: of several instances one may have died a moment ago. At most twice
 * more: a request that kills who reads it must not kill them all. A limit that was counted by one who died before it answered is
 * counted twice. The longest pause is also how long Envoy gives one try at a question (it makes one setting of both): one that
 * stands still leaves the time to ask another one, and a slow look at Postgres has mostly ended.
 *
 * That another one is asked costs some 35 µs for each question, asked again or not: Envoy reads this setting anew for each. So it
 * is left out where there is no other one.
 */
function retries(addresses: readonly string[]): object {
  return {
    retry_on: 'connect-failure,refused-stream,reset,unavailable',
    num_retries: 2,
    retry_back_off: { base_interval: '0.005s', max_interval: '0.9s' },
    ...(isOne(addresses) ? {} : anotherHost),
  };
}

/** What the template asks for of the cluster `name`. */
export function serviceCluster(
  name: string,
  addresses: readonly string[],
  tls: InternalTls | null,
): [string, unknown][] {
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
