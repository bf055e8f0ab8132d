/**
 * Certificates that Envoy reads again when their files change: each is a file of SDS, which names the files and the folder to watch.
 *
 * `base` is the path of the configuration without its ending: Envoys on one machine may have different certificates.
 *
 * Invariant: they are taken up when a file is moved into the folder of the certificate, and never one that does not fit its key: Envoy keeps
 * what it has. Connections that are open stay open.
 */
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { InternalTls } from '@gw/contract/internal/environment';
import { typed } from './typed.ts';

type SecretName = 'public' | 'internal' | 'internal_authorities';

const secretFile = (base: string, name: SecretName): string => `${base}.${name}.sds.json`;

const watched = (base: string, name: SecretName): object => ({
  name,
  sds_config: { resource_api_version: 'V3', path_config_source: { path: secretFile(base, name) } },
});

/** The certificate of the public listener, as a part of a TLS context. */
export const publicCertificate = (base: string): object => ({
  tls_certificate_sds_secret_configs: [watched(base, 'public')],
});

/** The certificate that Envoy shows to the parts and the authorities that it believes, as a TLS context. */
export const internalContext = (base: string): object => ({
  tls_params: { tls_minimum_protocol_version: 'TLSv1_2' },
  tls_certificate_sds_secret_configs: [watched(base, 'internal')],
  validation_context_sds_secret_config: watched(base, 'internal_authorities'),
});

const inFolderOf = (file: string): object => ({ watched_directory: { path: dirname(file) } });

const certificate = (certFile: string, keyFile: string): object => ({
  tls_certificate: {
    certificate_chain: { filename: certFile },
    private_key: { filename: keyFile },
    ...inFolderOf(certFile),
  },
});

const authorities = ({ caFile }: InternalTls): object => ({
  validation_context: { trusted_ca: { filename: caFile }, ...inFolderOf(caFile) },
});

interface CertificateFiles {
  /** The public listener; null: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** The connections to the parts; null: plain. */
  readonly internalTls: InternalTls | null;
}

/** Writes the files of SDS, which contain no secret. */
export function writeSecretFiles({ internalTls, tls }: CertificateFiles, base: string): void {
  const write = (name: SecretName, content: object) => {
    const secret = typed('envoy.extensions.transport_sockets.tls.v3.Secret', { name, ...content });
    writeFileSync(secretFile(base, name), JSON.stringify({ resources: [secret] }), { mode: 0o600 });
  };
  if (tls) write('public', certificate(tls.certFile, tls.keyFile));
  if (internalTls === null) return;
  write('internal', certificate(internalTls.certFile, internalTls.keyFile));
  write('internal_authorities', authorities(internalTls));
}
