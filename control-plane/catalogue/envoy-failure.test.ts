import { expect, test } from 'vitest';
import { envoyFailure } from './envoy-failure.ts';

const verify = 'TLS_error:|268435581:SSL_routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED:verify_cert_failed:_';
const atDepth = `${verify}X509_verify_cert:_certificate_verification_error_at_depth_0:_`;

test.each([
  ['UF', `${atDepth}certificate_has_expired:TLS_error_end`, 'its certificate has expired (Envoy says UF: TLS error'],
  ['UF', `${atDepth}certificate_is_not_yet_valid:TLS_error_end`, 'its certificate is not valid yet'],
  [
    'UF',
    `${verify}SAN_matcher,_certificate_SANs_are_[other.example]:TLS_error_end`,
    'its certificate does not name llm.example (Envoy says',
  ],
  ['UF', `${atDepth}unable_to_get_local_issuer_certificate:TLS_error_end`, './gw admin providers set acme --ca FILE'],
  ['UF', `${atDepth}self_signed_certificate:TLS_error_end`, './gw admin providers set acme --ca FILE'],
  ['UF', `${atDepth}invalid_CA_certificate:TLS_error_end`, 'Envoy rejected its certificate'],
  [
    'UF',
    'TLS_error:|268435703:SSL_routines:OPENSSL_internal:WRONG_VERSION_NUMBER:TLS_error_end',
    'use http:// instead of https://',
  ],
  ['UF', 'delayed_connect_error:_Connection_refused', 'nothing is listening at its address (Envoy says UF: delayed'],
  ['UF', 'delayed_connect_error:_No_route_to_host', 'there is no route to its address'],
  ['UF', null, 'the connection failed (Envoy says UF)'],
  ['UH', null, 'Envoy cannot resolve llm.example (Envoy says UH)'],
  ['UC', null, 'it closed the connection without a reply (Envoy says UC)'],
  ['UPE', null, 'it did not send a valid HTTP response'],
  ['NC', null, 'Envoy has not loaded this provider. It may have no certificate bundle (./gw doctor)'],
])('%s %j: %s', (flags, transport, expected) => {
  const body = JSON.stringify({ details: null, transport });
  const said = envoyFailure({ flags, body, provider: 'acme', url: 'https://llm.example/v1/models' });
  expect(said).toMatch(/^It could not be reached: [^.]/);
  expect(said).toContain(expected);
});

test('what is said is bounded and printable, whatever Envoy tells', () => {
  const failure = { flags: 'UF', provider: 'acme', url: 'http://llm.example/v1' };
  const long = envoyFailure({ ...failure, body: JSON.stringify({ transport: `\n${'x'.repeat(5000)}` }) });
  expect(long.length).toBeLessThan(450);
  expect(long).not.toContain('\n');
  expect(envoyFailure({ ...failure, body: '<html>' })).toBe(
    'It could not be reached: the connection failed (Envoy says UF).',
  );
  expect(envoyFailure({ ...failure, flags: 'UC', body: '{}' })).toContain('it may require https');
});
