/**
 * The files of certificates: what this process shows, and whom it believes where both sides show one.
 *
 * Invariant: they are used only together, a certificate with its own key and, between parts, at least one authority. Those who write them
 * (Kubernetes, cert-manager) replace one after the other.
 */
import { createPrivateKey } from 'node:crypto';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { errorText } from '@gw/contract/internal/error-text';
import { certificatesIn } from './lifetime.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authorities whose certificates the other side may show; without it, it shows none. */
  readonly caFile?: string;
}

/** Contents, in PEM. */
export interface Pems {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

/** Options of `tls.createServer`, `https.createServer` and `https.request`. */
export const tlsOptions = ({ cert, key, ca }: Pems): TlsOptions => ({
  cert,
  key,
  minVersion: 'TLSv1.2',
  ...(ca !== undefined && { ca, requestCert: true, rejectUnauthorized: true }),
});

/** Throws an error that names the file to mend. Its message contains nothing of the key. */
export function checkPems({ cert, key, ca }: Pems, { caFile = '', certFile, keyFile }: CertificateFiles): void {
  const [leaf] = certificatesOf(cert, certFile);
  if (ca !== undefined) certificatesOf(ca, caFile);
  const privateKey = attempt(() => createPrivateKey(key), `${keyFile} contains no private key in PEM`);
  if (!leaf?.checkPrivateKey(privateKey)) throw new Error(`${keyFile} is not the key of ${certFile}`);
  attempt(() => createSecureContext({ cert, key, ca }), `${[certFile, caFile].join(' ').trim()} cannot be used`);
}

const certificatesOf = (pem: string, file: string) => {
  const found = attempt(() => certificatesIn(pem), `${file} contains a certificate that cannot be read`);
  if (found.length === 0) throw new Error(`${file} contains no certificate in PEM`);
  return found;
};

export function attempt<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(`${problem}: ${errorText(cause)}`);
  }
}
