import { makeCertificate } from '@gw/testing/envoy/certificate';
import { expect, it } from 'vitest';
import { expiredCertificates } from './certificates.ts';
import { providerFields } from './provider-fields.ts';

const { entry } = providerFields.ca;
const [first, second] = [makeCertificate('first'), makeCertificate('second')];

it('the ca of a provider is one certificate or several, kept without what stands between them', () => {
  expect(entry.parse(`Mine:\n${first.certificate}\n# and\n${second.certificate}`)).toBe(
    first.certificate + second.certificate,
  );
  expect(entry.parse(null)).toBeNull();
});

it.each([
  ['', 'must be PEM'],
  ['/etc/ssl/ca.pem', 'must be PEM'],
  [first.certificate + first.key, 'contains a private key'],
  [first.certificate.replace('MII', 'AAA'), 'certificate 1 cannot be read'],
  [`${first.certificate}-----BEGIN CERTIFICATE-----\nMIIB`, 'only complete certificates'],
  [first.certificate.repeat(51), 'at most 50 certificates'],
  [first.certificate + ' '.repeat(131_072), '131072'],
])('the ca of a provider is not %.40j: %s', (text, reason) => {
  expect(entry.safeParse(text).error?.issues[0]?.message).toContain(reason);
});

it('tells which certificates have expired', () => {
  const inAWeek = new Date(Date.now() + 7 * 86_400_000);
  expect(expiredCertificates(first.certificate, new Date())).toEqual([]);
  expect(expiredCertificates(first.certificate + second.certificate, inAWeek)).toEqual([
    expect.stringMatching(/^CN=first \(\d{4}-\d\d-\d\d\)$/),
    expect.stringContaining('CN=second'),
  ]);
});
