/** Certificates in use, which follow their files. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Server, TlsOptions } from 'node:tls';
import { errorText } from '@gw/contract/internal/error-text';
import type { Logger } from '../log.ts';
import { attempt, type CertificateFiles, checkPems, type Pems, tlsOptions } from './certificate-files.ts';
import { authorityLifetime, chainLifetime, type Lifetime } from './lifetime.ts';

/** Whoever replaces files one by one takes less. */
const replacedWithinMs = 30_000;

export class ReloadedCertificates {
  readonly #what: string;
  readonly #files: CertificateFiles;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #servers = new Set<Server>();
  #inUse: Pems;
  #options: TlsOptions;
  #problem: string | null = null;
  /** When the files on disk were last the ones in use. */
  #wholeAt: number;

  /** `what`: their name, in the plural. Throws if the files cannot be used: at start somebody is there to mend them. */
  constructor(what: string, files: CertificateFiles, log: Logger, now: () => number) {
    const read = (file: string) => readFileSync(file, 'utf8');
    this.#inUse = attempt(() => {
      const { caFile, certFile, keyFile } = files;
      const pems = { cert: read(certFile), key: read(keyFile), ...(caFile !== undefined && { ca: read(caFile) }) };
      checkPems(pems, files);
      return pems;
    }, `The ${what} cannot be used`);
    this.#what = what;
    this.#files = files;
    this.#log = log;
    this.#now = now;
    this.#options = tlsOptions(this.#inUse);
    this.#wholeAt = now();
  }

  current(): TlsOptions {
    return this.#options;
  }

  /** Says that the files on disk are not in use, once they have had time to be replaced. */
  problems(): readonly string[] {
    const isStuck = this.#problem !== null && this.#now() - this.#wholeAt > replacedWithinMs;
    return isStuck ? [`The ${this.#what} on disk are not in use: ${this.#problem}.`] : [];
  }

  follow(server: Server): void {
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
  }

  lifetimes(): (readonly [file: string, lifetime: Lifetime | null])[] {
    const { cert, ca } = this.#inUse;
    const { caFile, certFile } = this.#files;
    const own = [certFile, chainLifetime(cert)] as const;
    return ca === undefined || caFile === undefined ? [own] : [own, [caFile, authorityLifetime(ca, cert)]];
  }

  /** Takes up what the files contain now, if it can be used. Never rejects. */
  async read(): Promise<void> {
    const { certFile, keyFile, caFile } = this.#files;
    const files = [certFile, keyFile, ...(caFile === undefined ? [] : [caFile])];
    try {
      const [cert = '', key = '', ca] = await Promise.all(files.map((file) => readFile(file, 'utf8')));
      this.#take({ cert, key, ...(ca !== undefined && { ca }) });
      this.#problem = null;
      this.#wholeAt = this.#now();
    } catch (cause) {
      const problem = errorText(cause);
      // Each time that it is another one, not each time that it is looked at.
      if (problem !== this.#problem)
        this.#log.warn(`the ${this.#what} on disk are not in use yet, the former ones stay: ${problem}`);
      this.#problem = problem;
    }
  }

  #take(pems: Pems): void {
    const { cert, key, ca } = this.#inUse;
    if (pems.cert === cert && pems.key === key && pems.ca === ca) return;
    checkPems(pems, this.#files);
    this.#inUse = pems;
    this.#options = tlsOptions(pems);
    // New keys of session tickets come with it, so nobody resumes a session that another authority has let in.
    for (const server of this.#servers) server.setSecureContext(this.#options);
    const until = chainLifetime(pems.cert)?.until;
    this.#log.info({ file: this.#files.certFile, until: until && new Date(until) }, `took up new ${this.#what}`);
  }
}
