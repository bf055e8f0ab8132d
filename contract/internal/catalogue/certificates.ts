/** Certificates as an operator gives them: PEM text. */
import { X509Certificate } from 'node:crypto';

export const maxCertificates = 50;
export const maxPemLength = 131_072;

/** Without a second dash inside, so that a certificate ends at its own end. */
const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const anyBlock = /-----BEGIN ([A-Z0-9 ]+)-----/g;

/** Returns the certificates, without what stands between them. */
export const certificatesIn = (pem: string): readonly string[] => pem.match(certificate) ?? [];

/** Returns why the text is not a list of certificates, or null. */
export function certificatesFault(pem: string): string | null {
  if (pem.length > maxPemLength) return `must have at most ${maxPemLength} characters`;
  const kinds = [...pem.matchAll(anyBlock)].map(([, kind]) => kind);
  if (kinds.some((kind) => kind?.includes('KEY'))) return 'contains a private key; provide only CA certificates';
  const found = certificatesIn(pem);
  if (found.length === 0) return 'must be PEM: -----BEGIN CERTIFICATE-----, base64, -----END CERTIFICATE-----';
  if (found.length !== kinds.length) return 'must contain only complete certificates';
  if (found.length > maxCertificates) return `must contain at most ${maxCertificates} certificates`;
  const broken = found.findIndex((each) => parsed(each) === null);
  return broken === -1 ? null : `certificate ${broken + 1} cannot be read`;
}

function parsed(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** Returns the names of the certificates that are not valid at this time, with the end of each. */
export function expiredCertificates(pem: string, now: Date): readonly string[] {
  return certificatesIn(pem).flatMap((each) => {
    const known = parsed(each);
    if (known === null || Date.parse(known.validTo) > now.getTime()) return [];
    return `${known.subject.replace(/\s+/g, ' ')} (${new Date(known.validTo).toISOString().slice(0, 10)})`;
  });
}
