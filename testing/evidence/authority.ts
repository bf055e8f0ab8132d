/** An authority, certificates for keys of evidence, and a time-stamp service: all by OpenSSL, so that nothing of ours is held against itself. */
import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this machine has OpenSSL; where it has not, what needs it is skipped. */
export const hasOpenssl = works();
export const openssl = hasOpenssl ? '' : ' (skipped: no OpenSSL; Debian and Ubuntu: apt-get install openssl)';

function works(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const pkcs8Head = '302e020100300506032b657004220420';

export interface Issued {
  /** PEM. */
  readonly certificate: string;
  /** DER in base64. */
  readonly der: string;
  readonly name: string;
}

interface IssueOptions {
  /** Lines of an extensions section of OpenSSL. */
  readonly extensions?: string;
  /** Seed of an Ed25519 key, 64 hexadecimal digits; otherwise it gets a key of its own: RSA, or P-256. */
  readonly seed?: string;
  readonly isRsa?: boolean;
  readonly by?: string;
  /** OpenSSL's form, `20250101000000Z`. */
  readonly from?: string;
  readonly until?: string;
}

export const derOf = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, '');

/** Files of one authority, whose root is `root`. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'gw-authority-'));
  #serial = 1;

  constructor() {
    writeFileSync(this.#at('index.txt'), '');
    writeFileSync(this.#at('ca.conf'), caConfiguration(this.folder));
    this.issue('root', '/O=Test Trust/CN=Root', { extensions: authorityExtensions, by: 'root' });
  }

  #at(name: string): string {
    return join(this.folder, name);
  }

  run(...args: readonly string[]): Buffer {
    return execFileSync('openssl', args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  pem(name: string): string {
    return readFileSync(this.#at(`${name}.pem`), 'utf8');
  }

  /** `subject`: `/O=…/CN=…`. By default the root issues it, valid for a century around now. */
  issue(name: string, subject: string, options: IssueOptions = {}): Issued {
    const { by = 'root', extensions = '', from = '20000101000000Z', until = '20991231000000Z' } = options;
    const { isRsa = false, seed } = options;
    const key = this.#at(`${name}.key`);
    if (seed !== undefined) writeFileSync(key, pemOfSeed(seed));
    else if (isRsa) this.run('genrsa', '-out', key, '2048');
    else this.run('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key);
    this.run('req', '-new', '-key', key, '-subj', subject, '-out', this.#at(`${name}.csr`));
    writeFileSync(this.#at('extensions'), extensions);
    writeFileSync(this.#at('serial'), (0x1000 + this.#serial++).toString(16));
    const signer = by === name ? ['-selfsign'] : ['-cert', this.#at(`${by}.pem`)];
    this.run(
      ...['ca', '-batch', '-config', this.#at('ca.conf'), '-in', this.#at(`${name}.csr`), ...signer],
      ...['-keyfile', this.#at(`${by}.key`), '-startdate', from, '-enddate', until, '-notext'],
      ...['-extfile', this.#at('extensions'), '-out', this.#at(`${name}.pem`)],
    );
    const certificate = this.pem(name);
    return { certificate, der: derOf(certificate), name };
  }

  /** Answers a request for a time-stamp, by the certificate `signer`. */
  stamp(request: Uint8Array, signer: string): Buffer {
    writeFileSync(this.#at('request'), request);
    writeFileSync(this.#at('tsa.conf'), stampConfiguration(this.folder, signer));
    writeFileSync(this.#at('tsa-serial'), '01');
    this.run(
      'ts',
      '-reply',
      '-config',
      this.#at('tsa.conf'),
      '-queryfile',
      this.#at('request'),
      '-out',
      this.#at('reply'),
    );
    return readFileSync(this.#at('reply'));
  }

  /** Signs what a reply states anew as CMS. `isNamed`: the attributes that are signed name the certificate. */
  signAnew(reply: Uint8Array, signer: string, isNamed: boolean): string {
    writeFileSync(this.#at('reply'), reply);
    this.run('ts', '-reply', '-in', this.#at('reply'), '-token_out', '-out', this.#at('token'));
    const form = ['-inform', 'DER', '-outform', 'DER', '-binary'];
    this.run('cms', '-verify', '-noverify', ...form, '-in', this.#at('token'), '-out', this.#at('info'));
    this.run(
      ...['cms', '-sign', ...form, '-in', this.#at('info'), '-nodetach', '-md', 'sha256', '-out', this.#at('signed')],
      ...['-econtent_type', '1.2.840.113549.1.9.16.1.4', '-signer', this.#at(`${signer}.pem`)],
      ...['-inkey', this.#at(`${signer}.key`), ...(isNamed ? ['-cades'] : [])],
    );
    return readFileSync(this.#at('signed')).toString('base64');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

const pemOfSeed = (seed: string): string =>
  createPrivateKey({ key: Buffer.from(pkcs8Head + seed, 'hex'), format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString();

export const authorityExtensions = 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n';
export const signerExtensions = 'keyUsage=critical,digitalSignature\n';
export const stampExtensions = 'extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n';

const caConfiguration = (folder: string): string => `[ca]
default_ca=own
[own]
new_certs_dir=${folder}
database=${folder}/index.txt
serial=${folder}/serial
default_md=sha256
policy=any
unique_subject=no
[any]
O=optional
CN=optional
`;

const stampConfiguration = (folder: string, signer: string): string => `[tsa]
default_tsa=own
[own]
serial=${folder}/tsa-serial
signer_cert=${folder}/${signer}.pem
signer_key=${folder}/${signer}.key
certs=${folder}/root.pem
signer_digest=sha256
default_policy=1.2.3.4
digests=sha256
ess_cert_id_alg=sha256
`;

/** `answer`: the body of the reply for the body of a request, or a status; null: silence. */
export async function stampServer(
  answer: (request: Buffer) => Uint8Array | number | null,
): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const reply = answer(Buffer.concat(parts));
    if (reply === null) return;
    if (typeof reply === 'number') return response.writeHead(reply).end();
    response.setHeader('content-type', 'application/timestamp-reply').end(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It does not listen.');
  return {
    url: `http://127.0.0.1:${address.port}/tsr`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
