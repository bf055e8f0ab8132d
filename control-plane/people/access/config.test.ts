import { readSettings } from '@gw/contract/internal/environment';
import { expect, test } from 'vitest';
import { defaultAccessSettings, readAccessSettings } from './config.ts';

function read(environment: Record<string, string>) {
  const settings = readSettings(environment);
  const access = readAccessSettings(settings);
  settings.finish();
  return access;
}

test('nothing is needed', () => {
  expect(read({})).toEqual(defaultAccessSettings);
  // docs/operators.md promises these costs.
  expect(read({}).credentialCost).toEqual({ memorySize: 19_456, iterations: 2, parallelism: 1 });
});

test('what is set is read', () => {
  const token = `gwop_${'a'.repeat(43)}`;
  expect(
    read({
      GW_CONTROL_URL: 'https://ops.example/',
      GW_CONTROL_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1',
      GW_ALLOWED_HOSTS: 'ops.internal, ,gw.internal',
      GW_OIDC_ISSUER: 'https://login.example',
      GW_OIDC_CLIENT_ID: 'gw',
      GW_OIDC_CLIENT_SECRET: 's',
      GW_OIDC_CLAIM: 'oid',
      GW_FIRST_OPERATOR_CREDENTIAL: 'x'.repeat(20),
      GW_FIRST_OPERATOR_TOKEN: token,
      GW_CONTROL_TLS_CERT_FILE: '/tls/ops.crt',
      GW_CONTROL_TLS_KEY_FILE: '/tls/ops.key',
    }),
  ).toEqual({
    controlUrl: 'https://ops.example',
    trustedProxies: ['10.0.0.0/8', '192.0.2.1'],
    allowedHosts: ['ops.internal', 'gw.internal'],
    tls: { certFile: '/tls/ops.crt', keyFile: '/tls/ops.key' },
    oidc: { issuer: 'https://login.example', clientId: 'gw', clientSecret: 's', claim: 'oid', domain: null },
    firstOperator: { credential: 'x'.repeat(20), token, tokenDays: 90 },
    credentialCost: defaultAccessSettings.credentialCost,
  });
});

test('a port that is open beyond loopback needs https in front of it, or to be shut in otherwise', () => {
  const open = { GW_CONTROL_LISTEN: '0.0.0.0:8081' };
  expect(() => read(open)).toThrow(/GW_CONTROL_LISTEN[\s\S]*GW_CONTROL_CONTAINED=true/);
  expect(() => read({ GW_CONTROL_LISTEN: '[::]:8081' })).toThrow('GW_CONTROL_LISTEN');
  read({ ...open, GW_CONTROL_URL: 'https://ops.example' });
  read({ ...open, GW_CONTROL_CONTAINED: 'true' });
  read({ GW_CONTROL_LISTEN: '[::1]:8081' });
});

test('the token of the first operator expires, unless that is asked for by name', () => {
  const daysOf = (days: string) =>
    read({ GW_FIRST_OPERATOR_CREDENTIAL: 'x'.repeat(20), GW_FIRST_OPERATOR_TOKEN_DAYS: days }).firstOperator?.tokenDays;
  expect(daysOf('7')).toBe(7);
  expect(daysOf('unlimited')).toBeNull();
  for (const days of ['0', '366', 'never']) expect(() => daysOf(days)).toThrow('GW_FIRST_OPERATOR_TOKEN_DAYS');
});

const wrong: [string, Record<string, string>, RegExp][] = [
  [
    'TLS behind an address that is plain HTTP',
    { GW_CONTROL_TLS_CERT_FILE: '/c', GW_CONTROL_TLS_KEY_FILE: '/k' },
    /GW_CONTROL_URL is plain HTTP/,
  ],
  [
    'a certificate without its key',
    { GW_CONTROL_URL: 'https://ops.example', GW_CONTROL_TLS_CERT_FILE: '/c' },
    /GW_CONTROL_TLS_KEY_FILE is not set/,
  ],
  ['a network with too many bits', { GW_CONTROL_TRUSTED_PROXIES: '10.0.0.0/33' }, /GW_CONTROL_TRUSTED_PROXIES takes/],
  ['plain HTTP beyond loopback', { GW_CONTROL_URL: 'http://ops.example' }, /GW_CONTROL_URL/],
  [
    'a provider on plain HTTP',
    { GW_OIDC_ISSUER: 'http://login.example' },
    /GW_OIDC_ISSUER[\s\S]*GW_OIDC_CLIENT_ID[\s\S]*_SECRET/,
  ],
  [
    'a provider in the metadata of a cloud',
    { GW_OIDC_ISSUER: 'https://169.254.169.254' },
    /GW_OIDC_ISSUER names a host/,
  ],
  ['a proxy that is no address', { GW_CONTROL_TRUSTED_PROXIES: 'my-proxy' }, /GW_CONTROL_TRUSTED_PROXIES/],
  ['a short first credential', { GW_FIRST_OPERATOR_CREDENTIAL: 'hunter2' }, /GW_FIRST_OPERATOR_CREDENTIAL/],
  ['a token without its credential', { GW_FIRST_OPERATOR_TOKEN: 'x' }, /GW_FIRST_OPERATOR_CREDENTIAL/],
];
test.each(wrong)('%s is refused at the start, by the name of the variable', (_, environment, expected) => {
  expect(() => read(environment)).toThrow(expected);
  expect(() => read(environment)).not.toThrow('hunter2');
});
