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
});

test('what is set is read', () => {
  const token = `gwop_${'a'.repeat(43)}`;
  expect(
    read({
      GW_CONTROL_URL: 'https://ops.example/',
      GW_CONTROL_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1',
      GW_OIDC_ISSUER: 'https://login.example',
      GW_OIDC_CLIENT_ID: 'gw',
      GW_OIDC_CLIENT_SECRET: 's',
      GW_FIRST_OPERATOR_CREDENTIAL: 'x'.repeat(20),
      GW_FIRST_OPERATOR_TOKEN: token,
    }),
  ).toEqual({
    controlUrl: 'https://ops.example',
    trustedProxies: ['10.0.0.0/8', '192.0.2.1'],
    oidc: { issuer: 'https://login.example', clientId: 'gw', clientSecret: 's' },
    firstOperator: { credential: 'x'.repeat(20), token },
  });
});

const wrong: [string, Record<string, string>, RegExp][] = [
  ['plain HTTP beyond loopback', { GW_CONTROL_URL: 'http://ops.example' }, /GW_CONTROL_URL/],
  [
    'a provider on plain HTTP',
    { GW_OIDC_ISSUER: 'http://login.example' },
    /GW_OIDC_ISSUER[\s\S]*GW_OIDC_CLIENT_ID[\s\S]*_SECRET/,
  ],
  ['a proxy that is no address', { GW_CONTROL_TRUSTED_PROXIES: 'my-proxy' }, /GW_CONTROL_TRUSTED_PROXIES/],
  ['a short first credential', { GW_FIRST_OPERATOR_CREDENTIAL: 'hunter2' }, /GW_FIRST_OPERATOR_CREDENTIAL/],
  ['a token without its credential', { GW_FIRST_OPERATOR_TOKEN: 'x' }, /GW_FIRST_OPERATOR_CREDENTIAL/],
];
test.each(wrong)('%s is refused at the start, by the name of the variable', (_, environment, expected) => {
  expect(() => read(environment)).toThrow(expected);
  expect(() => read(environment)).not.toThrow('hunter2');
});
