import { expect, it } from 'vitest';
import { loadEnvoySettings } from './config.ts';

const environment = {
  GW_AUTHZ_LISTEN: 'unix:/run/gw/a.sock',
  GW_SIDECAR_LISTEN: 'unix:/run/gw/r.sock',
  GW_CONTROL_INTERNAL_LISTEN: 'unix:/run/gw/c.sock',
  GW_PROBE_LISTEN: 'unix:/run/gw/envoy-probe.sock',
  GW_ENVOY_ADMIN_SOCKET: '/run/gw/envoy-admin.sock',
};
const leases = (more: Readonly<Record<string, string>>) => loadEnvoySettings({ ...environment, ...more }, '.').leases;

it('leases are on unless they are turned off, and any other word is refused at the start', () => {
  expect([leases({}), leases({ GW_LEASES: 'on' }), leases({ GW_LEASES: 'off' })]).toEqual([true, true, false]);
  expect(() => leases({ GW_LEASES: 'no' })).toThrow('GW_LEASES is neither "on" nor "off". Example: GW_LEASES=off');
});
