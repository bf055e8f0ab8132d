/** Mutual TLS between Envoy and the services across machines, with certificates of the private authority. */
import { readFileSync } from 'node:fs';
import type { InternalTls } from '@gw/contract/internal/environment';

/** Returns the options for `tls.createServer` and `https.createServer`. Throws if a file cannot be read. */
export function internalTlsOptions({ certFile, keyFile, caFile }: InternalTls) {
  return {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ca: readFileSync(caFile),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  } as const;
}

export type InternalTlsOptions = ReturnType<typeof internalTlsOptions>;
