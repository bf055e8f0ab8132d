/**
 * Whose address a call comes from, where load balancers stand in front.
 *
 * Invariant: only a connection from a trusted network can state another address than its own. Of `X-Forwarded-For` the last address that
 * is in no trusted network counts, so that what a client puts in front of it has no effect.
 */
import { isIP } from 'node:net';
import { typed } from './typed.ts';

export interface ClientAddressSettings {
  /** Addresses and networks, as `10.0.0.0/8`, of the proxies in front; none: the address is that of the connection. */
  readonly trustedProxies: readonly string[];
  /** Whether each connection begins with the PROXY protocol; then only the trusted proxies can connect. */
  readonly proxyProtocol: boolean;
}

const cidrRange = (network: string) => {
  const [address = '', bits] = network.split('/');
  return { address_prefix: address, prefix_len: bits === undefined ? (isIP(address) === 6 ? 128 : 32) : Number(bits) };
};

/** For the connection manager. Where an extension finds the address, Envoy demands that `use_remote_address` is off. */
export const originalAddress = ({ trustedProxies }: ClientAddressSettings): object[] =>
  trustedProxies.length === 0
    ? []
    : [
        {
          name: 'envoy.http.original_ip_detection.xff',
          typed_config: typed('envoy.extensions.http.original_ip_detection.xff.v3.XffConfig', {
            xff_trusted_cidrs: { cidrs: trustedProxies.map(cidrRange) },
            skip_xff_append: false,
          }),
        },
      ];

/** The listener filter that reads the PROXY protocol, versions 1 and 2. */
export const proxyProtocolFilters = ({ proxyProtocol }: ClientAddressSettings): object[] =>
  proxyProtocol
    ? [
        {
          name: 'envoy.filters.listener.proxy_protocol',
          typed_config: typed('envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol'),
        },
      ]
    : [];

/** Lets `groups` choose the chain of a connection. With the PROXY protocol, no chain is for connections from elsewhere, so they are closed. */
export const onlyFromProxies = ({ proxyProtocol, trustedProxies }: ClientAddressSettings, groups: object): object =>
  proxyProtocol
    ? {
        matcher_list: {
          matchers: [{ predicate: { single_predicate: fromOneOf(trustedProxies) }, on_match: { matcher: groups } }],
        },
      }
    : groups;

const fromOneOf = (networks: readonly string[]) => ({
  input: {
    name: 'direct-source',
    typed_config: typed('envoy.extensions.matching.common_inputs.network.v3.DirectSourceIPInput'),
  },
  custom_match: {
    name: 'networks',
    typed_config: typed('envoy.extensions.matching.input_matchers.ip.v3.Ip', {
      cidr_ranges: networks.map(cidrRange),
      stat_prefix: 'trusted_proxies',
    }),
  },
});
