/**
 * The authorities that may vouch for providers: the certificate bundle of the machine that Envoy runs on. Envoy reads a copy of it from a
 * folder of its own, which is its working directory, so that the control plane can name the same file to each Envoy (clusters.ts). The copy
 * follows the bundle, and Envoy the copy.
 *
 * Invariant: a bundle that was found stays in force until there is another one. A bundle that somebody named and that holds no certificate is not replaced by another one, and without any bundle Envoy
 * refuses every https provider that has no authority of its own (closed). The file has no imports of ours, because Envoy's image
 * contains it without them.
 */
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

export interface CertificateBundle {
  /** One sentence for operators: which bundle it is, or why there is none. */
  readonly text: string;
  /** Null: there is none. */
  readonly pem: string | null;
}

/** Where systems keep their bundle; the first that holds a certificate is used. */
const usualFiles = [
  // Debian, Ubuntu, Arch, Gentoo, Alpine, NixOS
  '/etc/ssl/certs/ca-certificates.crt',
  // Red Hat, Fedora, Amazon Linux
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  // SUSE
  '/etc/ssl/ca-bundle.pem',
  // Alpine, macOS, BSD
  '/etc/ssl/cert.pem',
  // macOS with Homebrew
  '/opt/homebrew/etc/ca-certificates/cert.pem',
  '/usr/local/etc/ca-certificates/cert.pem',
  // FreeBSD
  '/usr/local/share/certs/ca-root-nss.crt',
];
/** Variables that name a file; the later ones are read only if no earlier one is set. */
const fileVariables = ['SSL_CERT_FILE', 'NIX_SSL_CERT_FILE'];

const maxFileBytes = 16 * 1024 * 1024;
const maxFilesOfFolder = 5000;

/** Reads the bundle that SSL_CERT_FILE and SSL_CERT_DIR name, or the system's. */
export function findCertificateBundle(
  environment: Environment,
  usual: readonly string[] = usualFiles,
): CertificateBundle {
  const named = namedPlaces(environment);
  if (named.length > 0) return namedBundle(named);
  for (const path of usual) {
    const found = certificatesAt(path);
    if (found.length > 0) return bundleOf(path, found);
  }
  const text = 'No certificate bundle found. Install ca-certificates or set SSL_CERT_FILE.';
  return { text, pem: null };
}

interface NamedPlace {
  readonly variable: string;
  readonly path: string;
}

function namedPlaces(environment: Environment): readonly NamedPlace[] {
  const at = (variable: string, paths: readonly string[]) => paths.map((path) => ({ variable, path }));
  const file = fileVariables.find((name) => environment[name]);
  const folders = environment.SSL_CERT_DIR?.split(':').filter(Boolean) ?? [];
  return [...(file ? at(file, [String(environment[file])]) : []), ...at('SSL_CERT_DIR', folders)];
}

function namedBundle(named: readonly NamedPlace[]): CertificateBundle {
  const found = named.flatMap(({ path }) => certificatesAt(path));
  const names = named.map(({ path, variable }) => `${path}, named by ${variable}`).join(', and ');
  if (found.length === 0) return { text: `No certificate found in ${names}.`, pem: null };
  return bundleOf(names, found);
}

function bundleOf(place: string, found: readonly string[]): CertificateBundle {
  const certificates = [...new Set(found.map((each) => each.replaceAll('\r', '')))];
  return { text: `${place} (${certificates.length} certificates)`, pem: `${certificates.join('\n')}\n` };
}

/** Returns the certificates of a file, or of the files of a folder; none if it cannot be read. */
function certificatesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return certificatesIn(path);
    return readdirSync(path)
      .slice(0, maxFilesOfFolder)
      .flatMap((name) => certificatesIn(join(path, name)));
  } catch {
    return [];
  }
}

/** Envoy refuses a whole bundle for one certificate that it cannot read, so such certificates are left out here. */
function certificatesIn(file: string): string[] {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > maxFileBytes) return [];
    const found = readFileSync(file, 'latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
    return (found ?? []).filter(isCertificate);
  } catch {
    return [];
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** The working directory of an Envoy, beside its admin socket: each Envoy has its own. */
export const envoyFolder = (adminSocket: string): string => `${adminSocket.replace(/\.sock$/, '')}-folder`;

/** The secret that clusters name, and its file of SDS as an Envoy finds it. */
export const systemAuthorities = { name: 'system_authorities', sdsFile: './authorities.sds.json' } as const;

/** A sentence for whoever starts Envoy. */
export const bundleNotice = ({ pem, text }: CertificateBundle): string =>
  pem === null
    ? `HTTPS providers without their own ca are unavailable: ${text}`
    : `Providers' certificates are checked against ${text}.`;

/**
 * Writes the bundle to where Envoy reads it. Without one it takes away the file of SDS, so that Envoy refuses the clusters that name it, and
 * nothing else.
 */
export function installCertificateBundle({ pem }: CertificateBundle, adminSocket: string): void {
  const folder = envoyFolder(adminSocket);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sdsFile = join(folder, systemAuthorities.sdsFile);
  if (pem === null) return rmSync(sdsFile, { force: true });
  const file = join(folder, 'authorities.pem');
  // Envoy reads it again when a file is moved there.
  writeFileSync(`${file}.new`, pem, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  const validation_context = { trusted_ca: { filename: file }, watched_directory: { path: folder } };
  const type = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
  const secret = { '@type': type, name: systemAuthorities.name, validation_context };
  writeFileSync(sdsFile, JSON.stringify({ resources: [secret] }), { mode: 0o600 });
}

interface FollowOptions {
  readonly environment: Environment;
  readonly adminSocket: string;
  /** Gets a sentence when the bundle has changed. */
  readonly tell: (text: string) => void;
  readonly everyMs?: number;
}

/** Installs the bundle now, and again whenever it has changed; returns what ends that. One that is gone later changes nothing. */
export function followCertificateBundle({
  adminSocket,
  environment,
  everyMs = 30_000,
  tell,
}: FollowOptions): () => void {
  let installed = findCertificateBundle(environment);
  installCertificateBundle(installed, adminSocket);
  tell(bundleNotice(installed));
  const look = (): void => {
    const found = findCertificateBundle(environment);
    if (found.pem === null || found.pem === installed.pem) return;
    installed = found;
    installCertificateBundle(found, adminSocket);
    tell(bundleNotice(found));
  };
  const timer = setInterval(() => {
    try {
      look();
    } catch (error) {
      tell(`The certificate bundle cannot be installed again: ${error instanceof Error ? error.message : error}`);
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
