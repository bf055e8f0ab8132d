/** How long certificates are valid. */
import { X509Certificate } from 'node:crypto';

export interface Lifetime {
  /** Unix time, ms. */
  readonly from: number;
  readonly until: number;
}

/** Returns the certificates of a PEM file in their order. Throws if one cannot be read. */
export const certificatesIn = (pem: string): X509Certificate[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)].map(
    ([each]) => new X509Certificate(each),
  );

const lifetimeOf = ({ validFrom, validTo }: X509Certificate): Lifetime => ({
  from: Date.parse(validFrom),
  until: Date.parse(validTo),
});

/** Returns the lifetime of a certificate with its chain, which ends with the first of them; null if there is none. */
export function chainLifetime(pem: string): Lifetime | null {
  const [first] = certificatesIn(pem)
    .map(lifetimeOf)
    .sort((a, b) => a.until - b.until);
  return first ?? null;
}

/**
 * Returns the lifetime of the authorities in `ca` for the certificate `cert`: that of the one which has signed it, otherwise the longest.
 * During a roll two of them stand side by side, and the end of the one that nobody needs any more is no reason to alarm.
 */
export function authorityLifetime(ca: string, cert: string): Lifetime | null {
  const authorities = certificatesIn(ca);
  const top = certificatesIn(cert).at(-1);
  const signers = authorities.filter((each) => top?.checkIssued(each));
  const [last] = (signers.length > 0 ? signers : authorities).map(lifetimeOf).sort((a, b) => b.until - a.until);
  return last ?? null;
}

/** Whether a tenth of the lifetime or less is left. */
export const isEnding = ({ from, until }: Lifetime, now: number): boolean => until - now <= (until - from) / 10;
