/** The certificate of the public listener, as `./gw up` is told it by the variables that the containers know too. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from './machine/problem.ts';

export interface PublicTls {
  readonly certFile: string;
  readonly keyFile: string;
  /** A name or an address in the certificate, for a client that trusts it as its authority; null if there is none. */
  readonly name: string | null;
}

/** Null: neither variable is set, and the listener speaks plain HTTP. Throws a Problem rather than do so unasked. */
export function publicTls(environment: Readonly<Record<string, string | undefined>>): PublicTls | null {
  const { GW_TLS_CERT_FILE: certificate, GW_TLS_KEY_FILE: key } = environment;
  if (!certificate && !key) return null;
  if (!certificate || !key) {
    const [missing, there] = certificate ? ['KEY', 'CERT'] : ['CERT', 'KEY'];
    throw new Problem(
      `GW_TLS_${there}_FILE is set and GW_TLS_${missing}_FILE is not. TLS needs both files, for example GW_TLS_${missing}_FILE=/etc/gw/tls/tls.${missing === 'KEY' ? 'key' : 'crt'}.`,
    );
  }
  const cert = read('GW_TLS_CERT_FILE', certificate);
  const context = { cert, key: read('GW_TLS_KEY_FILE', key) };
  try {
    createSecureContext(context);
  } catch (cause) {
    throw new Problem(
      `GW_TLS_CERT_FILE and GW_TLS_KEY_FILE have to be a certificate and its key, in PEM: ${errorText(cause)}`,
    );
  }
  return { certFile: resolve(certificate), keyFile: resolve(key), name: nameIn(cert) };
}

function read(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Problem(`${variable} names a file that cannot be read: ${errorText(cause)}`);
  }
}

/** The listener is on loopback: what the certificate says of that comes first. */
function nameIn(pem: string): string | null {
  const certificate = new X509Certificate(pem);
  if (certificate.checkIP('127.0.0.1')) return '127.0.0.1';
  if (certificate.checkHost('localhost')) return 'localhost';
  return /DNS:([^,*\s]+)/.exec(certificate.subjectAltName ?? '')?.[1] ?? null;
}
