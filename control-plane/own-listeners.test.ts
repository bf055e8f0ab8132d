import { databaseSettings } from '@gw/prisma/roles';
import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { ownListeners } from './own-listeners.ts';

const settings = {
  GW_CONTROL_INTERNAL_LISTEN: 'control-plane:9004',
  GW_PROBE_LISTEN: 'unix:/run/gw/envoy-probe.sock',
  GW_CONTROL_LISTEN: '0.0.0.0:8081',
  GW_CONTROL_URL: 'https://ops.example.com',
  GW_BASE_URL: 'https://gw.example.com',
  ...databaseSettings(() => 'postgresql://gw_reader:secret@postgres/gw'),
  GW_REDIS_URL: 'redis://:secret@valkey:6380',
  GW_INTERNAL_TOKEN: 't'.repeat(32),
  GW_KEY_PEPPER: '7'.repeat(64),
  GW_LEDGER_KEY: '8'.repeat(64),
  GW_LEDGER_ENTRY_KEY: '6'.repeat(64),
  GW_WITNESS_KEY: 'ee'.repeat(32),
  GW_EVIDENCE_KEY: 'e1'.repeat(32),
  GW_NAMES_KEY: 'a3'.repeat(32),
  GW_OBJECTS_DIR: '/var/lib/gw/objects',
  GW_IDEMPOTENCY_KEY: '9'.repeat(64),
};
const known = (changes: Record<string, string> = {}) =>
  ownListeners(loadConfig({ ...settings, ...changes })).map(({ host, port }) => `${host}:${port}`);

test('the settings of the control plane name what is its own, without a secret', () => {
  expect(known()).toEqual([
    'gw.example.com:443',
    'ops.example.com:443',
    '0.0.0.0:8081',
    'control-plane:9004',
    'postgres:5432',
    'valkey:6380',
  ]);
  expect(JSON.stringify(ownListeners(loadConfig(settings)))).not.toContain('secret');
});

test('other parts are known where they are named to it', () => {
  expect(
    known({ GW_AUTHZ_LISTEN: 'unix:/run/a.sock,authz-2:9001', GW_SIDECAR_HEALTH_LISTEN: '127.0.0.1:9102' }),
  ).toEqual(expect.arrayContaining(['authz-2:9001', '127.0.0.1:9102']));
  expect(known({ GW_PUBLIC_LISTEN: '0.0.0.0:8080' })).toContain('0.0.0.0:8080');
});

test('Unix sockets and free ports are none', () => {
  const none = {
    GW_CONTROL_INTERNAL_LISTEN: 'unix:/run/gw/control-plane.sock',
    GW_PROBE_LISTEN: 'unix:/run/gw/envoy-probe.sock',
    GW_CONTROL_LISTEN: '127.0.0.1:0',
    ...databaseSettings(() => 'postgresql://gw_reader@localhost/gw?host=%2Frun%2Fpg'),
    GW_REDIS_URL: '/run/valkey.sock',
  };
  expect(known(none)).toEqual(['gw.example.com:443', 'ops.example.com:443']);
});
