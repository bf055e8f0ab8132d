/**
 * The files of the internal certificates: what this process shows to other parts, and whom it believes.
 *
 * Invariant: they are used only together, a certificate with its own key and at least one authority. Those who write them (Kubernetes,
 * cert-manager) replace one after the other.
 */
import { createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { InternalTls } from '@gw/contract/internal/environment';
import { errorText } from '@gw/contract/internal/error-text';
import { certificatesIn } from './lifetime.ts';

/** Contents, in PEM. */
export interface InternalPems {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Options of `tls.createServer`, `https.createServer` and `https.request`. */
export const tlsOptions = ({ cert, key, ca }: InternalPems) =>
  ({ cert, key, ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' }) as const;

export type InternalTlsOptions = ReturnType<typeof tlsOptions>;

/** Throws an error that names the file to mend. Its message contains nothing of the key. */
export function checkPems({ cert, key, ca }: InternalPems, files: InternalTls): void {
  const [leaf] = certificatesOf(cert, files.certFile);
  certificatesOf(ca, files.caFile);
  const privateKey = attempt(() => createPrivateKey(key), `${files.keyFile} contains no private key in PEM`);
  if (!leaf?.checkPrivateKey(privateKey)) throw new Error(`${files.keyFile} is not the key of ${files.certFile}`);
  attempt(() => createSecureContext({ cert, key, ca }), `${files.certFile} and ${files.caFile} cannot be used`);
}

const certificatesOf = (pem: string, file: string) => {
  const found = attempt(() => certificatesIn(pem), `${file} contains a certificate that cannot be read`);
  if (found.length === 0) throw new Error(`${file} contains no certificate in PEM`);
  return found;
};

function attempt<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(`${problem}: ${errorText(cause)}`);
  }
}
