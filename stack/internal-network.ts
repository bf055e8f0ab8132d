/** How the parts reach each other: over Unix sockets, or on ports of loopback with internal certificates, as between machines. */
import { join } from 'node:path';
import type { InternalTls } from '@gw/contract/internal/environment';

export interface InternalNetwork {
  /** Folder of the Unix sockets. */
  readonly sockets: string;
  /** Ports by the names of the sockets that they replace; empty: there are only sockets. */
  readonly internalPorts: Readonly<Record<string, number>>;
  /** The certificate files of a part; null: there are only sockets. */
  readonly internalTls: ((part: string) => InternalTls) | null;
}

/** Where a part listens for others. */
export function internalAddress({ internalPorts, sockets }: InternalNetwork, name: string): string {
  const port = internalPorts[name];
  return port === undefined ? `unix:${join(sockets, `${name}.sock`)}` : `127.0.0.1:${port}`;
}

export function certificateVariables(part: string, { internalTls }: InternalNetwork): Readonly<Record<string, string>> {
  if (internalTls === null) return {};
  const { caFile, certFile, keyFile } = internalTls(part);
  return {
    GW_INTERNAL_TLS_CERT_FILE: certFile,
    GW_INTERNAL_TLS_KEY_FILE: keyFile,
    GW_INTERNAL_TLS_CA_FILE: caFile,
  };
}
