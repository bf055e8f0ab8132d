import { describe, expect, it } from 'vitest';
import { ignoredByUp, ignoredSettings } from './ignored-settings.ts';

const ofSidecar = (environment: Record<string, string>, asked: readonly string[] = []) =>
  ignoredSettings(environment, 'receipt-sidecar', new Set(asked));

describe('a service names each variable without an effect', () => {
  it.each([
    ['GW_UPSTREAM_TIMEOUTS_S', 'GW_UPSTREAM_TIMEOUT_S'],
    ['GW_IDEMPOTENCY_MAX_MIB', 'GW_IDEMPOTENCY_MAX_MB'],
    ['GW_TLS_CERTFILE', 'GW_TLS_CERT_FILE'],
  ])('a misspelt %s with the setting that is nearest', (name, nearest) => {
    expect(ofSidecar({ [name]: 'x' })).toEqual([`${name} is not a setting and is ignored. Did you mean ${nearest}?`]);
  });

  it('an unknown one that is near to none, however long', () => {
    expect(ofSidecar({ GW_BANANA_COUNT_OF_TODAY: 'x' })).toEqual([
      'GW_BANANA_COUNT_OF_TODAY is not a setting and is ignored.',
    ]);
    const long = `GW_${'X'.repeat(100_000)}`;
    expect(ofSidecar({ [long]: 'x' })).toEqual([`${long} is not a setting and is ignored.`]);
  });

  it('one of another part', () => {
    expect(ofSidecar({ GW_OIDC_ISSUER: 'x', GW_CREDENTIAL_ACME: 'x' })).toEqual([
      'GW_CREDENTIAL_ACME has no effect here: it is a setting of control-plane.',
      'GW_OIDC_ISSUER has no effect here: it is a setting of control-plane.',
    ]);
  });

  it('one that it did not have to read', () => {
    const environment = { GW_INTERNAL_TLS_KEY_FILE: 'x', GW_SPOOL_DIR: 'x' };
    expect(ofSidecar(environment, ['GW_SPOOL_DIR'])).toEqual([
      'GW_INTERNAL_TLS_KEY_FILE has no effect: the setting that it belongs to is not set, or has another value.',
    ]);
  });

  it('and none that is empty, of others, of the tests or of Kubernetes', () => {
    const kubernetes = {
      GW_SERVICE_HOST: '10.0.0.1',
      GW_SERVICE_PORT_HTTPS: '443',
      GW_ENVOY_PORT: 'tcp://10.0.0.1:443',
      GW_ENVOY_PORT_443_TCP_ADDR: '10.0.0.1',
    };
    expect(ofSidecar({ ...kubernetes, GW_TEST_DIR: 'x', GW_NO_SETTING: '', OTHER: 'x' })).toEqual([]);
  });

  it('never with its value', () => {
    const secret = 'a secret';
    const names = ['GW_LEDGER_KEI', 'GW_OIDC_CLIENT_SECRET', 'GW_IDEMPOTENCY_KEY'];
    const told = ofSidecar(Object.fromEntries(names.map((name) => [name, secret])));
    expect(told).toHaveLength(3);
    expect(told.join()).not.toContain(secret);
  });
});

describe('./gw up', () => {
  it('names what it chooses itself, with the reason', () => {
    expect(ignoredByUp({ GW_KEY_PEPPER: 'x', GW_REDIS_URL: 'x', GW_SIDECAR_DRAIN_S: '600' })).toEqual([
      './gw up ignores GW_KEY_PEPPER: it generates its own keys and passwords, in .gw/secrets.json.',
      './gw up ignores GW_REDIS_URL: it starts its own stores.',
      './gw up ignores GW_SIDECAR_DRAIN_S: it does not wait for calls that are under way.',
    ]);
  });

  it('takes what it passes on, what it reads itself, and credentials', () => {
    const taken = [
      'GW_OIDC_ISSUER',
      'GW_UPSTREAM_TIMEOUT_S',
      'GW_CREDENTIAL_ACME',
      'GW_PROVIDER_KEY',
      'GW_TLS_CERT_FILE',
    ];
    expect(ignoredByUp(Object.fromEntries(taken.map((name) => [name, 'x'])))).toEqual([]);
  });
});
