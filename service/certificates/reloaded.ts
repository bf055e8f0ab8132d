/** The internal certificates in use, which follow their files. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:tls';
import type { InternalTls } from '@gw/contract/internal/environment';
import { errorText } from '@gw/contract/internal/error-text';
import type { Logger } from '../log.ts';
import { checkPems, type InternalPems, type InternalTlsOptions, tlsOptions } from './internal-files.ts';
import { authorityLifetime, chainLifetime, type Lifetime } from './lifetime.ts';

export class ReloadedCertificates {
  readonly #files: InternalTls;
  readonly #log: Logger;
  readonly #servers = new Set<Server>();
  #inUse: InternalPems;
  #options: InternalTlsOptions;
  #problem: string | null = null;

  /** Throws if the files cannot be used: without them no part could talk to this one. */
  constructor(files: InternalTls, log: Logger) {
    const read = (file: string) => readFileSync(file, 'utf8');
    const pems = { cert: read(files.certFile), key: read(files.keyFile), ca: read(files.caFile) };
    checkPems(pems, files);
    this.#files = files;
    this.#log = log;
    this.#inUse = pems;
    this.#options = tlsOptions(pems);
  }

  get options(): InternalTlsOptions {
    return this.#options;
  }

  /** Why the files on disk are not in use; null: they are. */
  get problem(): string | null {
    return this.#problem;
  }

  follow(server: Server): void {
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
  }

  lifetimes(): (readonly [file: string, lifetime: Lifetime | null])[] {
    const { cert, ca } = this.#inUse;
    return [
      [this.#files.certFile, chainLifetime(cert)],
      [this.#files.caFile, authorityLifetime(ca, cert)],
    ];
  }

  /** Takes up what the files contain now, if it can be used. Never rejects. */
  async read(): Promise<void> {
    const { certFile, keyFile, caFile } = this.#files;
    try {
      const [cert, key, ca] = await Promise.all([certFile, keyFile, caFile].map((file) => readFile(file, 'utf8')));
      this.#take({ cert, key, ca } as InternalPems);
      this.#problem = null;
    } catch (cause) {
      const problem = errorText(cause);
      // Each time that it is another one, not each time that it is looked at.
      if (problem !== this.#problem)
        this.#log.warn(`the internal certificates on disk are not in use yet, the former ones stay: ${problem}`);
      this.#problem = problem;
    }
  }

  #take(pems: InternalPems): void {
    const { cert, key, ca } = this.#inUse;
    if (pems.cert === cert && pems.key === key && pems.ca === ca) return;
    checkPems(pems, this.#files);
    this.#inUse = pems;
    this.#options = tlsOptions(pems);
    // New keys of session tickets come with it, so nobody resumes a session that another authority has let in.
    for (const server of this.#servers) server.setSecureContext(this.#options);
    const until = chainLifetime(pems.cert)?.until;
    this.#log.info(
      { file: this.#files.certFile, until: until && new Date(until) },
      'took up new internal certificates',
    );
  }
}
