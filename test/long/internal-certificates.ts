/** Files of internal certificates that a private authority replaces, and another one after it. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InternalTls } from '@gw/contract/internal/environment';
import { makeCertificate, type TestCertificate } from '@gw/testing/envoy/certificate';

export interface InternalCertificates {
  filesOf(part: string): InternalTls;
  /** Gives a part a new certificate, and those that it trusts, as a program that renews them does. Returns its serial number. */
  install(part: string, by: TestCertificate, trusted: readonly TestCertificate[]): string;
}

/** `dir` is the folder of all of them. */
export function internalCertificates(dir: string): InternalCertificates {
  const filesOf = (part: string) => ({
    certFile: join(dir, part, 'tls.crt'),
    keyFile: join(dir, part, 'tls.key'),
    caFile: join(dir, part, 'ca.crt'),
  });
  return {
    filesOf,
    install(part, by, trusted) {
      const made = makeCertificate(part, { by });
      const { certFile, keyFile, caFile } = filesOf(part);
      const contents = [
        [keyFile, made.key],
        [certFile, made.certificate],
        [caFile, trusted.map(({ certificate }) => certificate).join('')],
      ] as const;
      mkdirSync(join(dir, part), { recursive: true });
      for (const [file, content] of contents) {
        writeFileSync(`${file}.new`, content);
        renameSync(`${file}.new`, file);
      }
      return made.serial;
    },
  };
}
