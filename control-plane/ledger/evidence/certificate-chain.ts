/**
 * The certificates that name the organisation of the key of evidence.
 *
 * Invariant: a chain that a reader of packs would refuse is refused here, at the start: nobody could mend packs that were signed with it.
 */
import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { elementAt } from '@gw/contract/internal/defined';
import type { SettingReader } from '@gw/contract/internal/environment';
import { errorText } from '@gw/contract/internal/error-text';
import type { PublicJwk } from '@gw/contract/internal/public-jwk';
import { certificatesIn } from '@gw/service/certificates/lifetime';

const name = 'GW_EVIDENCE_CERTIFICATES';

/** As many as `./gw verify` reads. */
const most = 8;

/** Reads `GW_EVIDENCE_CERTIFICATES`: DER in base64, that of the key first; none without it. Problems are reported to `settings`. */
export function readCertificates(settings: SettingReader, { x }: PublicJwk): readonly string[] {
  const file = settings.optional(name, '');
  if (file === '') return [];
  try {
    const chain = certificatesIn(readFileSync(file, 'utf8'));
    const fault = chainFault(chain, x, new Date());
    if (fault !== null) settings.problem(`${name}: ${file} ${fault}. It takes PEM, the certificate of the key first.`);
    return chain.map(({ raw }) => raw.toString('base64'));
  } catch (error) {
    settings.problem(`${name}: ${file} cannot be read: ${errorText(error)}.`);
    return [];
  }
}

/** Returns part of a sentence, after the name of the file; null: nothing is wrong. */
function chainFault(chain: readonly X509Certificate[], x: string, now: Date): string | null {
  const [leaf] = chain;
  if (leaf === undefined) return 'contains no certificate';
  if (chain.length > most) return `has more than ${most} certificates`;
  if (leaf.publicKey.export({ format: 'jwk' }).x !== x || leaf.publicKey.asymmetricKeyType !== 'ed25519')
    return 'does not begin with a certificate of GW_EVIDENCE_KEY';
  const loose = chain.slice(1).findIndex((issuer, at) => {
    const below = elementAt(chain, at);
    return !below.checkIssued(issuer) || !below.verify(issuer.publicKey);
  });
  if (loose >= 0) return `is not in order: its certificate ${loose + 1} was not issued by the next one`;
  const old = chain.findIndex((each) => now < new Date(each.validFrom) || now > new Date(each.validTo));
  return old < 0 ? leafFault(leaf) : `has a certificate, number ${old + 1}, that is not valid now`;
}

/** RFC 9336 (documentSigning), and any purpose. */
const signingPurposes: readonly string[] = ['1.3.6.1.5.5.7.3.36', '2.5.29.37.0'];

function leafFault({ ca, keyUsage: purposes, subject }: X509Certificate): string | null {
  if (ca) return 'begins with the certificate of an authority';
  if (purposes !== undefined && !purposes.some((each) => signingPurposes.includes(each)))
    return 'begins with a certificate whose extended key usage is not for signing documents (1.3.6.1.5.5.7.3.36)';
  return /^O=/m.test(subject) ? null : 'begins with a certificate that names no organisation (O)';
}
