/** A control plane does not start with certificates that readers of its packs would refuse. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '@gw/contract/internal/environment';
import { Authority, authorityExtensions, hasOpenssl, openssl, signerExtensions } from '@gw/testing/evidence/authority';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEvidenceKey } from './config.ts';

const seed = 'e1'.repeat(32);

describe.skipIf(!hasOpenssl)(`the certificates of the key${openssl}`, () => {
  let authority: Authority;
  beforeAll(() => {
    authority = new Authority();
    authority.issue('middle', '/CN=Middle', { extensions: authorityExtensions });
    authority.issue('leaf', '/O=Example Cloud/CN=gw', { seed, by: 'middle', extensions: signerExtensions });
  });
  afterAll(() => authority.remove());

  function read(...pems: readonly string[]) {
    const file = join(authority.folder, 'chain.pem');
    writeFileSync(file, pems.join(''));
    const settings = readSettings({ GW_EVIDENCE_KEY: seed, GW_EVIDENCE_CERTIFICATES: file });
    const { certificates } = readEvidenceKey(settings);
    settings.finish();
    return certificates;
  }
  const pem = (name: string) => authority.pem(name);

  test('a chain is read in its order, and none is needed', () => {
    expect(read(pem('leaf'), pem('middle'), pem('root'))).toHaveLength(3);
    expect(readEvidenceKey(readSettings({ GW_EVIDENCE_KEY: seed }))).not.toHaveProperty('certificates');
  });

  test('what a reader would refuse stops the start, with the file and the reason', () => {
    expect(() => read('')).toThrow('chain.pem contains no certificate.');
    expect(() => read(pem('middle'), pem('root'))).toThrow('does not begin with a certificate of GW_EVIDENCE_KEY');
    expect(() => read(pem('leaf'), pem('root'), pem('middle'))).toThrow(
      'is not in order: its certificate 1 was not issued by the next one',
    );
    authority.issue('old', '/CN=Old', { seed, by: 'middle', until: '20200101000000Z' });
    expect(() => read(pem('old'), pem('middle'))).toThrow('has a certificate, number 1, that is not valid now');
    const leaf = (subject: string, extensions: string) => {
      authority.issue('wrong', subject, { seed, by: 'middle', extensions });
      return [pem('wrong'), pem('middle')];
    };
    expect(() => read(...leaf('/O=Example Cloud', authorityExtensions))).toThrow('the certificate of an authority');
    const usage = 'extendedKeyUsage=serverAuth\n';
    expect(() => read(...leaf('/O=Example Cloud', usage))).toThrow('is not for signing documents');
    expect(() => read(...leaf('/CN=gw', signerExtensions))).toThrow('names no organisation');
    expect(read(...leaf('/O=Example Cloud', 'extendedKeyUsage=1.3.6.1.5.5.7.3.36,serverAuth\n'))).toHaveLength(2);
    expect(() => read(pem('leaf'), ...Array.from({ length: 8 }, () => pem('root')))).toThrow('more than 8');
    const away = readSettings({ GW_EVIDENCE_KEY: seed, GW_EVIDENCE_CERTIFICATES: '/no/such/file' });
    readEvidenceKey(away);
    expect(() => away.finish()).toThrow('GW_EVIDENCE_CERTIFICATES: /no/such/file cannot be read');
  });
});
