import { expect, it } from 'vitest';
import { loadEnvoySettings } from './config.ts';
import { serviceCluster } from './service-clusters.ts';

const environment = {
  GW_AUTHZ_LISTEN: 'ext-authz-a:9001, ext-authz-b:9001',
  GW_SIDECAR_LISTEN: 'unix:/run/gw/a.sock,unix:/run/gw/b.sock',
  GW_CONTROL_INTERNAL_LISTEN: 'control-plane:9003',
  GW_PROBE_LISTEN: 'unix:/run/gw/envoy-probe.sock',
  GW_ENVOY_ADMIN_SOCKET: '/run/gw/envoy-admin.sock',
};
const socket = (address: string, port_value: number) => ({
  endpoint: { address: { socket_address: { address, port_value } } },
});
const rendered = (addresses: readonly string[]) => Object.fromEntries(serviceCluster('s', addresses, null));

it('a list of addresses is as many endpoints, and a name is asked for all of its addresses', () => {
  expect(loadEnvoySettings(environment, '.')).toMatchObject({
    extAuthz: ['ext-authz-a:9001', 'ext-authz-b:9001'],
    receiptSidecar: ['unix:/run/gw/a.sock', 'unix:/run/gw/b.sock'],
    controlPlane: ['control-plane:9003'],
  });
  expect(rendered(['one:1', '10.0.0.2:2', '[fd00::3]:3'])).toMatchObject({
    S_TYPE: 'STRICT_DNS',
    S_ENDPOINT: { endpoints: [{ lb_endpoints: [socket('one', 1), socket('10.0.0.2', 2), socket('fd00::3', 3)] }] },
  });
});

it('what is an address already needs no resolver', () => {
  expect(rendered(['10.0.0.2:2', '[::1]:3'])).toMatchObject({ S_TYPE: 'STATIC' });
  expect(rendered(['unix:/a', 'unix:/b'])).toMatchObject({
    S_TYPE: 'STATIC',
    S_ENDPOINT: {
      endpoints: [
        {
          lb_endpoints: ['/a', '/b'].map((path) => ({ endpoint: { address: { pipe: { path } } } })),
        },
      ],
    },
  });
});

it('a question goes to another instance only where there can be one', () => {
  const retries = (...addresses: string[]) => rendered(addresses).S_RETRIES;
  const anyway = { num_retries: 2, retry_on: expect.stringContaining('reset') };
  for (const one of ['unix:/a', '10.0.0.2:2', '[::1]:3']) {
    expect(retries(one)).toMatchObject(anyway);
    expect(retries(one)).not.toHaveProperty('retry_host_predicate');
  }
  const another = { ...anyway, retry_host_predicate: [{ name: 'envoy.retry_host_predicates.previous_hosts' }] };
  for (const several of [['unix:/a', 'unix:/b'], ['10.0.0.2:2', '10.0.0.3:2'], ['ext-authz:9001']])
    expect(retries(...several)).toMatchObject(another);
});

it.each([
  ['unix:/a.sock,host:1', 'mixes Unix sockets'],
  [' , ', 'names no address'],
  ['host', 'has host, which is neither'],
  ['fd00::3:9', 'has fd00::3:9, which is neither'],
  ['host:1,host:1', 'names an address twice'],
])('%s is refused at the start, by the name of its setting', (text, reason) => {
  const load = () => loadEnvoySettings({ ...environment, GW_AUTHZ_LISTEN: text }, '.');
  expect(load).toThrow(`GW_AUTHZ_LISTEN ${reason}`);
});
